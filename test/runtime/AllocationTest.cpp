// Replaces malloc for the whole process, to count allocations within a run.
#include "test/runtime/Models.h"

#include <atomic>
#include <cerrno>

using namespace freestone;
using namespace freestone::test;

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
}

static std::atomic<long> allocations = 0;

extern "C" {
void *malloc(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, bytes);
}
void *realloc(void *memory, size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}
}

TEST(Allocation, NothingIsAllocatedWhileRunning) {
  Artifact artifact = loadReverse();
  Instance instance(artifact, 3);
  std::vector<float> large = ramp(5000), small = ramp(50);
  for (const auto *x : {&large, &small}) {
    instance.setInput(0, viewOf(*x));
    instance.run();
  }
  for (const auto *x : {&large, &small, &large}) {
    instance.setInput(0, viewOf(*x));
    long before = allocations.load();
    for (int round = 0; round < 100; ++round)
      instance.run();
    EXPECT_EQ(allocations.load(), before);
    EXPECT_EQ(valuesOf<float>(instance.output(0)), reversed(*x));
  }
  EXPECT_GT(allocations.load(), 0);
}

TEST(Allocation, NothingIsAllocatedOnSharedState) {
  Artifact artifact = loadTrain();
  State state(artifact);
  Instance trainer(artifact, "main", state, 2), evaluator(artifact, "evaluate", state, 2);
  std::vector<float> x = ramp(4);
  trainer.setInput(0, viewOf(x));
  trainer.run();
  evaluator.run();
  long before = allocations.load();
  for (int round = 0; round < 100; ++round) {
    trainer.run();
    evaluator.run();
  }
  EXPECT_EQ(allocations.load(), before);
}

TEST(Allocation, NothingIsAllocatedByRunsInAQueue) {
  Artifact artifact = loadReverse();
  Instance instance(artifact, 2);
  std::vector<float> large = ramp(5000), small = ramp(50);
  long before = 0;
  for (int round = 0; round < 300; ++round) {
    if (round == 100)
      before = allocations.load();
    std::vector<float> &x = round % 3 ? large : small;
    int64_t size = static_cast<int64_t>(x.size());
    DLTensor view = {x.data(), {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &size, nullptr, 0};
    check(freestone_instance_set_input(instance.get(), 0, &view));
    int64_t run = instance.submit();
    if (run > 1)
      instance.wait(run - 1);
  }
  EXPECT_EQ(allocations.load(), before);
}

TEST(Allocation, NothingIsAllocatedByMoreSizesThanAreRemembered) {
  Artifact artifact = loadReverse();
  Instance queued(artifact, 2), called(artifact, 2);
  std::vector<std::vector<float>> inputs;
  for (int64_t size = 0; size < 300; ++size)
    inputs.push_back(ramp(40 * (size % 7) + size + 1));
  auto runAll = [&] {
    for (std::vector<float> &x : inputs) {
      int64_t size = static_cast<int64_t>(x.size());
      DLTensor view = {x.data(), {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &size, nullptr, 0};
      check(freestone_instance_set_input(queued.get(), 0, &view));
      check(freestone_instance_set_input(called.get(), 0, &view));
      queued.submit();
      called.run();
    }
    queued.wait();
  };
  // Each slot's outputs must have had the largest size once.
  runAll();
  queued.submit();
  runAll();
  uint64_t hits = countersOf(called).plan_hits;
  long before = allocations.load();
  for (int round = 0; round < 3; ++round)
    runAll();
  EXPECT_EQ(allocations.load(), before);
  EXPECT_LT(countersOf(called).plan_hits - hits, inputs.size()) << "all of them are remembered: this tests nothing";

  inputs.resize(25);
  runAll();
  hits = countersOf(called).plan_hits;
  runAll();
  EXPECT_EQ(countersOf(called).plan_hits - hits, inputs.size());
}

TEST(Allocation, NothingIsAllocatedForLongNames) {
  runtime::Descriptor descriptor = describeLookup();
  for (runtime::TensorInfo &input : descriptor.entries[0].inputs)
    input.name += " of a name that needs memory";
  Instance instance(loadBytes(packProgram("Lookup", descriptor)), 1);
  std::vector<float> table = ramp(50);
  std::vector<int64_t> index(20, 3);
  instance.setInput(0, viewOf(table));
  instance.setInput(1, viewOf(index));
  for (int round = 0; round < 3; ++round)
    instance.submit();
  instance.wait();
  long before = allocations.load();
  for (int round = 0; round < 100; ++round)
    instance.submit();
  instance.wait();
  EXPECT_EQ(allocations.load(), before);
}
