#ifndef FREESTONE_RUNTIME_QUEUE_RUNQUEUE_H
#define FREESTONE_RUNTIME_QUEUE_RUNQUEUE_H

#include "runtime/Status.h"
#include "runtime/workers/SpinPolicy.h"
#include "runtime/workers/WaitPoint.h"
#include <functional>
#include <memory>
#include <thread>

namespace freestone::runtime {

/// A thread that executes numbered jobs in order, while one other thread prepares the next ones. Job data are outside
/// of this class: the submitting thread owns a job until it is submitted, and again once it has finished.
class RunQueue {
public:
  /// Starts the thread, which calls `execute` with the numbers 1, 2, … and, if it `mayMove`, leaves the CPU of the
  /// submitting thread. Errors: Internal.
  static Result<std::unique_ptr<RunQueue>> start(SpinPolicy::Spin spin, bool mayMove,
                                                 std::function<void(int64_t job)> execute);
  /// Waits until everything submitted has finished.
  ~RunQueue();

  /// The number of the job that the next `submit` queues.
  int64_t next() const { return announced.load(std::memory_order_relaxed) + 1; }
  void submit();
  bool hasFinished(int64_t job) const { return finished.load(std::memory_order_acquire) >= job; }
  /// Waits until the job has finished.
  void await(int64_t job);
  void awaitAll() { await(next() - 1); }

  struct Counters {
    uint64_t waits = 0;    ///< calls of `await` before the job had finished
    uint64_t waitedNs = 0; ///< total time of these
    uint64_t starved = 0;  ///< jobs at whose end no other job was queued
    uint64_t busyNs = 0;   ///< total time of jobs
    uint64_t moves = 0;    ///< times that the thread left the CPU of the submitting thread
  };
  /// Called by the submitting thread.
  Counters counters() const;

private:
  RunQueue(SpinPolicy::Spin spin, bool mayMove, std::function<void(int64_t job)> execute)
      : execute(std::move(execute)), mayMove(mayMove), hostSpinPolicy(spin), runnerSpinPolicy(spin) {}
  void work();
  void settle(int64_t time);

  std::function<void(int64_t job)> execute;
  const bool mayMove;
  std::thread thread;
  uint64_t waits = 0, waitedNs = 0;
  int64_t lastMove = 0; ///< used by the queue's thread

  alignas(128) std::atomic<int64_t> announced = 0;
  std::atomic<int> hostCpu = -1; ///< CPU of the last submission
  WaitPoint jobs;
  SpinPolicy hostSpinPolicy;
  std::atomic<bool> stopping = false;

  alignas(128) std::atomic<int64_t> finished = 0;
  std::atomic<uint64_t> starved = 0, busyNs = 0, moves = 0;
  WaitPoint results;
  SpinPolicy runnerSpinPolicy;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_QUEUE_RUNQUEUE_H
