#include "mlir/IR/BuiltinTypes.h"
#include "test/interpreter/RunText.h"

namespace freestone::interpreter {
namespace {

using ControlFlowTest = RunText;

TEST_F(ControlFlowTest, IfBindsTheSizeOfWhatRuns) {
  constexpr llvm::StringRef text =
      R"((%c: !graph.tensor<[], i1>, %x: !graph.tensor<[n], f32>) -> (!graph.tensor<[m], f32>, !graph.tensor<[1], i64>) {
    %r = graph.if %c {
      graph.yield %x : !graph.tensor<[n], f32>
    } else {
      %y = graph.concat %x, %x axis 0 : !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
      graph.yield %y : !graph.tensor<[2*n], f32>
    } : !graph.tensor<[], i1> -> !graph.tensor<[m], f32>
    %s = graph.sizes [m]
    return %r, %s : !graph.tensor<[m], f32>, !graph.tensor<[1], i64>
  })";
  for (uint8_t condition : {0, 1}) {
    auto results = runMain(text, {i1({}, {condition}), f32({2}, {1, 2})});
    ASSERT_EQ(results.size(), 2u);
    expectNear(results[0], condition ? llvm::ArrayRef<double>{1, 2} : llvm::ArrayRef<double>{1, 2, 1, 2});
    EXPECT_EQ(integers(results[1])[0], condition ? 2 : 4);
  }
}

TEST_F(ControlFlowTest, BranchesAssertSizes) {
  constexpr llvm::StringRef text =
      R"(func.func @main(%c: !graph.tensor<[], i1>, %x: !graph.tensor<[n], f32>, %y: !graph.tensor<[m], f32>) -> !graph.tensor<[n], f32> {
    %r = graph.if %c {
      graph.assert_sizes <m> equals <n> "sizes of a sum"
      %z = graph.reshape %y : !graph.tensor<[m], f32> -> !graph.tensor<[n], f32>
      %s = graph.binary add %x, %z : !graph.tensor<[n], f32>
      graph.yield %s : !graph.tensor<[n], f32>
    } else {
      graph.yield %x : !graph.tensor<[n], f32>
    } : !graph.tensor<[], i1> -> !graph.tensor<[n], f32>
    return %r : !graph.tensor<[n], f32>
  })";
  HostTensor pair = f32({2}, {1, 2}), triple = f32({3}, {1, 2, 3});
  expectNear(run(text, {i1({}, {1}), pair, pair}).at(0), {2, 4});
  expectNear(run(text, {i1({}, {0}), pair, triple}).at(0), {1, 2});
  EXPECT_NE(getError(text, {i1({}, {1}), pair, triple}).find("sizes of a sum: the size m is 3, but must be 2"),
            std::string::npos);
}

TEST_F(ControlFlowTest, WhileCarriesAndCollects) {
  // Doubles until above 20; the carried size changes in every iteration.
  auto results = runMain(
      R"((%x: !graph.tensor<[], f32>, %g: !graph.tensor<[1], f32>) -> (!graph.tensor<[], f32>, !graph.tensor<[k], f32>, !graph.tensor<[t], i64>) {
    %twenty = graph.constant dense<20.0> : tensor<f32> -> !graph.tensor<[], f32>
    %last, %grown, %all = graph.while carry %x, %g : !graph.tensor<[], f32>, !graph.tensor<[1], f32> {
    ^bb0(%i: !graph.tensor<[], i64>, %v: !graph.tensor<[], f32>, %list: !graph.tensor<[j], f32>):
      %next = graph.binary add %v, %v : !graph.tensor<[], f32>
      %one = graph.reshape %next : !graph.tensor<[], f32> -> !graph.tensor<[1], f32>
      %more = graph.concat %list, %one axis 0 : !graph.tensor<[j], f32>, !graph.tensor<[1], f32>
      %go = graph.compare lt %next, %twenty : !graph.tensor<[], f32>
      graph.yield %go, %next, %more, %i : !graph.tensor<[], i1>, !graph.tensor<[], f32>, !graph.tensor<[j + 1], f32>, !graph.tensor<[], i64>
    } -> !graph.tensor<[], f32>, !graph.tensor<[k], f32>, !graph.tensor<[t], i64>
    return %last, %grown, %all : !graph.tensor<[], f32>, !graph.tensor<[k], f32>, !graph.tensor<[t], i64>
  })",
      {f32({}, {3}), f32({1}, {-1})});
  ASSERT_EQ(results.size(), 3u);
  expectNear(results[0], {24});
  expectNear(results[1], {-1, 6, 12, 24});
  EXPECT_EQ(integers(results[2]), (std::vector<int64_t>{0, 1, 2}));
}

TEST_F(ControlFlowTest, WhileWithLimitOfNone) {
  auto results = runMain(
      R"((%max: !graph.tensor<[], i64>, %x: !graph.tensor<[n], f32>) -> (!graph.tensor<[n], f32>, !graph.tensor<[t, n], f32>) {
    %true = graph.constant dense<true> : tensor<i1> -> !graph.tensor<[], i1>
    %last, %all = graph.while max %max : !graph.tensor<[], i64> carry %x : !graph.tensor<[n], f32> {
    ^bb0(%i: !graph.tensor<[], i64>, %v: !graph.tensor<[n], f32>):
      graph.yield %true, %v, %v : !graph.tensor<[], i1>, !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
    } -> !graph.tensor<[n], f32>, !graph.tensor<[t, n], f32>
    return %last, %all : !graph.tensor<[n], f32>, !graph.tensor<[t, n], f32>
  })",
      {i64({}, {0}), f32({2}, {1, 2})});
  ASSERT_EQ(results.size(), 2u);
  expectNear(results[0], {1, 2});
  EXPECT_EQ(results[1].dims, (std::vector<int64_t>{0, 2}));
}

TEST_F(ControlFlowTest, Scan) {
  auto results = runMain(
      R"((%h: !graph.tensor<[2], f32>, %x: !graph.tensor<[t, 2], f32>) -> (!graph.tensor<[2], f32>, !graph.tensor<[t, 2], f32>) {
    %last, %all = graph.scan carry %h : !graph.tensor<[2], f32> over %x : !graph.tensor<[t, 2], f32> {
    ^bb0(%state: !graph.tensor<[2], f32>, %slice: !graph.tensor<[2], f32>):
      %next = graph.binary add %state, %slice : !graph.tensor<[2], f32>
      graph.yield %next, %next : !graph.tensor<[2], f32>, !graph.tensor<[2], f32>
    } -> !graph.tensor<[2], f32>, !graph.tensor<[t, 2], f32>
    return %last, %all : !graph.tensor<[2], f32>, !graph.tensor<[t, 2], f32>
  })",
      {f32({2}, {100, 200}), f32({3, 2}, {1, 2, 3, 4, 5, 6})});
  ASSERT_EQ(results.size(), 2u);
  expectNear(results[0], {109, 212});
  expectNear(results[1], {101, 202, 104, 206, 109, 212});
}

TEST_F(ControlFlowTest, CallBindsTheSymbolsOfTheCallee) {
  auto results = run(R"(
  func.func @double(%x: !graph.tensor<[n, k], f32>) -> (!graph.tensor<[2*n, k], f32>, !graph.tensor<[1], i64>) {
    %y = graph.concat %x, %x axis 0 : !graph.tensor<[n, k], f32>, !graph.tensor<[n, k], f32>
    %s = graph.sizes [n]
    return %y, %s : !graph.tensor<[2*n, k], f32>, !graph.tensor<[1], i64>
  }
  func.func @main(%x: !graph.tensor<[1, n], f32>) -> (!graph.tensor<[4, n], f32>, !graph.tensor<[1], i64>) {
    %y, %a = graph.call @double(%x) : (!graph.tensor<[1, n], f32>) -> (!graph.tensor<[2, n], f32>, !graph.tensor<[1], i64>)
    %z, %b = graph.call @double(%y) : (!graph.tensor<[2, n], f32>) -> (!graph.tensor<[4, n], f32>, !graph.tensor<[1], i64>)
    return %z, %b : !graph.tensor<[4, n], f32>, !graph.tensor<[1], i64>
  })",
                     {f32({1, 2}, {1, 2})});
  ASSERT_EQ(results.size(), 2u);
  expectNear(results[0], {1, 2, 1, 2, 1, 2, 1, 2});
  EXPECT_EQ(integers(results[1])[0], 2);
}

TEST_F(ControlFlowTest, OtherLevelsAreRefused) {
  EXPECT_EQ(getError(R"(
  func.func private @f(!graph.tensor<[], f32>) -> !graph.tensor<[], f32>
  func.func @main(%x: !graph.tensor<[], f32>) -> !graph.tensor<[], f32> {
    %y = func.call @f(%x) : (!graph.tensor<[], f32>) -> !graph.tensor<[], f32>
    return %y : !graph.tensor<[], f32>
  })",
                     {f32({}, {1})}),
            "is no operator of the graph or tile level that the interpreter runs");
}

} // namespace
} // namespace freestone::interpreter
