#include "test/expressions/GraphFunction.h"

using namespace llvm;

namespace freestone::expressions {
namespace {

/// Expressions in an existing graph.
class GraphBuilderTest : public GraphFunction {
protected:
  void begin(ArrayRef<mlir::Type> arguments) {
    mlir::Block *block = GraphFunction::begin(arguments);
    builder.emplace(location(), mlir::OpBuilder::atBlockEnd(block));
  }
  Tensor argument(unsigned index) { return Tensor(*builder, function->getArgument(index)); }

  std::optional<GraphBuilder> builder;
};

double numberOf(Tensor tensor) {
  auto constant = tensor.value().getDefiningOp<graph::ConstantOp>();
  auto elements = cast<mlir::DenseElementsAttr>(constant.getValue());
  if (isa<mlir::FloatType>(elements.getElementType()))
    return elements.getSplatValue<APFloat>().convertToDouble();
  return elements.getSplatValue<APInt>().getSExtValue();
}

TEST_F(GraphBuilderTest, ArithmeticIsBuiltAsItIsWritten) {
  begin({f32({"b", "n"})});
  Tensor x = argument(0);
  Tensor normal = x * rsqrt(mean(square(x), {1}, /*keepDims=*/true) + 1e-5);
  EXPECT_EQ(normal.type(), f32({"b", "n"}));
  EXPECT_EQ(operations(), "binary reduce reshape sizes broadcast cast binary constant binary unary broadcast binary");
  EXPECT_EQ(verify(), "");
}

TEST_F(GraphBuilderTest, NumbersTakeTheTypeAndShapeOfTheTensorBesideThem) {
  begin({type({"n"}, mlir::BFloat16Type::get(&context)), i64({"n"})});
  Tensor half = beside(argument(0), 0.1), whole = beside(argument(1), 7.0);
  EXPECT_EQ(half.type(), argument(0).type());
  EXPECT_EQ(numberOf(half), 0.10009765625);
  EXPECT_EQ(whole.type(), i64({"n"}));
  EXPECT_EQ(numberOf(whole), 7);
  EXPECT_EQ(builder->scalar(2049, builder->getF16Type()).type(), type({}, builder->getF16Type()));
  EXPECT_EQ(numberOf(builder->scalar(2049, builder->getF16Type())), 2048);
  EXPECT_EQ(verify(), "");
}

TEST_F(GraphBuilderTest, WhatChangesNothingIsNotBuilt) {
  begin({f32({"n", "1"})});
  Tensor x = argument(0);
  EXPECT_EQ((x * 1.0).value(), x.value());
  EXPECT_EQ(reshape(x, x.shape()), x);
  EXPECT_EQ(transpose(x, {0, 1}), x);
  EXPECT_EQ(sum(x, {}), x);
  EXPECT_EQ(cast(x, x.elementType()), x);
  EXPECT_EQ(widen(x), x);
  EXPECT_EQ((-(-x)).value(), x.value());
}

TEST_F(GraphBuilderTest, SizesAreNumbersWhereTheyAreWritten) {
  begin({f32({"n"}), f32({"8"})});
  Tensor symbolic = argument(0) / (argument(0).dim(0) * 2);
  EXPECT_EQ(operations(), "sizes broadcast cast binary");
  EXPECT_EQ(symbolic.type(), f32({"n"}));
  Tensor constant = argument(1) / argument(1).dim(0);
  EXPECT_EQ(constant.type(), f32({"8"}));
  EXPECT_EQ(operations(), "sizes broadcast cast binary constant cast binary");
  EXPECT_EQ(numberOf(builder->scalar(size("3"), builder->getF32Type())), 3);
  EXPECT_EQ(verify(), "");
}

TEST_F(GraphBuilderTest, OperandsBroadcastAsInNumpy) {
  begin({f32({"b", "1", "n"}), f32({"m", "1"}), f32({})});
  EXPECT_EQ((argument(0) + argument(1)).type(), f32({"b", "m", "n"}));
  EXPECT_EQ((argument(1) < argument(2)).type(), type({"m", "1"}, builder->getI1Type()));
  EXPECT_EQ(select(argument(1) < argument(2), argument(0), 0.0).type(), f32({"b", "m", "n"}));
  EXPECT_EQ(verify(), "");
}

TEST_F(GraphBuilderTest, ShapesAreSymbolic) {
  begin({f32({"b", "4*s", "h"})});
  Tensor x = argument(0);
  EXPECT_EQ(reshape(x, shape({"b", "s", "4", "h"})).type(), f32({"b", "s", "4", "h"}));
  EXPECT_EQ(transpose(x, {2, 0, 1}).type(), f32({"h", "b", "4*s"}));
  EXPECT_EQ(transpose(transpose(x, {2, 0, 1}), invert({2, 0, 1})).type(), x.type());
  EXPECT_EQ(slice(x, 1, size("s"), size("2*s")).type(), f32({"b", "2*s", "h"}));
  EXPECT_EQ(reverse(x, {0, 2}).type(), x.type());
  EXPECT_EQ(pad(x, shape({"0", "s", "0"}), shape({"0", "1", "0"}), 0).type(), f32({"b", "5*s + 1", "h"}));
  EXPECT_EQ(concat({x, x}, 2).type(), f32({"b", "4*s", "2*h"}));
  EXPECT_EQ(squeeze(unsqueeze(x, {0, -1}), {0, -1}).type(), x.type());
  EXPECT_EQ(repeat(sum(x, {1}), x.shape(), 1).type(), x.type());
  EXPECT_EQ(sum(x).type(), f32({}));
  EXPECT_EQ(maximum(x, {-1}, /*keepDims=*/true).type(), f32({"b", "4*s", "1"}));
  EXPECT_EQ(iota(*builder, shape({"b", "s"}), 1, builder->getI64Type()).type(), i64({"b", "s"}));
  EXPECT_EQ(verify(), "");
}

TEST_F(GraphBuilderTest, IndicesReadAndWrite) {
  begin({f32({"v", "h"}), type({"b", "t"}, mlir::IntegerType::get(&context, 8)), i64({"k", "h"}), f32({"k", "h"})});
  Tensor table = argument(0), narrow = argument(1), places = argument(2), updates = argument(3);
  EXPECT_EQ(gather(table, narrow, 0).type(), f32({"b", "t", "h"}));
  EXPECT_EQ(gatherElements(table, places, 0).type(), f32({"k", "h"}));
  EXPECT_EQ(scatterElements(table, places, updates, 0, ScatterKind::add).type(), table.type());
  Tensor rows = iota(*builder, shape({"k", "1"}), 0, builder->getI64Type());
  EXPECT_EQ(gatherNd(table, rows).type(), f32({"k", "h"}));
  EXPECT_EQ(scatterNd(table, rows, updates, ScatterKind::none).type(), table.type());
  EXPECT_EQ(verify(), "");
}

TEST_F(GraphBuilderTest, ProductsAndWindows) {
  begin({f32({"b", "m", "k"}), f32({"k", "n"}), f32({"b", "8", "h", "w"}), f32({"6", "4", "3", "3"})});
  EXPECT_EQ(matmul(argument(0), argument(1)).type(), f32({"b", "m", "n"}));
  EXPECT_EQ(contract(argument(0), argument(0), {{0}, {0}, {1}, {1}}).type(), f32({"b", "k", "k"}));
  Window window{{3, 3}, {1, 1}, {1, 1}, shape({"1", "1"}), shape({"1", "1"})};
  EXPECT_EQ(convolve(argument(2), argument(3), window, {1, 1}, 2).type(), f32({"b", "6", "h", "w"}));
  EXPECT_EQ(windowReduce(ReduceKind::max, argument(2), window).type(), argument(2).type());
  EXPECT_EQ(verify(), "");
}

TEST_F(GraphBuilderTest, SizesThatDoNotAgreeDoNotVerify) {
  begin({f32({"a"}), f32({"b"})});
  (void)(argument(0) + argument(1));
  EXPECT_FALSE(builder->stopped());
  EXPECT_NE(verify(), "");
}

TEST_F(GraphBuilderTest, TheFirstReasonStaysAndNothingFollowsIt) {
  begin({f32({"n"}), i64({"n"})});
  Tensor wrong = exp(argument(0) + argument(1)) * 2.0;
  EXPECT_FALSE(wrong);
  EXPECT_FALSE(wrong.value());
  EXPECT_FALSE(sum(reshape(wrong, {})));
  EXPECT_FALSE(sqrt(argument(1)));
  std::optional<Refusal> refusal = builder->takeRefusal();
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->kind, Refusal::Kind::Invalid);
  EXPECT_EQ(refusal->reason, "the operands have different types: f32 and i64");
  EXPECT_EQ(operations(), "");
  EXPECT_FALSE(builder->stopped());
}

TEST_F(GraphBuilderTest, CountsOfDataNeedAFunctionOfOnesOwn) {
  begin({f32({"n"})});
  (void)nonZero(argument(0));
  std::optional<Refusal> refusal = builder->takeRefusal();
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->kind, Refusal::Kind::Unsupported);
}

} // namespace
} // namespace freestone::expressions
