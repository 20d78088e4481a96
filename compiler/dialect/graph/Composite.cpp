#include "compiler/dialect/graph/ShapeRules.h"

using namespace mlir;

namespace freestone::graph {

namespace {

/// Shape rule of composites whose result has the type of their operand.
FailureOr<TensorType> deduceAlong(TensorType type, int64_t axis, Refusal refuse) {
  if (!isFloat(type.getElementType()))
    return refuse("needs floats, not ", type);
  if (!hasAxis(type, axis))
    return refuse("has no axis ", axis, " in ", type);
  return type;
}

} // namespace

FailureOr<TensorType> SoftmaxOp::deduce(Adaptor op, Refusal refuse) {
  return deduceAlong(typeOf(op.getOperand()), op.getAxis(), refuse);
}

FailureOr<TensorType> LogSoftmaxOp::deduce(Adaptor op, Refusal refuse) {
  return deduceAlong(typeOf(op.getOperand()), op.getAxis(), refuse);
}

FailureOr<TensorType> LayerNormOp::deduce(Adaptor op, Refusal refuse) {
  return deduceAlong(typeOf(op.getOperand()), op.getAxis(), refuse);
}

FailureOr<TensorType> RmsNormOp::deduce(Adaptor op, Refusal refuse) {
  return deduceAlong(typeOf(op.getOperand()), op.getAxis(), refuse);
}

FailureOr<TensorType> GeluOp::deduce(Adaptor op, Refusal refuse) {
  TensorType type = typeOf(op.getOperand());
  if (!isFloat(type.getElementType()))
    return refuse("needs floats, not ", type);
  return type;
}

void AttentionOp::build(OpBuilder &builder, OperationState &state, Value query, Value key, Value value, Value mask,
                        double scale, sym::Expr causal, double softcap) {
  build(builder, state, query, key, value, mask, APFloat(scale), causal ? causal.attr() : sym::ExprAttr(),
        APFloat(softcap));
}

FailureOr<TensorType> AttentionOp::deduce(Adaptor op, Refusal refuse) {
  TensorType query = typeOf(op.getQuery()), key = typeOf(op.getKey()), value = typeOf(op.getValue());
  int64_t rank = query.getRank();
  auto fits = [&](TensorType other) {
    return other.getRank() == rank && other.getElementType() == query.getElementType() &&
           other.getShape().drop_back(2) == query.getShape().drop_back(2);
  };
  if (rank < 2 || !isFloat(query.getElementType()) || !fits(key) || !fits(value) ||
      query.getShape().back() != key.getShape().back() || key.getDim(rank - 2) != value.getDim(rank - 2))
    return refuse("can't attend with ", query, " to ", key, " and ", value);
  SmallVector<sym::Expr> shape(query.getShape());
  shape.back() = key.getDim(rank - 2);
  if (op.getMask()) {
    TensorType mask = typeOf(op.getMask());
    if (mask.getShape() != ArrayRef(shape) || (mask != query.withShape(shape) && !isBool(mask.getElementType())))
      return refuse("needs a mask of bools or floats in the shape of ", query.withShape(shape), ", not ", mask);
  }
  shape.back() = value.getShape().back();
  return query.withShape(shape);
}

} // namespace freestone::graph
