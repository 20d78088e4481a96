#include "mlir/IR/BuiltinTypes.h"
#include "test/interpreter/RunText.h"

namespace freestone::interpreter {
namespace {

using IndexingTest = RunText;

TEST_F(IndexingTest, Gather) {
  auto results = runMain(
      R"((%x: !graph.tensor<[2, n, 2], f32>, %i: !graph.tensor<[2, 1], i64>) -> (!graph.tensor<[2, 2, 1, 2], f32>, !graph.tensor<[2, 1, 2], f32>) {
    %a = graph.gather %x, %i axis 1 batch_dims 0 : !graph.tensor<[2, n, 2], f32>, !graph.tensor<[2, 1], i64>
    %b = graph.gather %x, %i axis 1 batch_dims 1 : !graph.tensor<[2, n, 2], f32>, !graph.tensor<[2, 1], i64>
    return %a, %b : !graph.tensor<[2, 2, 1, 2], f32>, !graph.tensor<[2, 1, 2], f32>
  })",
      {f32({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), i64({2, 1}, {-1, 0})});
  ASSERT_EQ(results.size(), 2u);
  expectNear(results[0], {4, 5, 0, 1, 10, 11, 6, 7});
  expectNear(results[1], {4, 5, 6, 7});
}

TEST_F(IndexingTest, AnIndexOutOfRangeIsAnError) {
  EXPECT_EQ(
      getError(R"(func.func @main(%x: !graph.tensor<[n], f32>, %i: !graph.tensor<[], i64>) -> !graph.tensor<[], f32> {
    %a = graph.gather %x, %i axis 0 batch_dims 0 : !graph.tensor<[n], f32>, !graph.tensor<[], i64>
    return %a : !graph.tensor<[], f32>
  })",
               {f32({3}, {1, 2, 3}), i64({}, {3})}),
      "the index 3 is out of range: the size is 3");
}

TEST_F(IndexingTest, GatherElementsAndNd) {
  auto results = runMain(
      R"((%x: !graph.tensor<[2, 3], f32>, %i: !graph.tensor<[2, 2], i64>) -> (!graph.tensor<[2, 2], f32>, !graph.tensor<[2], f32>,
                             !graph.tensor<[2, 2, 3], f32>) {
    %a = graph.gather_elements %x, %i axis 1 : !graph.tensor<[2, 3], f32>, !graph.tensor<[2, 2], i64>
    %b = graph.gather_nd %x, %i batch_dims 0 : !graph.tensor<[2, 3], f32>, !graph.tensor<[2, 2], i64>
    %j = graph.reshape %i : !graph.tensor<[2, 2], i64> -> !graph.tensor<[2, 2, 1], i64>
    %c = graph.gather_nd %x, %j batch_dims 0 : !graph.tensor<[2, 3], f32>, !graph.tensor<[2, 2, 1], i64>
    return %a, %b, %c : !graph.tensor<[2, 2], f32>, !graph.tensor<[2], f32>, !graph.tensor<[2, 2, 3], f32>
  })",
      {f32({2, 3}, {0, 1, 2, 3, 4, 5}), i64({2, 2}, {0, 1, 1, -1})});
  ASSERT_EQ(results.size(), 3u);
  expectNear(results[0], {0, 1, 4, 5});
  expectNear(results[1], {1, 5});
  expectNear(results[2], {0, 1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5});
}

TEST_F(IndexingTest, GatherNdWithBatches) {
  auto results =
      runMain(R"((%x: !graph.tensor<[b, 2, 2], f32>, %i: !graph.tensor<[b, 1], i64>) -> !graph.tensor<[b, 2], f32> {
    %a = graph.gather_nd %x, %i batch_dims 1 : !graph.tensor<[b, 2, 2], f32>, !graph.tensor<[b, 1], i64>
    return %a : !graph.tensor<[b, 2], f32>
  })",
              {f32({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}), i64({2, 1}, {1, 0})});
  ASSERT_EQ(results.size(), 1u);
  expectNear(results[0], {2, 3, 4, 5});
}

TEST_F(IndexingTest, Scatter) {
  auto results = runMain(
      R"((%x: !graph.tensor<[2, 3], f32>, %i: !graph.tensor<[1, 2], i64>, %u: !graph.tensor<[1, 2], f32>, %v: !graph.tensor<[1], f32>)
      -> (!graph.tensor<[2, 3], f32>, !graph.tensor<[2, 3], f32>, !graph.tensor<[2, 3], f32>) {
    %a = graph.scatter_elements none %x, %i, %u axis 1 : !graph.tensor<[2, 3], f32>, !graph.tensor<[1, 2], i64>, !graph.tensor<[1, 2], f32>
    %b = graph.scatter_elements add %x, %i, %u axis 0 : !graph.tensor<[2, 3], f32>, !graph.tensor<[1, 2], i64>, !graph.tensor<[1, 2], f32>
    %c = graph.scatter_nd max %x, %i, %v : !graph.tensor<[2, 3], f32>, !graph.tensor<[1, 2], i64>, !graph.tensor<[1], f32>
    return %a, %b, %c : !graph.tensor<[2, 3], f32>, !graph.tensor<[2, 3], f32>, !graph.tensor<[2, 3], f32>
  })",
      {f32({2, 3}, {0, 1, 2, 3, 4, 5}), i64({1, 2}, {1, -1}), f32({1, 2}, {10, 20}), f32({1}, {50})});
  ASSERT_EQ(results.size(), 3u);
  expectNear(results[0], {0, 10, 20, 3, 4, 5});
  expectNear(results[1], {0, 1, 2, 13, 24, 5});
  expectNear(results[2], {0, 1, 2, 3, 4, 50});
}

TEST_F(IndexingTest, SizesThatDependOnData) {
  auto results = runMain(
      R"((%x: !graph.tensor<[2, 3], f32>, %c: !graph.tensor<[2], i1>) -> (!graph.tensor<[2, n], i64>, !graph.tensor<[2, m], f32>, !graph.tensor<[2], i64>, !graph.tensor<[k], i64>) {
    %a = graph.nonzero %x : !graph.tensor<[2, 3], f32> -> !graph.tensor<[2, n], i64>
    %b = graph.compress %x, %c axis 1 : !graph.tensor<[2, 3], f32>, !graph.tensor<[2], i1> -> !graph.tensor<[2, m], f32>
    %s = graph.sizes [n, m]
    %t = graph.constant dense<3> : tensor<i64> -> !graph.tensor<[], i64>
    %d = graph.count_to %t : !graph.tensor<[], i64> -> !graph.tensor<[k], i64>
    return %a, %b, %s, %d : !graph.tensor<[2, n], i64>, !graph.tensor<[2, m], f32>, !graph.tensor<[2], i64>, !graph.tensor<[k], i64>
  })",
      {f32({2, 3}, {0, 1, 2, 3, 0, 5}), i1({2}, {0, 1})});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(integers(results[3]), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(integers(results[0]), (std::vector<int64_t>{0, 0, 1, 1, 1, 2, 0, 2}));
  expectNear(results[1], {1, 0});
  EXPECT_EQ(integers(results[2]), (std::vector<int64_t>{4, 1}));
}

TEST_F(IndexingTest, Suppress) {
  // The second box covers the third; the first scores too low, the last is one too many.
  auto results = runMain(
      R"((%b: !graph.tensor<[1, n, 4], f32>, %s: !graph.tensor<[1, 1, n], f32>, %l: !graph.tensor<[], i64>, %o: !graph.tensor<[], f32>, %t: !graph.tensor<[], f32>) -> (!graph.tensor<[1, 1, n], i32>) {
    %a = graph.suppress %b, %s, %l, %o, %t : !graph.tensor<[1, n, 4], f32>, !graph.tensor<[1, 1, n], f32>, !graph.tensor<[], i64>, !graph.tensor<[], f32>, !graph.tensor<[], f32>
    return %a : !graph.tensor<[1, 1, n], i32>
  })",
      {f32({1, 5, 4}, {0, 0, 1, 1, 2, 2, 4, 4, 2, 2, 4, 3.5, 5, 5, 6, 6, 8, 8, 9, 9}),
       f32({1, 1, 5}, {0.1, 0.7, 0.6, 0.9, 0.5}), i64({}, {2}), f32({}, {0.5}), f32({}, {0.2})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(integers(results[0]), (std::vector<int64_t>{3, 1, -1, -1, -1}));
}

TEST_F(IndexingTest, Unique) {
  constexpr llvm::StringRef types =
      "!graph.tensor<[u], i64>, !graph.tensor<[u], i64>, !graph.tensor<[n], i64>, !graph.tensor<[u], i64>";
  for (bool sorted : {true, false}) {
    auto results = runMain("(%x: !graph.tensor<[n], i64>) -> (" + types +
                               ") {\n %a, %b, %c, %d = graph.unique %x axis 0 " + (sorted ? "sorted" : "") +
                               " : !graph.tensor<[n], i64> -> " + types + "\n return %a, %b, %c, %d : " + types + " }",
                           {i64({6}, {2, 1, 1, 3, 4, 3})});
    ASSERT_EQ(results.size(), 4u);
    using List = std::vector<int64_t>;
    EXPECT_EQ(integers(results[0]), sorted ? (List{1, 2, 3, 4}) : (List{2, 1, 3, 4}));
    EXPECT_EQ(integers(results[1]), sorted ? (List{1, 0, 3, 4}) : (List{0, 1, 3, 4}));
    EXPECT_EQ(integers(results[2]), sorted ? (List{1, 0, 0, 2, 3, 2}) : (List{0, 1, 1, 2, 3, 2}));
    EXPECT_EQ(integers(results[3]), sorted ? (List{2, 1, 2, 1}) : (List{1, 2, 2, 1}));
  }
}

} // namespace
} // namespace freestone::interpreter
