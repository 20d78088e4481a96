#include "compiler/plan/Classify.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace freestone;
using tile::ProgramClass;

namespace {

class ClassifyTest : public ::testing::Test {
protected:
  ClassifyTest() {
    context
        .loadDialect<sym::SymDialect, graph::GraphDialect, tile::TileDialect, arith::ArithDialect, func::FuncDialect>();
  }

  /// The single compute of a function with these arguments and this body.
  tile::ComputeOp parse(StringRef arguments, StringRef compute) {
    std::string text = ("func.func @f(" + arguments + ") {\n  %r = " + compute + "\n  return\n}").str();
    module = parseSourceString<ModuleOp>(text, &context);
    tile::ComputeOp result;
    if (module)
      module->walk([&](tile::ComputeOp op) { result = op; });
    return result;
  }

  /// A sum of products with these loops and maps.
  tile::ComputeOp parseProduct(StringRef loops, StringRef arguments, StringRef operands, StringRef signature) {
    return parse(arguments, (loops + " ins(" + operands +
                             ") init [0.0 : f32] {\n"
                             "^bb0(%a: f32, %b: f32, %acc: f32):\n"
                             "  %p = arith.mulf %a, %b : f32\n"
                             "  %s = arith.addf %acc, %p : f32\n"
                             "  tile.yield %s : f32\n} : " +
                             signature)
                                .str());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ClassifyTest, MatrixProduct) {
  tile::ComputeOp op =
      parseProduct("tile.compute [m, n, k] [parallel, parallel, reduction]",
                   "%x: !graph.tensor<[m, k], f32>, %w: !graph.tensor<[k, n], f32>",
                   "%x : affine_map<(m, n, k) -> (m, k)>, %w : affine_map<(m, n, k) -> (k, n)>",
                   "(!graph.tensor<[m, k], f32>, !graph.tensor<[k, n], f32>) -> !graph.tensor<[m, n], f32>");
  ASSERT_TRUE(op);
  EXPECT_EQ(tile::classify(op), ProgramClass::contraction);
  std::optional<tile::ContractionDims> dims = tile::getContractionDims(op);
  ASSERT_TRUE(dims);
  EXPECT_EQ(dims->lhs, 0u);
  EXPECT_EQ(dims->rhs, 1u);
  EXPECT_EQ(dims->m, SmallVector<unsigned>({0}));
  EXPECT_EQ(dims->n, SmallVector<unsigned>({1}));
  EXPECT_EQ(dims->k, SmallVector<unsigned>({2}));
  EXPECT_TRUE(dims->batch.empty());
  EXPECT_EQ(dims->accumulate, tile::Accumulate::multiplyAdd);
}

TEST_F(ClassifyTest, HeadsAreDigitsOfOneIndexNotAWindow) {
  tile::ComputeOp op = parseProduct(
      "tile.compute [b, 6, s, t, 64] [parallel, parallel, parallel, parallel, reduction]",
      "%q: !graph.tensor<[b, s, 384], f32>, %k: !graph.tensor<[b, t, 384], f32>",
      "%q : affine_map<(b, h, m, n, k) -> (b, m, h * 64 + k)>, %k : affine_map<(b, h, m, n, k) -> (b, n, h * 64 + k)>",
      "(!graph.tensor<[b, s, 384], f32>, !graph.tensor<[b, t, 384], f32>) -> !graph.tensor<[b, 6, s, t], f32>");
  ASSERT_TRUE(op);
  EXPECT_EQ(tile::classify(op), ProgramClass::contraction);
  EXPECT_EQ(tile::getContractionDims(op)->batch, SmallVector<unsigned>({0, 1}));
}

TEST_F(ClassifyTest, TheImageIsTheVectorOperandOfAConvolution) {
  tile::ComputeOp op = parseProduct(
      "tile.compute [n, 8, 26, 26, 3, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]",
      "%x: !graph.tensor<[n, 3, 28, 28], f32>, %w: !graph.tensor<[8, 3, 3, 3], f32>",
      "%x : affine_map<(n, o, y, x, c, i, j) -> (n, c, y + i, x + j)>, %w : affine_map<(n, o, y, x, c, i, j) -> (o, c, "
      "i, j)>",
      "(!graph.tensor<[n, 3, 28, 28], f32>, !graph.tensor<[8, 3, 3, 3], f32>) -> !graph.tensor<[n, 8, 26, 26], f32>");
  ASSERT_TRUE(op);
  EXPECT_EQ(tile::classify(op), ProgramClass::convolution);
  std::optional<tile::ContractionDims> dims = tile::getContractionDims(op);
  EXPECT_EQ(dims->rhs, 0u);
  EXPECT_EQ(dims->batch, SmallVector<unsigned>({0}));
  EXPECT_EQ(dims->m, SmallVector<unsigned>({1}));
  EXPECT_EQ(dims->n, SmallVector<unsigned>({2, 3}));
  EXPECT_EQ(dims->k, SmallVector<unsigned>({4, 5, 6}));
}

TEST_F(ClassifyTest, MapsByHowTheyRead) {
  auto classify = [&](StringRef shape, StringRef map) {
    std::string type = ("!graph.tensor<" + shape + ", f32>").str();
    return tile::classify(
        parse("%x: " + type, "tile.compute [m, n] [parallel, parallel] ins(%x : affine_map<(m, n) -> " + map.str() +
                                 ">) {\n^bb0(%a: f32):\n  tile.yield %a : f32\n} : (" + type +
                                 ") -> !graph.tensor<[m, n], f32>"));
  };
  EXPECT_EQ(classify("[m, n]", "(m, n)"), ProgramClass::elementwise);
  EXPECT_EQ(classify("[n]", "(n)"), ProgramClass::broadcast);
  EXPECT_EQ(classify("[n, m]", "(n, m)"), ProgramClass::injective);
  EXPECT_EQ(classify("[2*m, n]", "(2 * m, n)"), ProgramClass::injective);
}

TEST_F(ClassifyTest, ASumIsAReduction) {
  tile::ComputeOp op =
      parse("%x: !graph.tensor<[m, n], f32>",
            "tile.compute [m, n] [parallel, reduction] ins(%x : affine_map<(m, n) -> (m, n)>) init [0.0 : f32] {\n"
            "^bb0(%a: f32, %acc: f32):\n  %s = arith.addf %acc, %a : f32\n  tile.yield %s : f32\n"
            "} : (!graph.tensor<[m, n], f32>) -> !graph.tensor<[m], f32>");
  ASSERT_TRUE(op);
  EXPECT_EQ(tile::classify(op), ProgramClass::reduction);
}

} // namespace
