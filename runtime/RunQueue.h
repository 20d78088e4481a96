#ifndef FREESTONE_RUNTIME_RUNQUEUE_H
#define FREESTONE_RUNTIME_RUNQUEUE_H

#include "runtime/Patience.h"
#include "runtime/Status.h"
#include "runtime/WaitPoint.h"
#include <functional>
#include <memory>
#include <thread>

namespace freestone::runtime {

/// A thread that does numbered jobs in their order, while another one, always the same, prepares those that follow. What
/// a job is lies with the two: a job belongs to the one who submits until it is submitted, and again once it has
/// finished.
class RunQueue {
public:
  /// Starts the thread, which calls `execute` with the numbers 1, 2, … Errors: Internal.
  static Result<std::unique_ptr<RunQueue>> start(Patience::Spin spin, std::function<void(int64_t job)> execute);
  /// Returns when all that was submitted has finished.
  ~RunQueue();

  /// The number of the job that the next `submit` hands over.
  int64_t next() const { return announced.load(std::memory_order_relaxed) + 1; }
  void submit();
  bool hasFinished(int64_t job) const { return finished.load(std::memory_order_acquire) >= job; }
  /// Returns at once if it has finished.
  void await(int64_t job);
  void awaitAll() { await(next() - 1); }

  struct Counters {
    uint64_t waits = 0;       ///< calls of `await` that came before the job had finished
    uint64_t waitedNs = 0;    ///< in these
    uint64_t starved = 0;     ///< jobs after which there was no other one yet
    uint64_t busyNs = 0;      ///< in jobs
  };
  /// For the thread that submits.
  Counters counters() const;

private:
  RunQueue(Patience::Spin spin, std::function<void(int64_t job)> execute)
      : execute(std::move(execute)), hostPatience(spin), runnerPatience(spin) {}
  void work();

  std::function<void(int64_t job)> execute;
  std::thread thread;
  uint64_t waits = 0, waitedNs = 0;

  alignas(128) std::atomic<int64_t> announced = 0;
  WaitPoint jobs;
  Patience hostPatience;
  std::atomic<bool> stopping = false;

  alignas(128) std::atomic<int64_t> finished = 0;
  std::atomic<uint64_t> starved = 0, busyNs = 0;
  WaitPoint results;
  Patience runnerPatience;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_RUNQUEUE_H
