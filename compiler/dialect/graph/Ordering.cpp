#include "compiler/dialect/graph/ShapeRules.h"

using namespace mlir;

namespace freestone::graph {

static Type getIndexType(MLIRContext *context) { return IntegerType::get(context, 64); }

void TopKOp::build(OpBuilder &builder, OperationState &state, Value operand, int64_t axis, sym::Expr k, bool smallest) {
  build(builder, state, operand, static_cast<uint64_t>(axis), k.attr(), smallest);
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor op,
                                       SmallVectorImpl<Type> &types) {
  TensorType type = typeOf(op.getOperand());
  if (hasAxis(type, op.getAxis())) {
    SmallVector<sym::Expr> shape(type.getShape());
    shape[op.getAxis()] = op.getK().getExpr();
    type = type.withShape(shape);
  }
  types.append({type, type.withElementType(getIndexType(context))});
  return success();
}

LogicalResult TopKOp::verify() {
  TensorType type = typeOf(getOperand());
  if (!hasAxis(type, getAxis()))
    return emitOpError("has no axis ") << static_cast<int64_t>(getAxis()) << " in " << type;
  std::optional<int64_t> missing = (getK().getExpr() - type.getDim(getAxis())).asConstant();
  if (missing && *missing > 0)
    return emitOpError("can't take ") << getK().getExpr().str() << " elements along axis "
                                      << static_cast<int64_t>(getAxis()) << " of " << type;
  return success();
}

LogicalResult SortOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor op,
                                       SmallVectorImpl<Type> &types) {
  TensorType type = typeOf(op.getOperand());
  types.append({type, type.withElementType(getIndexType(context))});
  return success();
}

LogicalResult SortOp::verify() {
  if (!hasAxis(typeOf(getOperand()), getAxis()))
    return emitOpError("has no axis ") << static_cast<int64_t>(getAxis()) << " in " << getOperand().getType();
  return success();
}

FailureOr<TensorType> SuppressOp::deduce(Adaptor op, Refusal refuse) {
  TensorType boxes = typeOf(op.getBoxes()), scores = typeOf(op.getScores()), limit = typeOf(op.getLimit());
  auto isReal = [](TensorType type, int64_t rank) { return type.getElementType().isF32() && type.getRank() == rank; };
  if (!isReal(boxes, 3) || !isReal(scores, 3) || !boxes.getDim(2).isConstant(4) ||
      boxes.getDim(0) != scores.getDim(0) || boxes.getDim(1) != scores.getDim(2))
    return refuse("needs boxes [b, n, 4] and scores [b, c, n] of f32, not ", boxes, " and ", scores);
  if (!limit.getElementType().isSignlessInteger(64) || limit.getRank() != 0 || !isReal(typeOf(op.getOverlap()), 0) ||
      !isReal(typeOf(op.getThreshold()), 0))
    return refuse("needs a limit of i64 and an overlap and a threshold of f32, each of rank 0");
  return scores.withElementType(IntegerType::get(limit.getContext(), 32));
}

void NonZeroOp::build(OpBuilder &builder, OperationState &state, Value operand, sym::Expr count) {
  sym::Expr rank = sym::Expr::constant(builder.getContext(), typeOf(operand).getRank());
  build(builder, state, TensorType::get({rank, count}, builder.getI64Type()), operand);
}

LogicalResult NonZeroOp::verify() {
  TensorType type = getType();
  if (!type.getElementType().isSignlessInteger(64) || type.getRank() != 2 ||
      !type.getDim(0).isConstant(typeOf(getOperand()).getRank()))
    return emitOpError("gives i64 coordinates [rank, n] of ") << getOperand().getType() << ", not " << type;
  return success();
}

void NonZeroOp::collectBound(SmallVectorImpl<sym::Expr> &bound) { bound.push_back(getType().getDim(1)); }

void CountToOp::build(OpBuilder &builder, OperationState &state, Value number, sym::Expr count, StringRef complaint) {
  state.addOperands(number);
  state.addTypes(TensorType::get({count}, builder.getI64Type()));
  if (!complaint.empty())
    state.getOrAddProperties<Properties>().complaint = builder.getStringAttr(complaint);
}

LogicalResult CountToOp::verify() {
  TensorType number = typeOf(getNumber()), type = getType();
  if (number.getRank() != 0 || !number.getElementType().isSignlessInteger(64) || type.getRank() != 1 ||
      type.getElementType() != number.getElementType())
    return emitOpError("gives i64 numbers [n] of an i64 scalar, not ") << type << " of " << number;
  return success();
}

void CountToOp::collectBound(SmallVectorImpl<sym::Expr> &bound) { bound.push_back(getType().getDim(0)); }

/// The type with the size of one dimension replaced.
static TensorType resize(TensorType type, int64_t axis, sym::Expr size) {
  SmallVector<sym::Expr> shape(type.getShape());
  shape[axis] = size;
  return type.withShape(shape);
}

void CompressOp::build(OpBuilder &builder, OperationState &state, Value operand, Value condition, int64_t axis,
                       sym::Expr count) {
  TensorType type = typeOf(operand);
  build(builder, state, hasAxis(type, axis) ? resize(type, axis, count) : type, operand, condition, axis);
}

LogicalResult CompressOp::verify() {
  TensorType type = typeOf(getOperand()), condition = typeOf(getCondition()), result = getType();
  int64_t axis = getAxis();
  if (!isBool(condition.getElementType()) || condition.getRank() != 1)
    return emitOpError("needs a condition of bools of rank 1, not ") << condition;
  if (!hasAxis(type, axis) || result.getRank() != type.getRank() || result != resize(type, axis, result.getDim(axis)))
    return emitOpError("can't make ") << result << " of " << type << " along axis " << axis;
  return success();
}

void CompressOp::collectBound(SmallVectorImpl<sym::Expr> &bound) { bound.push_back(getType().getDim(getAxis())); }

void UniqueOp::build(OpBuilder &builder, OperationState &state, Value operand, int64_t axis, bool sorted,
                     sym::Expr count) {
  TensorType type = typeOf(operand);
  Type i64 = builder.getI64Type();
  bool valid = hasAxis(type, axis);
  Type each = TensorType::get(count, i64), all = valid ? TensorType::get(type.getDim(axis), i64) : each;
  build(builder, state, valid ? resize(type, axis, count) : type, each, all, each, operand, static_cast<uint64_t>(axis),
        sorted);
}

LogicalResult UniqueOp::verify() {
  TensorType type = typeOf(getOperand()), values = typeOf(getValues());
  int64_t axis = getAxis();
  if (!hasAxis(type, axis) || values.getRank() != type.getRank() || values != resize(type, axis, values.getDim(axis)))
    return emitOpError("can't make ") << values << " of " << type << " along axis " << axis;
  Type i64 = getIndexType(getContext());
  Type each = TensorType::get(values.getDim(axis), i64), all = TensorType::get(type.getDim(axis), i64);
  if (getFirst().getType() != each || getInverse().getType() != all || getCounts().getType() != each)
    return emitOpError("gives ") << each << ", " << all << " and " << each << " beside " << values;
  return success();
}

void UniqueOp::collectBound(SmallVectorImpl<sym::Expr> &bound) {
  bound.push_back(typeOf(getValues()).getDim(getAxis()));
}

} // namespace freestone::graph
