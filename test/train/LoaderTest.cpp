#include "train/data/Loader.h"
#include "test/train/Files.h"
#include "train/Error.h"
#include "train/data/ArrayDataset.h"
#include "train/data/TokenDataset.h"
#include <algorithm>
#include <numeric>

using namespace freestone;
using namespace freestone::test;
using namespace freestone::train;

namespace {

/// Sample i is the number i; the sample `broken` throws.
class Numbers : public Dataset {
public:
  explicit Numbers(int64_t samples, std::vector<std::string> shape = {"batch"}, int64_t broken = -1) : broken(broken) {
    declared = {{"x", FREESTONE_I64, std::move(shape)}};
    count = samples;
  }
  void sampleSizes(size_t, int64_t, std::vector<int64_t> &sizes) const override { sizes.clear(); }
  void copySample(size_t, int64_t sample, int64_t, const BatchPlace &, uint8_t *target) const override {
    if (sample == broken)
      throw Error("sample is broken");
    std::memcpy(target, &sample, sizeof(sample));
  }

private:
  int64_t broken;
};

std::vector<int64_t> samplesOf(const Batch &batch) {
  const auto *begin = reinterpret_cast<const int64_t *>(batch.fields[0].bytes.data());
  return {begin, begin + batch.samples};
}

} // namespace

TEST(Loader, everyEpochHasEverySampleOnce) {
  Numbers dataset(103);
  Loader loader(dataset, {.batch = 10, .seed = 4, .epochs = 3});
  EXPECT_EQ(loader.batchesPerEpoch(), 11);
  std::vector<std::vector<int64_t>> epochs(3);
  int64_t step = 0;
  while (const Batch *batch = loader.take()) {
    EXPECT_EQ(batch->place.step, step++);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(batch->fields[0].bytes.data()) % 64, 0u);
    EXPECT_EQ(batch->fields[0].shape, std::vector<int64_t>{batch->samples});
    EXPECT_EQ(batch->samples, batch->place.sample == 100 ? 3 : 10);
    for (int64_t sample : samplesOf(*batch))
      epochs[batch->place.epoch].push_back(sample);
  }
  EXPECT_EQ(loader.take(), nullptr);
  EXPECT_EQ(step, 33);
  EXPECT_NE(epochs[0], epochs[1]);
  std::vector<int64_t> all(103);
  std::iota(all.begin(), all.end(), 0);
  for (std::vector<int64_t> &epoch : epochs) {
    std::sort(epoch.begin(), epoch.end());
    EXPECT_EQ(epoch, all);
  }
}

TEST(Loader, goesOnFromAnyPositionWithTheSameBatches) {
  std::vector<uint16_t> text(5000);
  std::iota(text.begin(), text.end(), 0);
  formats::TensorView tokens = viewOf("tokens", FREESTONE_U16, {5000}, text);
  Field field{"ids", FREESTONE_I64, {"b", "s"}};
  TokenDataset dataset(tokens, {8, 20}, field, field);
  LoaderOptions options{.batch = 24, .seed = 9};

  std::vector<std::string> whole;
  std::vector<LoaderPosition> positions;
  Loader loader(dataset, options);
  for (int i = 0; i < 40; ++i) {
    positions.push_back(loader.position());
    const Batch *batch = loader.take();
    EXPECT_EQ(batch->place, positions.back());
    EXPECT_EQ(batch->next, loader.position());
    whole.emplace_back(batch->fields[0].bytes.begin(), batch->fields[0].bytes.end());
  }
  for (int begin : {0, 1, 10, 11, 39}) {
    Loader resumed(dataset, options, positions[begin]);
    for (int i = begin; i < 40; ++i) {
      const Batch *batch = resumed.take();
      EXPECT_EQ(std::string(batch->fields[0].bytes.begin(), batch->fields[0].bytes.end()), whole[i]);
    }
  }
}

TEST(Loader, lengthsVaryFromBatchToBatch) {
  std::vector<uint8_t> text(100000);
  formats::TensorView tokens = viewOf("tokens", FREESTONE_U8, {100000}, text);
  Field field{"ids", FREESTONE_I32, {"b", "s"}};
  TokenDataset dataset(tokens, {32, 63}, field, field);
  Loader loader(dataset, {.batch = 4, .seed = 1});
  std::vector<int> seen(64);
  for (int i = 0; i < 300; ++i) {
    const Batch *batch = loader.take();
    ++seen[batch->length];
    EXPECT_EQ(batch->fields[1].shape, (std::vector<int64_t>{4, batch->length}));
    EXPECT_EQ(batch->fields[1].bytes.size(), size_t(4 * 4 * batch->length));
  }
  EXPECT_GE(std::count_if(seen.begin(), seen.end(), [](int count) { return count > 0; }), 28);
}

TEST(Loader, errorsComeInTheirTurnAndStay) {
  Numbers dataset(100, {"batch"}, 57);
  Loader loader(dataset, {.batch = 10, .shuffle = false});
  for (int i = 0; i < 5; ++i)
    ASSERT_NE(loader.take(), nullptr);
  for (int i = 0; i < 2; ++i)
    expectError<Error>([&] { loader.take(); }, {"sample is broken"});
  EXPECT_EQ(loader.position(), (LoaderPosition{5, 0, 50}));
}

TEST(Loader, batchesStayValidAsLongAsTheyAreHeld) {
  Numbers dataset(103);
  Loader loader(dataset, {.batch = 10, .seed = 2, .epochs = 20, .held = 3});
  std::vector<std::pair<const Batch *, std::vector<int64_t>>> held;
  while (const Batch *batch = loader.take()) {
    held.push_back({batch, samplesOf(*batch)});
    if (held.size() > 3)
      held.erase(held.begin());
    for (const auto &[taken, samples] : held)
      EXPECT_EQ(samplesOf(*taken), samples);
  }
}

TEST(Loader, canBeDestroyedAtAnyTime) {
  Numbers dataset(1000);
  for (int taken = 0; taken < 200; ++taken) {
    Loader loader(dataset, {.batch = 10, .depth = 1 + taken % 4});
    for (int i = 0; i < taken % 7; ++i)
      loader.take();
  }
}

TEST(Loader, refusesWhatCanNotBe) {
  Numbers dataset(100), fixed(100, {"8"});
  expectError<Error>([&] { Loader(dataset, {.batch = 0}); }, {"0 samples"});
  expectError<Error>([&] { Loader(dataset, {.batch = 8}, {0, 0, 100}); }, {"not the data"});
  expectError<Error>([&] { Loader(fixed, {.batch = 10}); }, {"'x' is [8] i64", "must have 8", "batch size is 10"});
  expectError<Error>([&] { Loader(fixed, {.batch = 8}); }, {"there are 100 samples"});
}
