#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "random/Philox.h"
#include "test/interpreter/RunText.h"

namespace freestone::interpreter {
namespace {

using ShapeTest = RunText;

TEST_F(ShapeTest, BroadcastTransposeReshape) {
  auto results =
      runMain(R"((%x: !graph.tensor<[n], f32>, %y: !graph.tensor<[1, n], f32>) -> (!graph.tensor<[2, n], f32>,
                             !graph.tensor<[n, 2], f32>, !graph.tensor<[2*n], f32>, !graph.tensor<[2, n], f32>) {
    %a = graph.broadcast %x dims [1] : !graph.tensor<[n], f32> -> !graph.tensor<[2, n], f32>
    %b = graph.transpose %a [1, 0] : !graph.tensor<[2, n], f32>
    %c = graph.reshape %b : !graph.tensor<[n, 2], f32> -> !graph.tensor<[2*n], f32>
    %d = graph.broadcast %y dims [0, 1] : !graph.tensor<[1, n], f32> -> !graph.tensor<[2, n], f32>
    return %a, %b, %c, %d : !graph.tensor<[2, n], f32>, !graph.tensor<[n, 2], f32>, !graph.tensor<[2*n], f32>, !graph.tensor<[2, n], f32>
  })",
              {f32({3}, {1, 2, 3}), f32({1, 3}, {4, 5, 6})});
  ASSERT_EQ(results.size(), 4u);
  expectNear(results[0], {1, 2, 3, 1, 2, 3});
  expectNear(results[1], {1, 1, 2, 2, 3, 3});
  expectNear(results[2], {1, 1, 2, 2, 3, 3});
  expectNear(results[3], {4, 5, 6, 4, 5, 6});
  EXPECT_EQ(results[2].dims, std::vector<int64_t>{6});
}

TEST_F(ShapeTest, ViewsAreTheStorageOfPanels) {
  context.loadDialect<tile::TileDialect>();
  auto results = runMain(R"((%x: !graph.tensor<[2, 2, 2], f32>) ->
      (!graph.tensor<[3, 2], f32, #tile.panels<axis = 0, width = 2>>, !graph.tensor<[2, 2, 2], f32>) {
    %a = tile.view %x : !graph.tensor<[2, 2, 2], f32> -> !graph.tensor<[3, 2], f32, #tile.panels<axis = 0, width = 2>>
    %b = tile.view %a : !graph.tensor<[3, 2], f32, #tile.panels<axis = 0, width = 2>> -> !graph.tensor<[2, 2, 2], f32>
    return %a, %b : !graph.tensor<[3, 2], f32, #tile.panels<axis = 0, width = 2>>, !graph.tensor<[2, 2, 2], f32>
  })",
                         {f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})});
  ASSERT_EQ(results.size(), 2u);
  expectNear(results[0], {1, 3, 2, 4, 5, 7});
  expectNear(results[1], {1, 2, 3, 4, 5, 0, 7, 0});
}

TEST_F(ShapeTest, Slice) {
  auto results = runMain(
      R"((%x: !graph.tensor<[n], f32>) -> (!graph.tensor<[n - 2], f32>, !graph.tensor<[n], f32>, !graph.tensor<[2], f32>,
                             !graph.tensor<[0], f32>) {
    %a = graph.slice %x starts [1] sizes [n - 2] steps [1] : !graph.tensor<[n], f32>
    %b = graph.slice %x starts [n - 1] sizes [n] steps [-1] : !graph.tensor<[n], f32>
    %c = graph.slice %x starts [1] sizes [2] steps [2] : !graph.tensor<[n], f32>
    %d = graph.slice %x starts [n] sizes [0] steps [1] : !graph.tensor<[n], f32>
    return %a, %b, %c, %d : !graph.tensor<[n - 2], f32>, !graph.tensor<[n], f32>, !graph.tensor<[2], f32>, !graph.tensor<[0], f32>
  })",
      {f32({5}, {1, 2, 3, 4, 5})});
  ASSERT_EQ(results.size(), 4u);
  expectNear(results[0], {2, 3, 4});
  expectNear(results[1], {5, 4, 3, 2, 1});
  expectNear(results[2], {2, 4});
  expectNear(results[3], {});
}

TEST_F(ShapeTest, Pad) {
  auto results = runMain(
      R"((%x: !graph.tensor<[n], f32>, %v: !graph.tensor<[], f32>) -> (!graph.tensor<[n + 3], f32>, !graph.tensor<[n - 2], f32>,
                             !graph.tensor<[max(3*n - 2, 0) - 1], f32>) {
    %a = graph.pad %x, %v low [1] high [2] interior [0] : !graph.tensor<[n], f32>, !graph.tensor<[], f32>
    %b = graph.pad %x, %v low [-1] high [-1] interior [0] : !graph.tensor<[n], f32>, !graph.tensor<[], f32>
    %c = graph.pad %x, %v low [-2] high [1] interior [2] : !graph.tensor<[n], f32>, !graph.tensor<[], f32>
    return %a, %b, %c : !graph.tensor<[n + 3], f32>, !graph.tensor<[n - 2], f32>, !graph.tensor<[max(3*n - 2, 0) - 1], f32>
  })",
      {f32({3}, {1, 2, 3}), f32({}, {9})});
  ASSERT_EQ(results.size(), 3u);
  expectNear(results[0], {9, 1, 2, 3, 9, 9});
  expectNear(results[1], {2});
  expectNear(results[2], {9, 2, 9, 9, 3, 9}); // 1 9 9 2 9 9 3 without the first two, and one more
}

TEST_F(ShapeTest, PadOfTwoDimensions) {
  auto results = runMain(R"((%x: !graph.tensor<[2, 2], f32>, %v: !graph.tensor<[], f32>) -> !graph.tensor<[3, 3], f32> {
    %a = graph.pad %x, %v low [1, 0] high [0, 1] interior [0, 0] : !graph.tensor<[2, 2], f32>, !graph.tensor<[], f32>
    return %a : !graph.tensor<[3, 3], f32>
  })",
                         {f32({2, 2}, {1, 2, 3, 4}), f32({}, {0})});
  ASSERT_EQ(results.size(), 1u);
  expectNear(results[0], {0, 0, 0, 1, 2, 0, 3, 4, 0});
}

TEST_F(ShapeTest, ConcatSizesIota) {
  auto results =
      runMain(R"((%x: !graph.tensor<[2, n], i64>) -> (!graph.tensor<[2, n + 3], i64>, !graph.tensor<[2], i64>) {
    %i = graph.iota 1 : !graph.tensor<[2, 3], i64>
    %c = graph.concat %x, %i axis 1 : !graph.tensor<[2, n], i64>, !graph.tensor<[2, 3], i64>
    %s = graph.sizes [n, 2*n - 5]
    return %c, %s : !graph.tensor<[2, n + 3], i64>, !graph.tensor<[2], i64>
  })",
              {i64({2, 1}, {7, 8})});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(integers(results[0]), (std::vector<int64_t>{7, 0, 1, 2, 8, 0, 1, 2}));
  EXPECT_EQ(integers(results[1]), (std::vector<int64_t>{1, -3}));
}

TEST_F(ShapeTest, Weight) {
  std::vector<float> elements = {1.5f, 2.5f};
  weights.add("w", mlir::Float32Type::get(&context), {2},
              {reinterpret_cast<const char *>(elements.data()), sizeof(float) * elements.size()});
  auto results = runMain(R"(() -> !graph.tensor<[2], f32> {
    %w = graph.weight "w" : !graph.tensor<[2], f32>
    return %w : !graph.tensor<[2], f32>
  })",
                         {});
  ASSERT_EQ(results.size(), 1u);
  expectNear(results[0], {1.5, 2.5});
  EXPECT_EQ(getError(R"(func.func @main() -> !graph.tensor<[2], f32> {
    %w = graph.weight "v" : !graph.tensor<[2], f32>
    return %w : !graph.tensor<[2], f32>
  })"),
            "there is no weight 'v'");
}

// Random123's known answer of philox4x32x10 for a counter and key of zeros: uses all four words.
TEST_F(ShapeTest, RandomBits) {
  auto results = runMain(R"(() -> (!graph.tensor<[5], ui32>, !graph.tensor<[2, 1], ui64>) {
    %k = graph.constant dense<0> : tensor<4xui32> -> !graph.tensor<[4], ui32>
    %r = graph.random_bits %k : !graph.tensor<[4], ui32> -> !graph.tensor<[5], ui32>
    %s = graph.random_bits %k : !graph.tensor<[4], ui32> -> !graph.tensor<[2, 1], ui64>
    return %r, %s : !graph.tensor<[5], ui32>, !graph.tensor<[2, 1], ui64>
  })",
                         {});
  ASSERT_EQ(results.size(), 2u);
  std::vector<int64_t> words = integers(results[0]), wide = integers(results[1]);
  ASSERT_EQ(words.size(), 5u);
  EXPECT_EQ(std::vector(words.begin(), words.end() - 1),
            (std::vector<int64_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(words[4], random::streamWord({}, 4));
  EXPECT_EQ(static_cast<uint64_t>(wide[0]), 0xe169c58d6627e8d5u);
  EXPECT_EQ(static_cast<uint64_t>(wide[1]), 0x9b00dbd8bc57ac4cu);
}

TEST_F(ShapeTest, MatchShapeNamesValueExpectedAndActual) {
  constexpr llvm::StringRef text = R"(func.func @main(%x: !graph.tensor<[n, k], f32>) -> !graph.tensor<[n, 2*n], f32> {
    %y = graph.match_shape %x label "mask" : !graph.tensor<[n, k], f32> -> !graph.tensor<[n, 2*n], f32>
    return %y : !graph.tensor<[n, 2*n], f32>
  })";
  EXPECT_EQ(getError(text, {f32({1, 2}, {1, 2})}), "");
  EXPECT_EQ(getError(text, {f32({1, 3}, {1, 2, 3})}), "the value 'mask' has size 3 at dimension 1, expected 2*n = 2");
}

TEST_F(ShapeTest, MatchShapeBinds) {
  auto results = runMain(R"((%x: !graph.tensor<[n + 1], f32>, %y: !graph.tensor<[n], f32>) -> !graph.tensor<[1], i64> {
    %a = graph.match_shape %x : !graph.tensor<[n + 1], f32> -> !graph.tensor<[m], f32>
    %s = graph.sizes [m*10 + n]
    return %s : !graph.tensor<[1], i64>
  })",
                         {f32({3}, {1, 2, 3}), f32({2}, {1, 2})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(integers(results[0]), std::vector<int64_t>{32});
}

TEST_F(ShapeTest, InputsAreCheckedAgainstEachOther) {
  constexpr llvm::StringRef text =
      R"(func.func @main(%x: !graph.tensor<[n], f32> {graph.name = "left"}, %y: !graph.tensor<[n], f32> {graph.name = "right"}) { return })";
  EXPECT_EQ(getError(text, {f32({1}, {1}), f32({2}, {1, 2})}),
            "input 'right' has size 2 at dimension 0, expected n = 1");
}

TEST_F(ShapeTest, SizesAreCheckedAgainstTheirBounds) {
  constexpr llvm::StringRef text =
      R"(func.func @main(%x: !graph.tensor<[n], f32>) attributes {graph.symbols = {n = #sym.bounds<[2, 8]>}} { return })";
  EXPECT_EQ(getError(text, {f32({2}, {1, 2})}), "");
  EXPECT_EQ(getError(text, {f32({1}, {1})}), "the size \"n\" is 1, outside of #sym.bounds<[2, 8]>");
}

TEST_F(ShapeTest, SizesBoundByElements) {
  auto results =
      run(R"(func.func @main(%x: !graph.tensor<[6], f32>, %s: !graph.tensor<[2], i64>) -> !graph.tensor<[a, b], f32>
      attributes {graph.value_symbols = {a = array<i64: 1, 0>, b = array<i64: 1, 1>}} {
    %y = graph.reshape %x : !graph.tensor<[6], f32> -> !graph.tensor<[a, b], f32>
    return %y : !graph.tensor<[a, b], f32>
  })",
          {f32({6}, {1, 2, 3, 4, 5, 6}), i64({2}, {3, 2})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].dims, (std::vector<int64_t>{3, 2}));
}

} // namespace
} // namespace freestone::interpreter
