#include "mlir/IR/BuiltinTypes.h"
#include "test/interpreter/RunText.h"
#include <cmath>
#include <limits>

namespace freestone::interpreter {
namespace {

using ReductionTest = RunText;

TEST_F(ReductionTest, Reduce) {
  auto results = runMain(
      R"((%x: !graph.tensor<[2, n, 2], f32>) -> (!graph.tensor<[n], f32>, !graph.tensor<[2, 2], f32>, !graph.tensor<[2, n], f32>,
                             !graph.tensor<[], f32>) {
    %a = graph.reduce add %x axes [0, 2] : !graph.tensor<[2, n, 2], f32>
    %b = graph.reduce max %x axes [1] : !graph.tensor<[2, n, 2], f32>
    %c = graph.reduce mul %x axes [2] : !graph.tensor<[2, n, 2], f32>
    %d = graph.reduce min %x axes [2, 0, 1] : !graph.tensor<[2, n, 2], f32>
    return %a, %b, %c, %d : !graph.tensor<[n], f32>, !graph.tensor<[2, 2], f32>, !graph.tensor<[2, n], f32>, !graph.tensor<[], f32>
  })",
      {f32({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})});
  ASSERT_EQ(results.size(), 4u);
  expectNear(results[0], {18, 26, 34});
  expectNear(results[1], {5, 6, 11, 12});
  expectNear(results[2], {2, 12, 30, 56, 90, 132});
  expectNear(results[3], {1});
}

TEST_F(ReductionTest, EmptyReductionsGiveTheIdentity) {
  auto results = runMain(
      R"((%x: !graph.tensor<[n], f32>, %i: !graph.tensor<[n], i64>) -> (!graph.tensor<[], f32>, !graph.tensor<[], f32>, !graph.tensor<[], f32>,
                             !graph.tensor<[], i64>) {
    %a = graph.reduce add %x axes [0] : !graph.tensor<[n], f32>
    %b = graph.reduce mul %x axes [0] : !graph.tensor<[n], f32>
    %c = graph.reduce max %x axes [0] : !graph.tensor<[n], f32>
    %d = graph.reduce min %i axes [0] : !graph.tensor<[n], i64>
    return %a, %b, %c, %d : !graph.tensor<[], f32>, !graph.tensor<[], f32>, !graph.tensor<[], f32>, !graph.tensor<[], i64>
  })",
      {f32({0}, {}), i64({0}, {})});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(reals(results[0])[0], 0);
  EXPECT_EQ(reals(results[1])[0], 1);
  EXPECT_EQ(reals(results[2])[0], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(integers(results[3])[0], std::numeric_limits<int64_t>::max());
}

TEST_F(ReductionTest, ArgReduce) {
  auto results = runMain(
      R"((%x: !graph.tensor<[m, n], f32>) -> (!graph.tensor<[m], i64>, !graph.tensor<[m], i64>, !graph.tensor<[n], i64>) {
    %a = graph.arg_reduce max %x axis 1 : !graph.tensor<[m, n], f32>
    %b = graph.arg_reduce max %x axis 1 last : !graph.tensor<[m, n], f32>
    %c = graph.arg_reduce min %x axis 0 : !graph.tensor<[m, n], f32>
    return %a, %b, %c : !graph.tensor<[m], i64>, !graph.tensor<[m], i64>, !graph.tensor<[n], i64>
  })",
      {f32({2, 3}, {1, 5, 5, 7, 2, 7})});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(integers(results[0]), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(integers(results[1]), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(integers(results[2]), (std::vector<int64_t>{0, 1, 0}));
}

TEST_F(ReductionTest, Cumulate) {
  auto results = runMain(
      R"((%x: !graph.tensor<[n], f32>) -> (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>, !graph.tensor<[n], f32>, !graph.tensor<[n], f32>) {
    %a = graph.cumulate add %x axis 0 : !graph.tensor<[n], f32>
    %b = graph.cumulate add %x axis 0 exclusive : !graph.tensor<[n], f32>
    %c = graph.cumulate add %x axis 0 exclusive reverse : !graph.tensor<[n], f32>
    %d = graph.cumulate max %x axis 0 reverse : !graph.tensor<[n], f32>
    return %a, %b, %c, %d : !graph.tensor<[n], f32>, !graph.tensor<[n], f32>, !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
  })",
      {f32({4}, {1, 4, 2, 3})});
  ASSERT_EQ(results.size(), 4u);
  expectNear(results[0], {1, 5, 7, 10});
  expectNear(results[1], {0, 1, 5, 7});
  expectNear(results[2], {9, 5, 3, 0});
  expectNear(results[3], {4, 4, 3, 3});
}

TEST_F(ReductionTest, TopKAndSort) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  auto results = runMain(
      R"((%x: !graph.tensor<[n], f32>) -> (!graph.tensor<[2], f32>, !graph.tensor<[2], i64>, !graph.tensor<[2], i64>, !graph.tensor<[n], i64>) {
    %v, %i = graph.top_k %x axis 0 k <2> : !graph.tensor<[n], f32>
    %w, %j = graph.top_k %x axis 0 k <2> smallest : !graph.tensor<[n], f32>
    %s, %k = graph.sort %x axis 0 descending : !graph.tensor<[n], f32>
    return %v, %i, %j, %k : !graph.tensor<[2], f32>, !graph.tensor<[2], i64>, !graph.tensor<[2], i64>, !graph.tensor<[n], i64>
  })",
      {f32({5}, {3, 1, nan, 1, 3})});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_TRUE(std::isnan(reals(results[0])[0]));
  EXPECT_EQ(reals(results[0])[1], 3);
  EXPECT_EQ(integers(results[1]), (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(integers(results[2]), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(integers(results[3]), (std::vector<int64_t>{2, 0, 4, 1, 3}));
}

} // namespace
} // namespace freestone::interpreter
