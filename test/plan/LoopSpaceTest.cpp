#include "compiler/plan/IndexMaps.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace freestone;
using freestone::sym::Expr;

namespace {

class LoopSpaceTest : public ::testing::Test {
protected:
  LoopSpaceTest() { context.loadDialect<sym::SymDialect, tile::TileDialect>(); }

  Expr size(StringRef text) { return *sym::parseExpr(&context, text); }
  SmallVector<Expr> shape(ArrayRef<StringRef> texts) {
    return llvm::map_to_vector(texts, [&](StringRef text) { return size(text); });
  }
  Expr loop(unsigned number) { return tile::getLoopSymbol(&context, number); }

  MLIRContext context;
  sym::Bounds sizes{sym::Interval::size()};
};

TEST_F(LoopSpaceTest, SplitOfAConstantInnerDimensionStaysLinear) {
  tile::LoopSpace space(shape({"b", "s", "6", "64"}), sizes);
  SmallVector<Expr> indices =
      space.reshape({loop(0), loop(1), loop(2), loop(3)}, shape({"b", "s", "6", "64"}), shape({"b", "s", "384"}));
  EXPECT_EQ(indices[0], loop(0));
  EXPECT_EQ(indices[1], loop(1));
  EXPECT_EQ(indices[2], loop(2) * 64 + loop(3));
}

TEST_F(LoopSpaceTest, MergeAndSplitAgainIsNothing) {
  SmallVector<Expr> split = shape({"b", "6", "s", "64"}), merged = shape({"6*b", "s", "64"});
  tile::LoopSpace space(split, sizes);
  SmallVector<Expr> loops = {loop(0), loop(1), loop(2), loop(3)};
  EXPECT_EQ(space.reshape(space.reshape(loops, split, merged), merged, split), loops);
}

TEST_F(LoopSpaceTest, SymbolicDigitsAreTold) {
  SmallVector<Expr> split = shape({"b", "s"}), merged = shape({"b*s"});
  tile::LoopSpace space(split, sizes);
  SmallVector<Expr> loops = {loop(0), loop(1)};
  EXPECT_EQ(space.reshape(space.reshape(loops, split, merged), merged, split), loops);
}

TEST_F(LoopSpaceTest, DimensionsOfOneCarryNothing) {
  tile::LoopSpace space(shape({"b", "1", "s"}), sizes);
  SmallVector<Expr> indices =
      space.reshape({loop(0), loop(1), loop(2)}, shape({"b", "1", "s"}), shape({"b", "s", "1"}));
  EXPECT_EQ(indices[0], loop(0));
  EXPECT_EQ(indices[1], loop(2));
  EXPECT_TRUE(indices[2].isConstant(0));
}

TEST_F(LoopSpaceTest, WhatLoopsCanNotDecideStays) {
  tile::LoopSpace space(shape({"n"}), sizes);
  SmallVector<Expr> indices = space.reshape({loop(0)}, shape({"n"}), shape({"n floordiv 4", "4"}));
  EXPECT_EQ(indices[1], loop(0) - Expr::floorDiv(loop(0), 4) * 4);
}

TEST_F(LoopSpaceTest, MapsGoThereAndBack) {
  tile::IndexMapBuilder builder(&context, 3);
  SmallVector<Expr> indices = {loop(0) * size("4*h") + loop(2) + size("k"), Expr::floorDiv(loop(1), 8)};
  FailureOr<AffineMap> map = builder.getMap(indices);
  ASSERT_TRUE(succeeded(map));
  EXPECT_EQ(tile::getIndices(*map, builder.getSymbols()), indices);
}

TEST_F(LoopSpaceTest, ProductsOfLoopsAreNoMap) {
  tile::IndexMapBuilder builder(&context, 2);
  EXPECT_TRUE(failed(builder.getMap({loop(0) * loop(1)})));
}

TEST_F(LoopSpaceTest, LinearIndexHasStrides) {
  std::optional<tile::LinearIndex> linear = tile::asLinear(loop(0) * size("s*384") + loop(1) * 64 + size("128"), 3);
  ASSERT_TRUE(linear);
  EXPECT_EQ(linear->strides[0], size("384*s"));
  EXPECT_EQ(linear->strides[1], size("64"));
  EXPECT_TRUE(linear->strides[2].isConstant(0));
  EXPECT_EQ(linear->offset, size("128"));
  EXPECT_FALSE(tile::asLinear(Expr::floorDiv(loop(0), 3), 3));
}

} // namespace
