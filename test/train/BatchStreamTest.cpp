#include "train/data/BatchStream.h"

#include "test/train/Files.h"
#include "train/Error.h"

using namespace freestone::test;
using namespace freestone::train;

namespace {

/// Epochs of so many batches, numbered by `samples`.
struct Epochs {
  std::optional<Batch> operator()(int64_t epoch) {
    if (epoch != current) {
      current = epoch;
      given = 0;
    }
    if (given == batches)
      return std::nullopt;
    Batch batch;
    batch.samples = 100 * epoch + given++;
    return batch;
  }

  int64_t batches;
  int64_t current = -1, given = 0;
};

} // namespace

TEST(BatchStream, knowsWhereEpochsEnd) {
  BatchStream stream(Epochs{3}, std::nullopt, 2, 1);
  std::vector<int64_t> numbers;
  std::vector<bool> ends;
  while (const Batch *batch = stream.take()) {
    EXPECT_EQ(batch->place.step, static_cast<int64_t>(numbers.size()));
    EXPECT_EQ(batch->next, stream.position());
    numbers.push_back(batch->samples);
    ends.push_back(batch->next.epoch != batch->place.epoch);
  }
  EXPECT_EQ(numbers, (std::vector<int64_t>{0, 1, 2, 100, 101, 102}));
  EXPECT_EQ(ends, (std::vector<bool>{false, false, true, false, false, true}));
  EXPECT_EQ(stream.take(), nullptr);
  EXPECT_EQ(stream.position(), (LoaderPosition{6, 2, 0}));
}

TEST(BatchStream, goesOnWhereItStopped) {
  BatchStream stream(Epochs{3}, 3, 2, 1, {4, 1, 1});
  EXPECT_EQ(stream.take()->samples, 101);
  EXPECT_EQ(stream.take()->samples, 102);
  EXPECT_EQ(stream.take(), nullptr);
  BatchStream ended(Epochs{3}, 3, 2, 1, {6, 2, 0});
  EXPECT_EQ(ended.take(), nullptr);
}

TEST(BatchStream, keepsTakenBatches) {
  BatchStream stream(Epochs{9}, 9, 1, 2);
  const Batch *first = stream.take(), *second = stream.take(), *third = stream.take();
  EXPECT_EQ(first->samples, 0);
  EXPECT_EQ(second->samples, 1);
  EXPECT_EQ(third->samples, 2);
}

TEST(BatchStream, refusesDataThatEndEarly) {
  expectError<Error>([] { BatchStream(Epochs{0}, std::nullopt, 1, 1); }, {"no batch in epoch 1"});
  expectError<Error>([] { BatchStream(Epochs{2}, 2, 1, 1, {5, 0, 5}); }, {"5 batches", "have 2"});
  BatchStream once([epochs = Epochs{1}](int64_t epoch) mutable { return epoch ? std::nullopt : epochs(0); }, 1, 2, 1);
  expectError<Error>([&] { once.take(); }, {"epoch 2"});
}
