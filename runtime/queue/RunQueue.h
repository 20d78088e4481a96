#ifndef FREESTONE_RUNTIME_RUNQUEUE_H
#define FREESTONE_RUNTIME_RUNQUEUE_H

#include "runtime/Status.h"
#include "runtime/workers/SpinPolicy.h"
#include "runtime/workers/WaitPoint.h"
#include <functional>
#include <memory>
#include <thread>

namespace freestone::runtime {

/// A thread that does numbered jobs in their order, while another one, always the same, prepares those that follow.
/// What a job is lies with the two: a job belongs to the one who submits until it is submitted, and again once it has
/// finished.
class RunQueue {
public:
  /// Starts the thread, which calls `execute` with the numbers 1, 2, … and, if it `mayMove`, leaves the CPU of the one
  /// who submits. Errors: Internal.
  static Result<std::unique_ptr<RunQueue>> start(SpinPolicy::Spin spin, bool mayMove,
                                                 std::function<void(int64_t job)> execute);
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
    uint64_t waits = 0;    ///< calls of `await` that came before the job had finished
    uint64_t waitedNs = 0; ///< in these
    uint64_t starved = 0;  ///< jobs after which there was no other one yet
    uint64_t busyNs = 0;   ///< in jobs
    uint64_t moves = 0;    ///< how often the thread left the CPU of the one who submits
  };
  /// For the thread that submits.
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
  int64_t lastMove = 0; ///< the thread's

  alignas(128) std::atomic<int64_t> announced = 0;
  std::atomic<int> hostCpu = -1; ///< where the last job was submitted
  WaitPoint jobs;
  SpinPolicy hostSpinPolicy;
  std::atomic<bool> stopping = false;

  alignas(128) std::atomic<int64_t> finished = 0;
  std::atomic<uint64_t> starved = 0, busyNs = 0, moves = 0;
  WaitPoint results;
  SpinPolicy runnerSpinPolicy;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_RUNQUEUE_H
