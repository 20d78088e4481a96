#include "runtime/RunQueue.h"

#include "runtime/Clock.h"
#include "runtime/SignalsBlocked.h"
#include <system_error>

using namespace freestone::runtime;

Result<std::unique_ptr<RunQueue>> RunQueue::start(Patience::Spin spin, std::function<void(int64_t job)> execute) {
  std::unique_ptr<RunQueue> queue(new RunQueue(spin, std::move(execute)));
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
  announced.store(next(), std::memory_order_seq_cst);
  jobs.wake();
}

void RunQueue::await(int64_t job) {
  if (hasFinished(job))
    return;
  int64_t begin = now();
  results.await(hostPatience, [&] { return finished.load(std::memory_order_seq_cst) >= job; });
  ++waits;
  waitedNs += now() - begin;
}

void RunQueue::work() {
  for (int64_t job = 1;; ++job) {
    jobs.await(runnerPatience, [&] {
      return announced.load(std::memory_order_seq_cst) >= job || stopping.load(std::memory_order_seq_cst);
    });
    if (announced.load(std::memory_order_acquire) < job)
      return;
    int64_t begin = now();
    execute(job);
    busyNs.fetch_add(now() - begin, std::memory_order_relaxed);
    if (announced.load(std::memory_order_relaxed) == job)
      starved.fetch_add(1, std::memory_order_relaxed);
    finished.store(job, std::memory_order_seq_cst);
    results.wake();
  }
}

RunQueue::Counters RunQueue::counters() const {
  return {waits, waitedNs, starved.load(std::memory_order_relaxed), busyNs.load(std::memory_order_relaxed)};
}
