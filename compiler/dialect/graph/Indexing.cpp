#include "compiler/dialect/graph/ShapeRules.h"

using namespace mlir;

namespace freestone::graph {

/// Whether the first `count` sizes are the same.
static bool shareLeading(TensorType lhs, TensorType rhs, int64_t count) {
  return count >= 0 && count <= lhs.getRank() && count <= rhs.getRank() &&
         lhs.getShape().take_front(count) == rhs.getShape().take_front(count);
}

FailureOr<TensorType> GatherOp::deduce(Adaptor op, Refusal refuse) {
  TensorType operand = typeOf(op.getOperand()), indices = typeOf(op.getIndices());
  int64_t axis = op.getAxis(), batch = op.getBatchDims();
  if (!isIndex(indices.getElementType()))
    return refuse("needs indices of i32 or i64, not ", indices);
  if (!hasAxis(operand, axis) || batch > axis || !shareLeading(operand, indices, batch))
    return refuse("can't take from ", operand, " along axis ", axis, " by ", indices, " with ", batch,
                  " batch dimensions");
  SmallVector<sym::Expr> shape(operand.getShape().take_front(axis));
  llvm::append_range(shape, indices.getShape().drop_front(batch));
  llvm::append_range(shape, operand.getShape().drop_front(axis + 1));
  return operand.withShape(shape);
}

FailureOr<TensorType> GatherElementsOp::deduce(Adaptor op, Refusal refuse) {
  TensorType operand = typeOf(op.getOperand()), indices = typeOf(op.getIndices());
  int64_t axis = op.getAxis();
  if (!isIndex(indices.getElementType()) || indices.getRank() != operand.getRank() || !hasAxis(operand, axis))
    return refuse("can't take elements of ", operand, " along axis ", axis, " by ", indices);
  return operand.withShape(indices.getShape());
}

/// The length of the index vectors along the last dimension; nothing where it is unknown or exceeds the operand's rank.
static std::optional<int64_t> getVectorLength(TensorType operand, TensorType indices, int64_t batch) {
  if (!isIndex(indices.getElementType()) || indices.getRank() == 0)
    return std::nullopt;
  std::optional<int64_t> length = indices.getShape().back().asConstant();
  return length && batch + *length <= operand.getRank() ? length : std::nullopt;
}

FailureOr<TensorType> GatherNdOp::deduce(Adaptor op, Refusal refuse) {
  TensorType operand = typeOf(op.getOperand()), indices = typeOf(op.getIndices());
  int64_t batch = op.getBatchDims();
  std::optional<int64_t> length = getVectorLength(operand, indices, batch);
  if (!length || batch >= indices.getRank() || !shareLeading(operand, indices, batch))
    return refuse("can't take from ", operand, " by vectors ", indices, " with ", batch, " batch dimensions");
  SmallVector<sym::Expr> shape(indices.getShape().drop_back());
  llvm::append_range(shape, operand.getShape().drop_front(batch + *length));
  return operand.withShape(shape);
}

/// Bool elements can be replaced, not combined.
static bool combines(ScatterKind kind, Type elementType) { return kind == ScatterKind::none || !isBool(elementType); }

FailureOr<TensorType> ScatterElementsOp::deduce(Adaptor op, Refusal refuse) {
  TensorType operand = typeOf(op.getOperand()), indices = typeOf(op.getIndices()), updates = typeOf(op.getUpdates());
  int64_t axis = op.getAxis();
  if (!isIndex(indices.getElementType()) || indices.getRank() != operand.getRank() || !hasAxis(operand, axis) ||
      updates != operand.withShape(indices.getShape()))
    return refuse("can't put ", updates, " into ", operand, " along axis ", axis, " by ", indices);
  if (!combines(op.getKind(), operand.getElementType()))
    return refuse("has no '", stringifyScatterKind(op.getKind()), "' of ", operand);
  return operand;
}

FailureOr<TensorType> ScatterNdOp::deduce(Adaptor op, Refusal refuse) {
  TensorType operand = typeOf(op.getOperand()), indices = typeOf(op.getIndices()), updates = typeOf(op.getUpdates());
  std::optional<int64_t> length = getVectorLength(operand, indices, 0);
  if (!length)
    return refuse("can't put into ", operand, " by vectors ", indices);
  SmallVector<sym::Expr> shape(indices.getShape().drop_back());
  llvm::append_range(shape, operand.getShape().drop_front(*length));
  if (updates != operand.withShape(shape))
    return refuse("can't put ", updates, " into ", operand, " by vectors ", indices);
  if (!combines(op.getKind(), operand.getElementType()))
    return refuse("has no '", stringifyScatterKind(op.getKind()), "' of ", operand);
  return operand;
}

} // namespace freestone::graph
