#include "runtime/workers/RunWatch.h"

#include "runtime/workers/Gang.h"

using namespace freestone::runtime;

void RunWatch::begin(int64_t from) {
  base = from;
  stage.store(Stage::Running, std::memory_order_seq_cst);
  waiters.wake();
}

void RunWatch::published(int64_t number) {
  if (number - base >= awaited.load(std::memory_order_seq_cst))
    waiters.wake();
}

void RunWatch::finish(Stage end) {
  Stage before = stage.load(std::memory_order_relaxed);
  while (before == Stage::Expected || before == Stage::Running)
    if (stage.compare_exchange_weak(before, end, std::memory_order_seq_cst))
      return waiters.wake();
}

void RunWatch::giveUp() {
  Stage expected = Stage::Expected;
  if (stage.compare_exchange_strong(expected, Stage::GivenUp, std::memory_order_seq_cst))
    waiters.wake();
}

RunWatch::Stage RunWatch::await(int64_t phases, const Gang &gang) {
  awaited.store(phases, std::memory_order_seq_cst);
  auto isOver = [&] {
    Stage now = stage.load(std::memory_order_seq_cst);
    if (now != Stage::Running)
      return now != Stage::Expected;
    return phases != wholeRun && gang.havePublished(base + phases);
  };
  while (!isOver())
    waiters.sleep({}, isOver);
  // A worker that fails publishes infinity; the gang forgets the failure after this watch has been told the end.
  bool hasFailed = gang.hasFailed();
  Stage now = stage.load(std::memory_order_seq_cst);
  return now == Stage::Running && hasFailed ? Stage::Failed : now;
}
