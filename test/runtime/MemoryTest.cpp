#include "runtime/platform/Memory.h"
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace freestone::runtime;

namespace {

constexpr int64_t stride = int64_t(1) << 30;

TEST(Memory, GrowsWhereItIs) {
  std::shared_ptr<Memory> memory = Memory::create({}, 0);
  Result<Block> reserved = memory->reserve(2, stride, "a sequence");
  ASSERT_TRUE(reserved.ok());
  Block block = std::move(*reserved);
  EXPECT_EQ(block.size(), 0);
  char *first = block.data();
  for (int64_t least = 100 << 10, chunks = 1; least < (8 << 20); least *= 4, ++chunks) {
    ASSERT_TRUE(block.grow(least, "a sequence").ok());
    ASSERT_TRUE(block.grow(least - 1, "a sequence").ok());
    EXPECT_GE(block.size(), least);
    EXPECT_EQ(block.data(), first);
    EXPECT_EQ(memory->chunks(), chunks);
    for (char *slice : {first, first + stride}) {
      EXPECT_EQ(slice[0], chunks == 1 ? 0 : 1) << "what was there stays";
      std::memset(slice, 1, block.size());
    }
  }
  EXPECT_EQ(memory->allocations(), 0u);
  int64_t size = block.size();
  EXPECT_EQ(block.grow(stride + 1, "a sequence").message(),
            "a sequence needs 1073741825 bytes; it can't grow beyond 1073741824");
  EXPECT_EQ(block.size(), size);
}

TEST(Memory, LargeBlocksBeginWhereHugePagesMay) {
  constexpr int64_t hugePage = int64_t(2) << 20;
  std::shared_ptr<Memory> memory = Memory::create({}, 0);
  std::vector<Block> blocks;
  for (int64_t bytes : {2 * hugePage, 2 * hugePage + 4096, 5 * hugePage - 1}) {
    Result<Block> allocated = memory->allocate(bytes, "a block"), reserved = memory->reserve(1, bytes, "a sequence");
    ASSERT_TRUE(allocated.ok() && reserved.ok());
    for (Block *block : {&*allocated, &*reserved}) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block->data()) % hugePage, 0u);
      blocks.push_back(std::move(*block));
    }
    ASSERT_TRUE(blocks.back().grow(bytes, "a sequence").ok());
  }
  // What lies beside a block is not its own: all are written to their ends.
  for (size_t number = 0; number < blocks.size(); ++number)
    std::memset(blocks[number].data(), int(number + 1), blocks[number].size());
  for (size_t number = 0; number < blocks.size(); ++number)
    for (int64_t place : {int64_t(0), blocks[number].size() - 1})
      EXPECT_EQ(blocks[number].data()[place], char(number + 1));
}

TEST(Memory, GrowsWithinTheLimit) {
  constexpr int64_t limit = 1 << 20;
  std::shared_ptr<Memory> memory = Memory::create({}, limit);
  {
    Result<Block> reserved = memory->reserve(2, stride, "a sequence");
    ASSERT_TRUE(reserved.ok());
    Block block = std::move(*reserved);
    ASSERT_TRUE(block.grow(limit / 4, "a sequence").ok());
    EXPECT_NE(block.grow(limit, "a sequence").message().find("max_memory is 1048576"), std::string::npos);
    EXPECT_TRUE(memory->allocate(limit / 2, "a block").ok()) << "what was refused is not held";
    EXPECT_FALSE(memory->allocate(limit, "a block").ok());
  }
  EXPECT_TRUE(memory->allocate(limit, "a block").ok());
}

} // namespace
