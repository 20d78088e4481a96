#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/graph/Unify.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace freestone::graph {
namespace {

/// A function with arguments of given types, and a builder at its end.
class GraphTest : public testing::Test {
protected:
  GraphTest() : builder(&context), location(builder.getUnknownLoc()) {
    DialectRegistry registry;
    registerGraphDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  sym::Expr size(StringRef text) { return *sym::parseExpr(&context, text); }
  TensorType type(ArrayRef<StringRef> shape, Type elementType) {
    return TensorType::get(llvm::map_to_vector(shape, [&](StringRef text) { return size(text); }), elementType);
  }
  TensorType f32(ArrayRef<StringRef> shape) { return type(shape, builder.getF32Type()); }

  void begin(ArrayRef<Type> arguments) {
    builder.clearInsertionPoint();
    function = func::FuncOp::create(builder, location, "f", builder.getFunctionType(arguments, {}));
    builder.setInsertionPointToStart(function->addEntryBlock());
  }
  Value argument(unsigned index) { return function->getArgument(index); }
  /// The verifier's diagnostic; empty if it succeeds.
  std::string verify() {
    func::ReturnOp::create(builder, location);
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
    (void)mlir::verify(*function);
    return message;
  }

  MLIRContext context;
  OpBuilder builder;
  Location location;
  OwningOpRef<func::FuncOp> function;
};

TEST_F(GraphTest, BuildersDeduceTypes) {
  begin({f32({"b", "s", "64"}), f32({"64", "n"}), type({"t"}, builder.getI64Type())});
  Value x = argument(0), w = argument(1), i = argument(2);
  EXPECT_EQ(UnaryOp::create(builder, location, UnaryKind::exp, x).getType(), x.getType());
  EXPECT_EQ(UnaryOp::create(builder, location, UnaryKind::isnan, x).getType(),
            type({"b", "s", "64"}, builder.getI1Type()));
  EXPECT_EQ(ContractOp::create(builder, location, x, w, {}, {}, {2}, {0}).getType(), f32({"b", "s", "n"}));
  EXPECT_EQ(ReduceOp::create(builder, location, ReduceKind::add, x, {0, 2}).getType(), f32({"s"}));
  EXPECT_EQ(TransposeOp::create(builder, location, x, {2, 0, 1}).getType(), f32({"64", "b", "s"}));
  EXPECT_EQ(GatherOp::create(builder, location, x, i, 1).getType(), f32({"b", "t", "64"}));
  EXPECT_EQ(ConcatOp::create(builder, location, ValueRange{x, x, x}, 1).getType(), f32({"b", "3*s", "64"}));
  EXPECT_EQ(SizesOp::create(builder, location, {size("b"), size("2*s")}).getType(), type({"2"}, builder.getI64Type()));
  EXPECT_EQ(SizesOp::create(builder, location, size("b"), true).getType(), type({}, builder.getI64Type()));
  EXPECT_EQ(CastOp::create(builder, location, x, builder.getF16Type()).getType(),
            type({"b", "s", "64"}, builder.getF16Type()));
  TopKOp top = TopKOp::create(builder, location, x, 1, size("k"));
  EXPECT_EQ(top.getValues().getType(), f32({"b", "k", "64"}));
  EXPECT_EQ(top.getIndices().getType(), type({"b", "k", "64"}, builder.getI64Type()));
  NonZeroOp nonZero = NonZeroOp::create(builder, location, x, size("found"));
  EXPECT_EQ(nonZero.getType(), type({"3", "found"}, builder.getI64Type()));
  EXPECT_EQ(verify(), "");
}

TEST_F(GraphTest, SizesOfWindowsAndPadding) {
  begin({f32({"n", "3", "h", "w"}), f32({"8", "3", "3", "3"}), f32({})});
  Value x = argument(0);
  sym::Expr zero = size("0"), one = size("1");
  EXPECT_EQ(ConvolveOp::create(builder, location, x, argument(1), {1, 2}, {1, 1}, {1, 1}, {one, one}, {one, one}, 1)
                .getType(),
            f32({"n", "8", "h", "(w - 1) floordiv 2 + 1"}));
  EXPECT_EQ(ConvolveOp::create(builder, location, x, argument(1), {1, 1}, {1, 1}, {2, 2}, {one, one}, {one, one}, 1)
                .getType(),
            f32({"n", "8", "2*h - 1", "2*w - 1"}));
  EXPECT_EQ(WindowOp::create(builder, location, ReduceKind::max, x, {2, 2}, {2, 2}, {1, 1}, {zero, zero}, {zero, zero})
                .getType(),
            f32({"n", "3", "h floordiv 2", "w floordiv 2"}));
  EXPECT_EQ(PadOp::create(builder, location, x, argument(2), {zero, zero, one, one}, {zero, zero, one, size("-1")},
                          {0, 0, 0, 0})
                .getType(),
            f32({"n", "3", "h + 2", "w"}));
  EXPECT_EQ(verify(), "");
}

// A wrong model must not end the process: a refused operator is built, and fails verification.
TEST_F(GraphTest, WhatIsRefusedDoesNotVerify) {
  begin({f32({"n"}), f32({"m"})});
  BinaryOp::create(builder, location, BinaryKind::add, argument(0), argument(1));
  EXPECT_EQ(
      verify(),
      "'graph.binary' op needs operands of one type, not '!graph.tensor<[n], f32>' and '!graph.tensor<[m], f32>'");
  begin({f32({"n"})});
  ReduceOp::create(builder, location, ReduceKind::add, argument(0), {3});
  EXPECT_EQ(verify(), "'graph.reduce' op names no dimensions of '!graph.tensor<[n], f32>' to reduce");
  begin({f32({"n"})});
  TopKOp::create(builder, location, argument(0), 7, size("1"));
  EXPECT_EQ(verify(), "'graph.top_k' op has no axis 7 in '!graph.tensor<[n], f32>'");
  begin({f32({"n"})});
  ConcatOp::create(builder, location, ValueRange(), 0);
  EXPECT_EQ(verify(), "'graph.concat' op needs an operand");
}

TEST_F(GraphTest, Constants) {
  begin({});
  TensorType bytes = type({"n"}, builder.getIntegerType(8, false)), half = type({"n"}, builder.getF16Type());
  auto valueOf = [](ConstantOp op) { return cast<DenseElementsAttr>(op.getValue()); };
  EXPECT_EQ(valueOf(ConstantOp::create(builder, location, bytes, 255)).getSplatValue<APInt>().getZExtValue(), 255u);
  EXPECT_EQ(valueOf(ConstantOp::create(builder, location, half, 2049.0)).getSplatValue<APFloat>().convertToFloat(),
            2048.0f);
  EXPECT_EQ(valueOf(ConstantOp::create(builder, location, half, 3)).getSplatValue<APFloat>().convertToFloat(), 3.0f);
  auto list = DenseElementsAttr::get(RankedTensorType::get({3}, builder.getI64Type()), ArrayRef<int64_t>{1, 2, 3});
  EXPECT_EQ(ConstantOp::create(builder, location, list).getType(), type({"3"}, builder.getI64Type()));
  EXPECT_EQ(verify(), "");
}

TEST_F(GraphTest, CallsUnifySymbols) {
  FunctionType callee = builder.getFunctionType({f32({"n", "k"}), f32({"k", "n + 1"})}, {f32({"n*k"}), f32({"fresh"})});
  FailureOr<SmallVector<Type>> results = deduceCall(callee, {f32({"4*b", "8"}), f32({"8", "4*b + 1"})});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ((*results)[0], f32({"32*b"}));
  EXPECT_EQ((*results)[1], f32({"fresh"}));
  std::string error;
  EXPECT_TRUE(failed(deduceCall(callee, {f32({"4*b", "8"}), f32({"8", "4*b"})}, &error)));
  EXPECT_EQ(error, "has size 4*b at dimension 1 of !graph.tensor<[8, 4*b], f32> where 4*b + 1 is expected");
}

} // namespace
} // namespace freestone::graph
