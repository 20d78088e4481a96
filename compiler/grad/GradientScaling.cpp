#include "compiler/grad/GradientScaling.h"
#include "compiler/expressions/Expressions.h"

using namespace mlir;

namespace freestone::grad {

using namespace expressions;

Value buildAnyNonFinite(OpBuilder &opBuilder, Location location, ArrayRef<Value> gradients) {
  GraphBuilder builder(location, opBuilder);
  Tensor any = builder.scalar(0, builder.getI1Type());
  for (Value gradient : gradients) {
    Tensor g(builder, gradient);
    Tensor isFinite = abs(g) < std::numeric_limits<double>::infinity();
    any = any | reduce(ReduceKind::or_, logicalNot(isFinite), allAxes(g));
  }
  return any.value();
}

/// Sums of a gradient's squares, by rows.
static Tensor sumSquaresOfRows(Tensor g) {
  if (g.rank() < 2)
    g = reshape(g, {g.builder().size(1), g.rank() == 1 ? g.dim(0) : g.builder().size(1)});
  SmallVector<int64_t> inRows = llvm::to_vector(llvm::seq<int64_t>(1, g.rank()));
  return reduce(ReduceKind::add, square(widen(g)), inRows);
}

Value buildSumOfSquares(OpBuilder &opBuilder, Location location, Value gradient) {
  GraphBuilder builder(location, opBuilder);
  return sum(sumSquaresOfRows(Tensor(builder, gradient))).value();
}

Value buildNorm(OpBuilder &opBuilder, Location location, ArrayRef<Value> squares) {
  GraphBuilder builder(location, opBuilder);
  bool isDouble = llvm::any_of(squares, [](Value square) { return graph::getElementType(square).isF64(); });
  Type type = isDouble ? builder.getF64Type() : builder.getF32Type();
  Tensor total;
  for (Value square : squares) {
    Tensor next = cast(Tensor(builder, square), type);
    total = total ? total + next : next;
  }
  return total ? sqrt(total).value() : builder.scalar(0, type).value();
}

Value buildGlobalNorm(OpBuilder &opBuilder, Location location, ArrayRef<Value> gradients,
                      SmallVectorImpl<Value> *squaresOfEach, bool keepApart) {
  GraphBuilder builder(location, opBuilder);
  bool isDouble = llvm::any_of(gradients, [](Value gradient) { return graph::getElementType(gradient).isF64(); });
  Type type = isDouble ? builder.getF64Type() : builder.getF32Type();
  // Sums by rows first, for all gradients independently.
  SmallVector<Tensor> rows =
      llvm::map_to_vector(gradients, [&](Value gradient) { return sumSquaresOfRows(Tensor(builder, gradient)); });
  SmallVector<Value> squares;
  for (Tensor sums : rows) {
    Value square = cast(sum(sums), type).value();
    squares.push_back(keepApart ? graph::BarrierOp::create(builder, location, square).getResult() : square);
  }
  if (squaresOfEach)
    *squaresOfEach = squares;
  return squares.empty() ? builder.scalar(0, type).value() : buildNorm(opBuilder, location, squares);
}

Value buildClipFactor(OpBuilder &opBuilder, Location location, Value norm, Value maxNorm) {
  GraphBuilder builder(location, opBuilder);
  Tensor length(builder, norm);
  return min(cast(Tensor(builder, maxNorm), length.elementType()) / (length + 1e-6), 1.0).value();
}

Value buildScaled(OpBuilder &opBuilder, Location location, Value gradient, Value factor) {
  GraphBuilder builder(location, opBuilder);
  Tensor g = widen(Tensor(builder, gradient));
  return (g * cast(Tensor(builder, factor), g.elementType())).value();
}

LossScale buildLossScaleUpdate(OpBuilder &opBuilder, Location location, const LossScale &before, Value overflowedValue,
                               const LossScaleOptions &options) {
  GraphBuilder builder(location, opBuilder);
  Tensor scale(builder, before.scale), tracker(builder, before.growthTracker), overflowed(builder, overflowedValue);
  // The reference multiplies in double precision as well.
  Type wide = builder.getF64Type();
  auto numberOf = [&](const Number &number) {
    std::optional<double> constant = number.getConstant();
    return constant ? builder.scalar(*constant, wide) : cast(Tensor(builder, number.getValue()), wide);
  };
  auto scaledBy = [&](const Number &factor) { return cast(cast(scale, wide) * numberOf(factor), scale.elementType()); };
  Tensor successes = tracker + 1.0;
  Tensor isDue = equal(cast(successes, wide), numberOf(options.growthInterval));
  Tensor grown = scaledBy(options.growthFactor);
  // A scale that would become infinite is kept.
  Tensor good = select(isDue & (grown < std::numeric_limits<double>::infinity()), grown, scale);
  return {select(overflowed, scaledBy(options.backoffFactor), good).value(),
          select(overflowed | isDue, 0.0, successes).value()};
}

} // namespace freestone::grad
