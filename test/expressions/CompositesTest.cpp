#include "compiler/expressions/Composites.h"
#include "test/expressions/GraphFunction.h"

using namespace mlir;

namespace freestone::expressions {
namespace {

using CompositesTest = GraphFunction;

TEST_F(CompositesTest, CompositesOfCompositesAreDecomposed) {
  Block *block = begin({f32({"b", "s", "64"}), f32({"b", "t", "64"})});
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  Value query = block->getArgument(0), key = block->getArgument(1);
  graph::SoftmaxOp::create(builder, location(), query, 2);
  graph::AttentionOp::create(builder, location(), query, key, key, Value(), 0.125, size("t - s"));
  EXPECT_EQ(decomposeComposites(*function, [](Operation *op) { return isa<graph::AttentionOp>(op); }), 1);
  EXPECT_EQ(decomposeComposites(*function), 1);
  function->walk(
      [](Operation *op) { EXPECT_FALSE(isa<graph::CompositeOpInterface>(op)) << op->getName().getStringRef().str(); });
  EXPECT_EQ(verify(), "");
}

TEST_F(CompositesTest, WhatIsNoCompositeStays) {
  Block *block = begin({f32({"n"})});
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  Operation *op = graph::UnaryOp::create(builder, location(), graph::UnaryKind::exp, block->getArgument(0));
  EXPECT_TRUE(failed(decompose(op, builder)));
  EXPECT_EQ(operations(), "unary");
}

} // namespace
} // namespace freestone::expressions
