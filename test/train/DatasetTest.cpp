#include "test/train/Files.h"
#include "train/Error.h"
#include "train/data/ArrayDataset.h"
#include "train/data/CheckedCopy.h"
#include "train/data/Loader.h"
#include "train/data/TokenDataset.h"
#include <cmath>
#include <numeric>

using namespace freestone;
using namespace freestone::test;
using namespace freestone::train;

namespace {

struct Arrays : testing::Test {
  Arrays() {
    std::vector<float> x(12);
    std::iota(x.begin(), x.end(), 0);
    writeText(folder / "x.npy", npy(FREESTONE_F32, {4, 3}, x));
    x[7] = NAN;
    writeText(folder / "broken.npy", npy(FREESTONE_F32, {4, 3}, x));
    writeText(folder / "y.npy", npy(FREESTONE_I64, {4}, std::vector<int64_t>{0, 9, -100, 10}));
    writeText(folder / "short.npy", npy(FREESTONE_I64, {3}, std::vector<int64_t>{0, 1, 2}));
    writeText(folder / "none.npy", npy(FREESTONE_F32, {0, 3}, std::vector<float>()));
    files = ArrayFiles::open(
        {folder / "x.npy", folder / "broken.npy", folder / "y.npy", folder / "short.npy", folder / "none.npy"});
  }

  void expectRefused(std::vector<Field> fields, std::initializer_list<const char *> parts) {
    expectError<Error>([&] { ArrayDataset(files, fields); }, parts);
  }

  Folder folder;
  ArrayFiles files;
  Field x{"x", FREESTONE_F32, {"batch", "3"}};
  Field y{"labels", FREESTONE_I64, {"batch"}, "y", IntegerRange{0, 9, -100}};
};

} // namespace

TEST_F(Arrays, samplesAreRows) {
  ArrayDataset dataset(files, {x, y});
  EXPECT_EQ(dataset.samples(), 4);
  float row[3];
  dataset.copySample(0, 2, 1, {}, reinterpret_cast<uint8_t *>(row));
  EXPECT_EQ(row[0], 6);
  EXPECT_EQ(row[2], 8);
  int64_t label;
  for (int64_t sample : {0, 1, 2})
    dataset.copySample(1, sample, 1, {}, reinterpret_cast<uint8_t *>(&label));
  EXPECT_EQ(label, -100);
  std::vector<int64_t> sizes;
  dataset.sampleSizes(0, 1, sizes);
  EXPECT_EQ(sizes, std::vector<int64_t>{3});
}

TEST_F(Arrays, errorsNameArrayAndShapes) {
  expectRefused({{"images", FREESTONE_F32, {"batch", "3"}}}, {"no array 'images'", "x: 4x3xf32", "y: 4xi64"});
  expectRefused({{"x", FREESTONE_F64, {"batch", "3"}}}, {"array 'x' is 4x3xf32", "[batch, 3] f64"});
  expectRefused({{"x", FREESTONE_F32, {"batch", "784"}}},
                {"array 'x' is 4x3xf32", "[batch, 784] f32", "dimension 1 must be 784"});
  expectRefused({{"x", FREESTONE_F32, {"batch"}}}, {"array 'x' is 4x3xf32", "[batch] f32"});
  expectRefused({x, {"short", FREESTONE_I64, {"batch"}}}, {"'short' has 3 samples", "'x' has 4"});
  expectRefused({{"none", FREESTONE_F32, {"batch", "3"}}}, {"'none' is empty"});
  expectRefused({}, {"no inputs"});
  Field square{"x", FREESTONE_F32, {"b", "n"}};
  EXPECT_EQ(messageOf<Error>([&] { ArrayDataset(files, {square, {"broken", FREESTONE_F32, {"b", "n"}}}); }), "");
  EXPECT_EQ(messageOf<Error>([&] { ArrayDataset(files, {square, {"broken", FREESTONE_F32, {"b", "2*n"}}}); }), "");
}

TEST_F(Arrays, equalSymbolsAreEqualSizes) {
  writeText(folder / "wide.npy", npy(FREESTONE_F32, {4, 5}, std::vector<float>(20)));
  ArrayFiles two = ArrayFiles::open({folder / "x.npy", folder / "wide.npy"});
  expectError<Error>(
      [&] { ArrayDataset(two, {{"x", FREESTONE_F32, {"b", "n"}}, {"wide", FREESTONE_F32, {"b", "n"}}}); },
      {"array 'wide' is 4x5xf32", "array 'x' makes n 3"});
}

TEST_F(Arrays, wrongValuesAreFoundWhileCopying) {
  ArrayDataset dataset(files, {{"broken", FREESTONE_F32, {"batch", "3"}}, y});
  uint8_t target[64];
  dataset.copySample(0, 1, 1, {}, target);
  expectError<Error>([&] { dataset.copySample(0, 2, 1, {}, target); }, {"'broken', sample 2, element [1] is NaN"});
  expectError<Error>([&] { dataset.copySample(1, 3, 1, {}, target); },
                     {"array 'y', sample 3: 10 is out of range, which is 0 to 9, or -100"});
}

TEST(CheckedCopy, findsNaNInEveryPlaceAndType) {
  for (int64_t count : {1, 7, 1024, 1025, 3000})
    for (int64_t at : {int64_t(0), count / 2, count - 1}) {
      std::vector<float> floats(count, INFINITY), copy(count);
      EXPECT_EQ(copyElements(FREESTONE_F32, reinterpret_cast<uint8_t *>(floats.data()), count,
                             reinterpret_cast<uint8_t *>(copy.data())),
                -1);
      EXPECT_EQ(copy, floats);
      floats[at] = -NAN;
      EXPECT_EQ(copyElements(FREESTONE_F32, reinterpret_cast<uint8_t *>(floats.data()), count,
                             reinterpret_cast<uint8_t *>(copy.data())),
                at);
      for (auto [dtype, bits] : {std::pair(FREESTONE_F16, 0xfc01), {FREESTONE_BF16, 0x7fc0}}) {
        std::vector<uint16_t> halves(count, dtype == FREESTONE_F16 ? 0x7c00 : 0xff80), target(count);
        halves[at] = bits;
        EXPECT_EQ(copyElements(dtype, reinterpret_cast<uint8_t *>(halves.data()), count,
                               reinterpret_cast<uint8_t *>(target.data())),
                  at);
      }
    }
  uint8_t bools[] = {0, 1, 2, 255}, target[4];
  EXPECT_EQ(copyElements(FREESTONE_I1, bools, 4, target), -1);
  EXPECT_EQ(target[2] + target[3], 2);
}

TEST(CheckedCopy, integersThatDoNotFitAreFound) {
  int64_t values[] = {-128, 127, 128, -129};
  int8_t target[4];
  IntegerRange all{INT64_MIN, INT64_MAX, {}};
  auto convert = [&](int64_t first, int64_t count) {
    return convertIntegers(FREESTONE_I64, reinterpret_cast<uint8_t *>(values + first), count, FREESTONE_I8, all,
                           reinterpret_cast<uint8_t *>(target));
  };
  EXPECT_EQ(convert(0, 2), -1);
  EXPECT_EQ(target[0], -128);
  EXPECT_EQ(convert(0, 4), 2);
  EXPECT_EQ(convert(3, 1), 0);
}

TEST(TokenDataset, labelsAreInputsShiftedByOne) {
  std::vector<uint16_t> text(1000);
  std::iota(text.begin(), text.end(), 0);
  formats::TensorView tokens = viewOf("tokens", FREESTONE_U16, {1000}, text);
  Field inputs{"ids", FREESTONE_I64, {"b", "s"}}, labels{"labels", FREESTONE_I64, {"b", "s"}};
  TokenDataset dataset(tokens, parseWindow("32:100"), inputs, labels);
  EXPECT_EQ(dataset.samples(), 9);
  for (bool shuffle : {false, true})
    for (int64_t epoch = 0; epoch < 20; ++epoch)
      for (int64_t sample = 0; sample < 9; ++sample) {
        BatchPlace place{1, epoch, sample, shuffle};
        int64_t length = dataset.length(place), x[100], y[100];
        EXPECT_GE(length, 32);
        EXPECT_LE(length, 100);
        dataset.copySample(0, sample, length, place, reinterpret_cast<uint8_t *>(x));
        dataset.copySample(1, sample, length, place, reinterpret_cast<uint8_t *>(y));
        EXPECT_EQ(x[length - 1], x[0] + length - 1);
        EXPECT_EQ(y[0], x[0] + 1);
        EXPECT_EQ(y[length - 1], x[length - 1] + 1);
        if (!shuffle)
          EXPECT_EQ(x[0], sample * 100);
      }
}

TEST(TokenDataset, anEvaluationCountsEachTokenButTheFirstOnce) {
  Field inputs{"ids", FREESTONE_I64, {"b", "s"}}, labels{"labels", FREESTONE_I64, {"b", "s"}};
  for (int64_t size : {101, 102, 150, 200, 201, 1000}) {
    std::vector<uint16_t> text(size);
    std::iota(text.begin(), text.end(), 0);
    formats::TensorView tokens = viewOf("tokens", FREESTONE_U16, {size}, text);
    TokenDataset dataset(tokens, {32, 100}, inputs, labels);
    for (int64_t batch : {1, 3, 64}) {
      std::vector<int> seen(size);
      for (const std::unique_ptr<Dataset> &part : dataset.evaluationParts()) {
        Loader loader(*part, {.batch = std::min(batch, part->samples()), .shuffle = false, .epochs = 1});
        while (const Batch *next = loader.take()) {
          EXPECT_EQ(next->length, part->longest());
          auto *x = reinterpret_cast<const int64_t *>(next->fields[0].bytes.data());
          auto *y = reinterpret_cast<const int64_t *>(next->fields[1].bytes.data());
          for (int64_t i = 0; i < next->samples * next->length; ++i) {
            EXPECT_EQ(y[i], x[i] + 1);
            ++seen[y[i]];
          }
        }
      }
      EXPECT_EQ(seen.front(), 0);
      EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), size - 1) << size;
    }
  }
}

TEST(TokenDataset, anEvaluationLeavesTheRestToModelsThatTakeIt) {
  std::vector<uint16_t> text(150);
  text[130] = 90;
  formats::TensorView tokens = viewOf("tokens", FREESTONE_U16, {150}, text);
  auto partsFor = [&](std::string batch, std::string length) {
    Field field{"ids", FREESTONE_I64, {batch, length}, "", IntegerRange{0, 86, {}}};
    return TokenDataset(tokens, {100, 100}, field, field).evaluationParts();
  };
  EXPECT_EQ(partsFor("b", "100").size(), 1u);
  EXPECT_EQ(partsFor("2", "s").size(), 1u);
  EXPECT_EQ(partsFor("1", "s").size(), 2u);
  std::vector<std::unique_ptr<Dataset>> parts = partsFor("b", "s");
  ASSERT_EQ(parts.size(), 2u);
  std::vector<int64_t> target(49);
  expectError<Error>(
      [&] { parts[1]->copySample(0, 0, 49, {0, 0, 0, false}, reinterpret_cast<uint8_t *>(target.data())); },
      {"token 130: 90 is out of range"});
}

TEST(TokenDataset, refusesWhatIsNoText) {
  std::vector<uint16_t> text(100, 7);
  text[50] = 90;
  Field inputs{"ids", FREESTONE_I64, {"b", "s"}, "", IntegerRange{0, 86, {}}}, labels = inputs;
  formats::TensorView tokens = viewOf("tokens", FREESTONE_U16, {100}, text);
  formats::TensorView square = viewOf("tokens", FREESTONE_U16, {10, 10}, text);
  expectError<Error>([&] { TokenDataset(tokens, {100, 100}, inputs, labels); }, {"100 tokens, too few"});
  expectError<Error>([&] { TokenDataset(square, {10, 10}, inputs, labels); }, {"10x10xu16", "one-dimensional"});
  Field fixed{"ids", FREESTONE_I64, {"b", "64"}};
  expectError<Error>([&] { TokenDataset(tokens, {32, 64}, fixed, labels); }, {"[b, 64] i64", "must be 64"});
  Field images{"x", FREESTONE_F32, {"b", "s"}};
  expectError<Error>([&] { TokenDataset(tokens, {32, 64}, images, labels); }, {"'x'", "tokens are integers"});
  TokenDataset dataset(tokens, {99, 99}, inputs, labels);
  std::vector<int64_t> target(99);
  expectError<Error>(
      [&] { dataset.copySample(0, 0, 99, {0, 0, 0, false}, reinterpret_cast<uint8_t *>(target.data())); },
      {"token 50: 90 is out of range, which is 0 to 86"});
  for (const char *text : {"", "0", "8:4", "x", "4:", "-4"})
    expectError<Error>([&] { parseWindow(text); }, {"no window"});
}
