#include "runtime/queue/RunQueue.h"

#include "runtime/platform/Cpus.h"
#include "runtime/timeline/Clock.h"
#include "runtime/workers/SignalsBlocked.h"
#include <system_error>

using namespace freestone::runtime;

/// Minimum time between moves: a move takes some 20 µs, which is negligible at this rate.
static constexpr int64_t moveIntervalNs = 2'000'000;

Result<std::unique_ptr<RunQueue>> RunQueue::start(SpinPolicy::Spin spin, bool mayMove,
                                                  std::function<void(int64_t job)> execute) {
  std::unique_ptr<RunQueue> queue(new RunQueue(spin, mayMove, std::move(execute)));
  SignalsBlocked blocked;
  try {
    queue->thread = std::thread([queue = queue.get()] { queue->work(); });
  } catch (const std::system_error &error) {
    return Status(Code::Internal, std::string("can't start the thread that runs: ") + error.what());
  }
  return queue;
}

RunQueue::~RunQueue() {
  if (!thread.joinable())
    return;
  stopping.store(true, std::memory_order_seq_cst);
  jobs.wake();
  thread.join();
}

void RunQueue::submit() {
  if (mayMove)
    hostCpu.store(platform::currentCpu(), std::memory_order_relaxed);
  announced.store(next(), std::memory_order_seq_cst);
  jobs.wake();
}

void RunQueue::await(int64_t job) {
  if (hasFinished(job))
    return;
  int64_t begin = now();
  results.await(hostSpinPolicy, [&] { return finished.load(std::memory_order_seq_cst) >= job; });
  ++waits;
  waitedNs += now() - begin;
}

void RunQueue::work() {
  for (int64_t job = 1;; ++job) {
    jobs.await(runnerSpinPolicy, [&] {
      return announced.load(std::memory_order_seq_cst) >= job || stopping.load(std::memory_order_seq_cst);
    });
    if (announced.load(std::memory_order_acquire) < job)
      return;
    int64_t begin = now();
    settle(begin);
    execute(job);
    busyNs.fetch_add(now() - begin, std::memory_order_relaxed);
    if (announced.load(std::memory_order_relaxed) == job)
      starved.fetch_add(1, std::memory_order_relaxed);
    finished.store(job, std::memory_order_seq_cst);
    results.wake();
  }
}

/// The scheduler may wake either thread on the CPU of the other, so that they alternate instead of overlapping. This
/// thread moves away; the submitting thread belongs to the application and is never moved.
void RunQueue::settle(int64_t time) {
  if (!mayMove || time < lastMove + moveIntervalNs)
    return;
  int cpu = platform::currentCpu();
  if (cpu != hostCpu.load(std::memory_order_relaxed))
    return;
  platform::leaveCpu(cpu);
  lastMove = time;
  moves.fetch_add(1, std::memory_order_relaxed);
}

RunQueue::Counters RunQueue::counters() const {
  return {waits, waitedNs, starved.load(std::memory_order_relaxed), busyNs.load(std::memory_order_relaxed),
          moves.load(std::memory_order_relaxed)};
}
