// Replaces malloc for the whole process, to count the allocations of all threads.
#include "test/train/Learning.h"
#include "train/data/Loader.h"
#include "train/data/TokenDataset.h"
#include "train/report/MetricsLog.h"
#include <atomic>
#include <cstdlib>
#include <new>

using namespace freestone;
using namespace freestone::test;
using namespace freestone::train;

static std::atomic<long> allocations = 0;

void *operator new(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void *memory = std::malloc(bytes))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

TEST(Loader, nothingIsAllocatedPerBatch) {
  std::vector<uint8_t> text(20000);
  formats::TensorView tokens = viewOf("tokens", FREESTONE_U8, {20000}, text);
  Field field{"ids", FREESTONE_I64, {"b", "s"}};
  TokenDataset dataset(tokens, {8, 64}, field, field);
  Loader loader(dataset, {.batch = 16, .seed = 1});
  loader.take();
  long before = allocations.load();
  EXPECT_GT(before, 0);
  for (int i = 0; i < 1000; ++i)
    loader.take();
  EXPECT_EQ(allocations.load(), before);
}

TEST(MetricsLog, nothingIsAllocatedPerStep) {
  Folder folder;
  MetricsLog log(folder.path(), 0);
  StepMetrics metrics = {.loss = -1.2345678901234567e-100,
                         .gradientNorm = 1.2345678901234567e-100,
                         .learningRate = 1.2345678901234567e-100,
                         .samplesPerSecond = 123456.78901234567,
                         .tokensPerSecond = 123456.78901234567};
  log.append(metrics);
  long before = allocations.load();
  for (metrics.step = 2; metrics.step <= 10000; ++metrics.step)
    log.append(metrics);
  EXPECT_EQ(allocations.load(), before);
}

/// All threads of a training together, between evaluations and checkpoints.
TEST_F(Learning, nothingIsAllocatedPerStep) {
  train::StepTrainer trained = trainer();
  TrainingOptions options = optionsFor("run");
  options.batch = 2;
  options.epochs = 1;
  options.saveEvery = options.evalEvery = 1000;
  long before = 0, after = -1;
  options.onStep = [&](const StepMetrics &metrics) {
    if (metrics.step == 20)
      before = allocations.load();
    if (metrics.step == 90)
      after = allocations.load();
  };
  EXPECT_EQ(run(trained, options).steps, 100);
  EXPECT_EQ(after, before);
}
