// Replaces malloc's users for the whole process, to count what the loader's thread and its caller allocate together.
#include "test/train/Files.h"
#include "train/Loader.h"
#include "train/TokenDataset.h"
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
