// Each rank reads the fields that its stages take, and no others.
#include "distributed/Error.h"
#include "distributed/execute/PipelineDescription.h"
#include "distributed/execute/RankData.h"
#include "test/train/Files.h"
#include "train/Error.h"
#include "train/data/TokenDataset.h"
#include <numeric>

using namespace freestone;
using namespace freestone::distributed;
using namespace freestone::test;
using train::DataUse;

namespace {

/// Windows of a text, whose lengths differ from batch to batch.
struct Text {
  explicit Text(int64_t length) : tokens(length) { std::iota(tokens.begin(), tokens.end(), 0); }

  std::vector<int32_t> tokens;
  formats::TensorView view = viewOf("text", FREESTONE_I32, {std::ssize(tokens)}, tokens);
  train::TokenDataset dataset{
      view, {3, 9}, {"x", FREESTONE_I64, {"n", "t"}}, {.name = "y", .dtype = FREESTONE_I64, .shape = {"n", "t"}}};
};

train::LoaderOptions options(std::optional<std::set<std::string>> fields = {}) {
  train::LoaderOptions options{.batch = 4, .seed = 5, .epochs = 2};
  options.fields = std::move(fields);
  return options;
}

std::string contentOf(const formats::TensorView &field) { return {field.bytes.begin(), field.bytes.end()}; }

} // namespace

TEST(RankData, EveryRankHasTheSameBatches) {
  Text text(200);
  train::LoaderPosition start{7, 0, 8};
  train::Loader whole(text.dataset, options(), start), first(text.dataset, options({{"x"}}), start);
  EXPECT_LT(first.bufferBytes(), whole.bufferBytes());
  int opened = 0;
  RankData last({"y", "hidden"}, [&](DataUse use) -> const train::Dataset & {
    EXPECT_EQ(use, DataUse::Training);
    ++opened;
    return text.dataset;
  });
  last.load(describeLoad({}, text.dataset, options(), start));
  int batches = 0;
  while (const train::Batch *batch = whole.take()) {
    const train::Batch *own = first.take();
    std::vector<formats::TensorView> others = last.take(DataUse::Training, describeBatch(*own));
    EXPECT_EQ(contentOf(own->fields[0]), contentOf(batch->fields[0]));
    EXPECT_TRUE(own->fields[1].bytes.empty());
    EXPECT_EQ(own->fields[1].shape, batch->fields[1].shape);
    EXPECT_EQ(contentOf(others.at(1)), contentOf(batch->fields[1]));
    EXPECT_TRUE(others[0].bytes.empty());
    ++batches;
  }
  EXPECT_GT(batches, 5);
  EXPECT_EQ(opened, 1);
}

TEST(RankData, EvaluationsHaveParts) {
  Text text(200);
  std::vector<std::unique_ptr<train::Dataset>> parts = text.dataset.evaluationParts();
  ASSERT_EQ(parts.size(), 2u);
  RankData rank({"y"}, [&](DataUse use) -> const train::Dataset & {
    EXPECT_EQ(use, DataUse::Evaluation);
    return text.dataset;
  });
  for (size_t part = 0; part < parts.size(); ++part) {
    train::LoaderOptions once = options();
    once.shuffle = false;
    once.epochs = 1;
    once.batch = std::min(once.batch, parts[part]->samples());
    train::Loader loader(*parts[part], once);
    rank.load(describeLoad({DataUse::Evaluation, part}, *parts[part], once, {}));
    while (const train::Batch *batch = loader.take())
      EXPECT_EQ(contentOf(rank.take(DataUse::Evaluation, describeBatch(*batch)).at(1)), contentOf(batch->fields[1]));
  }
}

TEST(RankData, WhoTakesNoFieldOpensNothing) {
  Text text(200);
  RankData rank({"hidden"}, [&](DataUse) -> const train::Dataset & {
    ADD_FAILURE() << "data are opened";
    return text.dataset;
  });
  rank.load(describeLoad({}, text.dataset, options(), {}));
  train::Loader loader(text.dataset, options());
  EXPECT_TRUE(rank.take(DataUse::Training, describeBatch(*loader.take())).empty());
}

TEST(RankData, OtherDataAreRefused) {
  Text text(200), other(300);
  RankData rank({"y"}, [&](DataUse) -> const train::Dataset & { return other.dataset; });
  EXPECT_NE(messageOf<train::Error>([&] {
              rank.load(describeLoad({}, text.dataset, options(), {}));
            }).find("samples here, but those of rank 0 22"),
            std::string::npos);
  // A batch that is not the next one.
  RankData behind({"y"}, [&](DataUse) -> const train::Dataset & { return text.dataset; });
  behind.load(describeLoad({}, text.dataset, options(), {}));
  train::Loader loader(text.dataset, options());
  loader.take();
  EXPECT_NE(messageOf<train::Error>([&] {
              behind.take(DataUse::Training, describeBatch(*loader.take()));
            }).find("step 2: this rank has come to another batch"),
            std::string::npos);
}

TEST(PipelineDescription, MultiplesOfASizeTellIt) {
  PipelineDescription pipeline;
  pipeline.symbols = {"batch", "units"};
  pipeline.inputs = {{"x", FREESTONE_F32, {"batch", "3", "32*units", "units + 1"}}};
  auto sizesOf = [&](int64_t height) {
    formats::TensorView x;
    x.name = "x";
    x.shape = {8, 3, height, 5};
    return pipeline.sizesOf({x});
  };
  EXPECT_EQ(sizesOf(96), (std::vector<int64_t>{8, 3}));
  EXPECT_EQ(messageOf<distributed::Error>([&] { sizesOf(30); }),
            "dimension 2 of input 'x', 32*units, is 30, but must be a multiple of 32");
  pipeline.symbols = {"unit"};
  EXPECT_EQ(messageOf<distributed::Error>([&] { sizesOf(96); }),
            "the data do not tell the size 'unit' of the model, which all stages must know");
}
