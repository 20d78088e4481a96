#ifndef FREESTONE_RUNTIME_RUNORDER_H
#define FREESTONE_RUNTIME_RUNORDER_H

#include "runtime/Status.h"
#include "runtime/workers/WaitPoint.h"
#include <mutex>
#include <optional>

namespace freestone::runtime {

/// The order of runs on something that one run at a time may use: they are done as they came, from whichever instance.
/// What has come behind a run that failed is not done. Thread-safe.
class RunOrder {
public:
  /// A place behind everything that has come so far.
  int64_t join() { return given.fetch_add(1, std::memory_order_relaxed) + 1; }
  /// The same, but only if nobody is there.
  std::optional<int64_t> joinIfFirst() {
    int64_t done = served.load(std::memory_order_acquire);
    if (given.compare_exchange_strong(done, done + 1, std::memory_order_acquire))
      return done + 1;
    return std::nullopt;
  }

  void await(int64_t place, SpinPolicy &policy) {
    waiters.await(policy, [&] { return served.load(std::memory_order_seq_cst) >= place - 1; });
  }
  /// Whose turn it was, it is over.
  void leave(int64_t place) {
    served.store(place, std::memory_order_seq_cst);
    waiters.wake();
  }

  /// For the one whose turn it is: whether something before it failed.
  bool isDropped(int64_t place) const {
    return hasFailed.load(std::memory_order_acquire) || place <= droppedUntil.load(std::memory_order_acquire);
  }
  /// For the one whose turn it is: it has failed, and nobody was told.
  void fail(Status status) {
    std::lock_guard lock(mutex);
    failure = std::move(status);
    hasFailed.store(true, std::memory_order_release);
  }
  /// What has failed, once; whatever comes from now on is done.
  Status takeFailure() {
    if (!hasFailed.load(std::memory_order_acquire))
      return {};
    std::lock_guard lock(mutex);
    droppedUntil.store(given.load(std::memory_order_relaxed), std::memory_order_release);
    hasFailed.store(false, std::memory_order_release);
    return std::exchange(failure, {});
  }

private:
  std::atomic<int64_t> given = 0, served = 0, droppedUntil = 0;
  WaitPoint waiters;
  std::atomic<bool> hasFailed = false;
  std::mutex mutex; ///< of `failure`
  Status failure;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_RUNORDER_H
