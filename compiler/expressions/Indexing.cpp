// Operations with data-dependent reads or writes.
#include "compiler/expressions/Expressions.h"

using namespace llvm;

namespace freestone::expressions {
namespace {

/// ONNX's indices have any integer type, the graph's i32 or i64.
Tensor asIndices(Tensor indices) {
  if (!indices.isInteger())
    return indices.builder().reject("indices must be integers");
  mlir::Type type = indices.elementType();
  return type.isSignlessInteger(32) || type.isSignlessInteger(64) ? indices
                                                                  : cast(indices, indices.builder().getI64Type());
}

/// Indices whose first dimensions are those of x.
Tensor withBatchOf(Tensor x, Tensor indices, int64_t batchDims) {
  Shape expected(x.shape().take_front(batchDims));
  llvm::append_range(expected, indices.shape().drop_front(batchDims));
  return conform(indices, expected, "the batch dimensions of data and indices");
}

/// Requires that indices of single elements along an axis do not exceed the data along the other axes.
bool fitsBeside(Tensor x, Tensor indices, int64_t axis) {
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (dim != axis &&
        !x.builder().makeAtMost(indices.dim(dim), x.dim(dim),
                                "indices must not be longer than the data along dimension " + Twine(dim)))
      return false;
  return true;
}

/// Folds a gather of known elements by known indices; nothing if an index is unknown or out of range.
std::optional<Content> gatherKnown(Tensor x, Tensor indices, int64_t axis) {
  const Content *places = indices.constant();
  if (!x.content() || !places)
    return std::nullopt;
  int64_t extent = *x.extent(axis), outer = 1, inner = 1;
  for (int64_t other = 0; other < x.rank(); ++other)
    (other < axis ? outer : inner) *= other == axis ? 1 : *x.extent(other);
  Content content;
  for (int64_t row = 0; row < outer; ++row)
    for (const Element &place : *places) {
      int64_t index = *place.asConstantInteger();
      index = index < 0 ? index + extent : index;
      if (index < 0 || index >= extent)
        return std::nullopt;
      const Element *from = x.content()->begin() + (row * extent + index) * inner;
      content.append(from, from + inner);
    }
  return content;
}

} // namespace

Tensor gather(Tensor x, Tensor indices, int64_t axis, int64_t batchDims) {
  if (!areBuilt({x, indices}) || !(indices = asIndices(indices)))
    return {};
  GraphBuilder &builder = x.builder();
  axis = axis < 0 ? axis + x.rank() : axis;
  if (axis < 0 || axis >= x.rank() || batchDims > axis || batchDims > indices.rank())
    return builder.reject("axis " + Twine(axis) + " does not exist in a tensor of rank " + Twine(x.rank()));
  if (!(indices = withBatchOf(x, indices, batchDims)))
    return {};
  if (std::optional<Content> content = batchDims == 0 ? gatherKnown(x, indices, axis) : std::nullopt) {
    Shape shape(x.shape().take_front(axis));
    llvm::append_range(shape, indices.shape());
    llvm::append_range(shape, x.shape().drop_front(axis + 1));
    return builder.fromContent(std::move(*content), shape, x.elementType());
  }
  mlir::Value operand = x.value(), places = indices.value();
  return builder.emit<graph::GatherOp>(operand, places, uint64_t(axis), uint64_t(batchDims));
}

Tensor gatherElements(Tensor x, Tensor indices, int64_t axis) {
  if (!areBuilt({x, indices}) || !(indices = asIndices(indices)))
    return {};
  GraphBuilder &builder = x.builder();
  if (x.rank() != indices.rank() || axis < 0 || axis >= x.rank())
    return builder.reject("data and indices must have one rank");
  if (!fitsBeside(x, indices, axis))
    return {};
  mlir::Value operand = x.value(), places = indices.value();
  return builder.emit<graph::GatherElementsOp>(operand, places, uint64_t(axis));
}

Tensor gatherNd(Tensor x, Tensor indices, int64_t batchDims) {
  if (!areBuilt({x, indices}) || !(indices = asIndices(indices)))
    return {};
  GraphBuilder &builder = x.builder();
  std::optional<int64_t> depth = indices.rank() ? indices.extent(-1) : std::nullopt;
  if (!depth)
    return builder.refuse("the last dimension of the indices must be constant");
  if (batchDims < 0 || batchDims >= indices.rank() || batchDims + *depth > x.rank())
    return builder.reject("the indices do not fit the data");
  if (!(indices = withBatchOf(x, indices, batchDims)))
    return {};
  mlir::Value operand = x.value(), places = indices.value();
  return builder.emit<graph::GatherNdOp>(operand, places, uint64_t(batchDims));
}

Tensor scatterElements(Tensor x, Tensor indices, Tensor updates, int64_t axis, graph::ScatterKind kind) {
  if (!areBuilt({x, indices, updates}) || !(indices = asIndices(indices)))
    return {};
  GraphBuilder &builder = x.builder();
  if (x.rank() != indices.rank() || x.rank() != updates.rank() || x.elementType() != updates.elementType())
    return builder.reject("data, indices and updates must have one rank, data and updates one type");
  if (!(updates = conform(updates, indices.shape(), "the shapes of indices and updates")) ||
      !fitsBeside(x, indices, axis))
    return {};
  mlir::Value operand = x.value(), places = indices.value(), values = updates.value();
  return builder.emit<graph::ScatterElementsOp>(kind, operand, places, values, uint64_t(axis));
}

Tensor scatterNd(Tensor x, Tensor indices, Tensor updates, graph::ScatterKind kind) {
  if (!areBuilt({x, indices, updates}) || !(indices = asIndices(indices)))
    return {};
  GraphBuilder &builder = x.builder();
  std::optional<int64_t> depth = indices.rank() ? indices.extent(-1) : std::nullopt;
  if (!depth)
    return builder.refuse("the last dimension of the indices must be constant");
  if (*depth > x.rank() || x.elementType() != updates.elementType() ||
      updates.rank() != indices.rank() - 1 + x.rank() - *depth)
    return builder.reject("data, indices and updates do not fit together");
  Shape expected(indices.shape().drop_back());
  llvm::append_range(expected, x.shape().drop_front(*depth));
  if (!(updates = conform(updates, expected, "the shapes of updates and of what they replace")))
    return {};
  mlir::Value operand = x.value(), places = indices.value(), values = updates.value();
  return builder.emit<graph::ScatterNdOp>(kind, operand, places, values);
}

Tensor nonZero(Tensor x) {
  if (!x)
    return x;
  GraphBuilder &builder = x.builder();
  return builder.emit<graph::NonZeroOp>(x.value(), builder.freshCount("nonzero", x.elementCount()));
}

Expr sizeOf(Tensor number, StringRef complaint) {
  if (!number)
    return {};
  GraphBuilder &builder = number.builder();
  mlir::Value scalar = cast(number, builder.getI64Type()).value();
  Expr count = builder.freshCount("size");
  builder.create<graph::CountToOp>(scalar, count, complaint);
  return count;
}

Tensor suppress(Tensor boxes, Tensor scores, Tensor limit, Tensor overlap, Tensor threshold) {
  if (!areBuilt({boxes, scores, limit, overlap, threshold}))
    return {};
  mlir::Value operands[] = {boxes.value(), scores.value(), limit.value(), overlap.value(), threshold.value()};
  return boxes.builder().emit<graph::SuppressOp>(operands[0], operands[1], operands[2], operands[3], operands[4]);
}

Tensor compress(Tensor x, Tensor condition, int64_t axis) {
  if (!areBuilt({x, condition}))
    return {};
  GraphBuilder &builder = x.builder();
  mlir::Value operand = x.value(), choice = condition.value();
  return builder.emit<graph::CompressOp>(operand, choice, axis, builder.freshCount("kept", x.dim(axis)));
}

UniqueResult unique(Tensor x, int64_t axis, bool sorted) {
  if (!x)
    return {};
  GraphBuilder &builder = x.builder();
  auto op = builder.create<graph::UniqueOp>(x.value(), axis, sorted, builder.freshCount("unique", x.dim(axis)));
  return {builder.fromValue(op.getValues()), builder.fromValue(op.getFirst()), builder.fromValue(op.getInverse()),
          builder.fromValue(op.getCounts())};
}

} // namespace freestone::expressions
