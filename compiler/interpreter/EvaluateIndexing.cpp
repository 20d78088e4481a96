#include "compiler/interpreter/Combine.h"
#include "compiler/interpreter/Evaluate.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace freestone::graph;

namespace freestone::interpreter {

/// The index counted from the start; a diagnostic where it is out of bounds.
static FailureOr<int64_t> normalize(Operation *op, int64_t index, int64_t extent) {
  int64_t normal = index < 0 ? index + extent : index;
  if (normal < 0 || normal >= extent)
    return op->emitError() << "the index " << index << " is out of range: the size is " << extent;
  return normal;
}

static FailureOr<Tensor> evaluate(GatherOp op, const Tensor &x, const Tensor &indices, const Dims &dims) {
  ArrayRef<int64_t> sizes = x.getDims();
  int64_t axis = op.getAxis(), batchDims = op.getBatchDims(), extent = sizes[axis];
  int64_t batch = getNumElements(sizes.take_front(batchDims)),
          middle = getNumElements(sizes.slice(batchDims, axis - batchDims));
  int64_t inner = getNumElements(sizes.drop_front(axis + 1)),
          count = getNumElements(indices.getDims().drop_front(batchDims));
  Tensor result(x.getElementType(), dims);
  if (result.size() == 0)
    return result;
  std::vector<int64_t> normal(indices.size());
  for (auto [to, from] : llvm::zip_equal(normal, ArrayRef(indices.data<int64_t>(), indices.size()))) {
    FailureOr<int64_t> index = normalize(op, from, extent);
    if (failed(index))
      return failure();
    to = *index;
  }
  result.visit([&](auto kind) {
    using T = decltype(kind);
    T *out = result.data<T>();
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t m = 0; m < middle; ++m)
        for (int64_t i = 0; i < count; ++i, out += inner)
          std::copy_n(x.data<T>() + ((b * middle + m) * extent + normal[b * count + i]) * inner, inner, out);
  });
  return result;
}

/// Calls `visit(data element, number of the index)` for element-wise indices along an axis.
template <typename Visit>
static LogicalResult forEachElement(Operation *op, const Tensor &data, const Tensor &indices, int64_t axis,
                                    Visit visit) {
  if (indices.size() == 0)
    return success();
  Dims strides = getStrides(data.getDims()), place(indices.getRank(), 0);
  int64_t number = 0;
  do {
    int64_t linear = 0;
    for (int64_t dim = 0; dim < data.getRank(); ++dim) {
      FailureOr<int64_t> index =
          normalize(op, dim == axis ? indices.data<int64_t>()[number] : place[dim], data.getDim(dim));
      if (failed(index))
        return failure();
      linear += *index * strides[dim];
    }
    visit(linear, number++);
  } while (advance(place, indices.getDims()));
  return success();
}

static FailureOr<Tensor> evaluate(GatherElementsOp op, const Tensor &x, const Tensor &indices, const Dims &dims) {
  Tensor result(x.getElementType(), dims);
  LogicalResult status = result.visit([&](auto kind) {
    using T = decltype(kind);
    return forEachElement(op, x, indices, op.getAxis(),
                          [&](int64_t from, int64_t to) { result.data<T>()[to] = x.data<T>()[from]; });
  });
  return failed(status) ? FailureOr<Tensor>(failure()) : result;
}

/// Calls `visit(first data element, number of the vector)` for index vectors, and returns the number of elements that
/// each selects.
template <typename Visit>
static FailureOr<int64_t> forEachVector(Operation *op, const Tensor &data, const Tensor &indices, int64_t batchDims,
                                        Visit visit) {
  int64_t length = indices.getDims().back(), count = getNumElements(indices.getDims().drop_back());
  Dims strides = getStrides(data.getDims());
  int64_t batch = getNumElements(indices.getDims().take_front(batchDims));
  int64_t perBatch = batch ? count / batch : 0, batchStride = getNumElements(data.getDims().drop_front(batchDims));
  for (int64_t number = 0; number < count; ++number) {
    int64_t linear = number / perBatch * batchStride;
    for (int64_t i = 0; i < length; ++i) {
      FailureOr<int64_t> index =
          normalize(op, indices.data<int64_t>()[number * length + i], data.getDim(batchDims + i));
      if (failed(index))
        return failure();
      linear += *index * strides[batchDims + i];
    }
    visit(linear, number);
  }
  return getNumElements(data.getDims().drop_front(batchDims + length));
}

static FailureOr<Tensor> evaluate(GatherNdOp op, const Tensor &x, const Tensor &indices, const Dims &dims) {
  Tensor result(x.getElementType(), dims);
  if (result.size() == 0)
    return result;
  SmallVector<int64_t> starts;
  FailureOr<int64_t> block =
      forEachVector(op, x, indices, op.getBatchDims(), [&](int64_t from, int64_t) { starts.push_back(from); });
  if (failed(block))
    return failure();
  result.visit([&](auto kind) {
    using T = decltype(kind);
    for (auto [number, from] : llvm::enumerate(starts))
      std::copy_n(x.data<T>() + from, *block, result.data<T>() + number * *block);
  });
  return result;
}

/// Combines an update with the existing element of a scatter.
template <typename T> static T merge(ScatterKind kind, const Combine &combine, T there, T update) {
  return kind == ScatterKind::none ? update : combine(there, update);
}

static Combine getCombine(ScatterKind kind, Type type) {
  switch (kind) {
  case ScatterKind::none:
  case ScatterKind::add:
    return {ReduceKind::add, type};
  case ScatterKind::mul:
    return {ReduceKind::mul, type};
  case ScatterKind::max:
    return {ReduceKind::max, type};
  case ScatterKind::min:
    return {ReduceKind::min, type};
  }
  llvm_unreachable("all kinds are here");
}

/// A writable copy.
static Tensor copy(const Tensor &x) {
  Tensor result(x.getElementType(), x.getDims());
  x.visit([&](auto kind) {
    using T = decltype(kind);
    std::copy_n(x.data<T>(), x.size(), result.data<T>());
  });
  return result;
}

static FailureOr<Tensor> evaluate(ScatterElementsOp op, const Tensor &x, const Tensor &indices, const Tensor &updates) {
  Tensor result = copy(x);
  Combine combine = getCombine(op.getKind(), x.getElementType());
  LogicalResult status = result.visit([&](auto kind) {
    using T = decltype(kind);
    return forEachElement(op, x, indices, op.getAxis(), [&](int64_t to, int64_t from) {
      T &there = result.data<T>()[to];
      there = merge(op.getKind(), combine, there, updates.data<T>()[from]);
    });
  });
  return failed(status) ? FailureOr<Tensor>(failure()) : result;
}

static FailureOr<Tensor> evaluate(ScatterNdOp op, const Tensor &x, const Tensor &indices, const Tensor &updates) {
  Tensor result = copy(x);
  Combine combine = getCombine(op.getKind(), x.getElementType());
  SmallVector<int64_t> starts;
  FailureOr<int64_t> block = forEachVector(op, x, indices, 0, [&](int64_t to, int64_t) { starts.push_back(to); });
  if (failed(block))
    return failure();
  result.visit([&](auto kind) {
    using T = decltype(kind);
    for (auto [number, to] : llvm::enumerate(starts))
      for (int64_t i = 0; i < *block; ++i) {
        T &there = result.data<T>()[to + i];
        there = merge(op.getKind(), combine, there, updates.data<T>()[number * *block + i]);
      }
  });
  return result;
}

std::optional<FailureOr<Tensors>> evaluateIndexing(Operation *op, const Context &context) {
  using Result = std::optional<FailureOr<Tensors>>;
  if (!isa<GatherOp, GatherElementsOp, GatherNdOp, ScatterElementsOp, ScatterNdOp>(op))
    return std::nullopt;
  FailureOr<Dims> dims = context.getResultDims(op);
  if (failed(dims))
    return Result(failure());
  ArrayRef<Tensor> x = context.operands;
  FailureOr<Tensor> result = llvm::TypeSwitch<Operation *, FailureOr<Tensor>>(op)
                                 .Case([&](GatherOp op) { return evaluate(op, x[0], x[1], *dims); })
                                 .Case([&](GatherElementsOp op) { return evaluate(op, x[0], x[1], *dims); })
                                 .Case([&](GatherNdOp op) { return evaluate(op, x[0], x[1], *dims); })
                                 .Case([&](ScatterElementsOp op) { return evaluate(op, x[0], x[1], x[2]); })
                                 .Case([&](ScatterNdOp op) { return evaluate(op, x[0], x[1], x[2]); });
  return failed(result) ? Result(failure()) : Tensors{*result};
}

} // namespace freestone::interpreter
