#ifndef FREESTONE_RUNTIME_QUEUE_RUNORDER_H
#define FREESTONE_RUNTIME_QUEUE_RUNORDER_H

#include "runtime/Status.h"
#include "runtime/workers/WaitPoint.h"
#include <mutex>
#include <optional>

namespace freestone::runtime {

/// The order of runs that share a state, across instances: first come, first served. Runs that join after a failed run,
/// before its failure is reported, are dropped. Thread-safe.
class RunOrder {
public:
  /// A ticket behind all earlier ones.
  int64_t join() { return given.fetch_add(1, std::memory_order_relaxed) + 1; }
  /// A ticket, but only if no other is outstanding.
  std::optional<int64_t> joinIfFirst() {
    int64_t done = served.load(std::memory_order_acquire);
    if (given.compare_exchange_strong(done, done + 1, std::memory_order_acquire))
      return done + 1;
    return std::nullopt;
  }

  void await(int64_t place, SpinPolicy &policy) {
    waiters.await(policy, [&] { return served.load(std::memory_order_seq_cst) >= place - 1; });
  }
  /// Ends the turn of this ticket.
  void leave(int64_t place) {
    served.store(place, std::memory_order_seq_cst);
    waiters.wake();
  }

  /// During the turn: whether an earlier run failed.
  bool isDropped(int64_t place) const {
    return hasFailed.load(std::memory_order_acquire) || place <= droppedUntil.load(std::memory_order_acquire);
  }
  /// During the turn: records a failure, to be reported once.
  void fail(Status status) {
    std::lock_guard lock(mutex);
    failure = std::move(status);
    hasFailed.store(true, std::memory_order_release);
  }
  /// Returns the recorded failure once; runs that join from now on are executed.
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
  std::mutex mutex; ///< protects `failure`
  Status failure;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_QUEUE_RUNORDER_H
