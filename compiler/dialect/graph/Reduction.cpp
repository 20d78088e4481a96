#include "compiler/dialect/graph/ShapeRules.h"

using namespace mlir;

namespace freestone::graph {

static bool accepts(ReduceKind kind, Type type) {
  bool logical = kind == ReduceKind::and_ || kind == ReduceKind::or_;
  bool extremum = kind == ReduceKind::max || kind == ReduceKind::min;
  if (isFloat(type))
    return !logical;
  return !isBool(type) || logical || extremum;
}

/// The shape without some of its dimensions.
static TensorType dropDims(TensorType type, ArrayRef<int64_t> dims) {
  SmallVector<sym::Expr> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(type.getDim(dim));
  return type.withShape(shape);
}

FailureOr<TensorType> ReduceOp::deduce(Adaptor op, Refusal refuse) {
  TensorType type = typeOf(op.getOperand());
  if (!areDims(op.getAxes(), type))
    return refuse("names no dimensions of ", type, " to reduce");
  if (!accepts(op.getKind(), type.getElementType()))
    return refuse("has no '", stringifyReduceKind(op.getKind()), "' of ", type);
  return dropDims(type, op.getAxes());
}

OpFoldResult ReduceOp::fold(FoldAdaptor) { return getAxes().empty() ? getOperand() : Value(); }

FailureOr<TensorType> ArgReduceOp::deduce(Adaptor op, Refusal refuse) {
  TensorType type = typeOf(op.getOperand());
  int64_t axis = op.getAxis();
  if (!hasAxis(type, axis))
    return refuse("has no axis ", axis, " in ", type);
  return dropDims(type, axis).withElementType(IntegerType::get(type.getContext(), 64));
}

FailureOr<TensorType> CumulateOp::deduce(Adaptor op, Refusal refuse) {
  TensorType type = typeOf(op.getOperand());
  int64_t axis = op.getAxis();
  if (!hasAxis(type, axis))
    return refuse("has no axis ", axis, " in ", type);
  if (!accepts(op.getKind(), type.getElementType()))
    return refuse("has no '", stringifyReduceKind(op.getKind()), "' of ", type);
  return type;
}

} // namespace freestone::graph
