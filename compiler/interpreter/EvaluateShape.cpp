#include "compiler/interpreter/Evaluate.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace freestone::graph;

namespace freestone::interpreter {

bool advance(MutableArrayRef<int64_t> index, ArrayRef<int64_t> dims) {
  for (size_t dim = index.size(); dim-- > 0;) {
    if (++index[dim] < dims[dim])
      return true;
    index[dim] = 0;
  }
  return false;
}

/// Copies a box of `dims` elements between strided arrays.
template <typename T>
static void copyStrided(const T *in, ArrayRef<int64_t> inStrides, T *out, ArrayRef<int64_t> outStrides,
                        ArrayRef<int64_t> dims) {
  if (getNumElements(dims) == 0)
    return;
  if (dims.empty()) {
    *out = *in;
    return;
  }
  int64_t count = dims.back(), inStep = inStrides.back(), outStep = outStrides.back();
  ArrayRef<int64_t> outer = dims.drop_back();
  Dims index(outer.size(), 0);
  do {
    const T *from = in;
    T *to = out;
    for (size_t dim = 0; dim < outer.size(); ++dim) {
      from += index[dim] * inStrides[dim];
      to += index[dim] * outStrides[dim];
    }
    if (inStep == 1 && outStep == 1)
      std::copy_n(from, count, to);
    else
      for (int64_t i = 0; i < count; ++i)
        to[i * outStep] = from[i * inStep];
  } while (advance(index, outer));
}

/// A strided view of `tensor` from `offset` on, copied to a tensor of `dims`.
static Tensor readStrided(const Tensor &tensor, ArrayRef<int64_t> dims, int64_t offset, ArrayRef<int64_t> strides) {
  Tensor result(tensor.getElementType(), dims);
  result.visit([&](auto kind) {
    using T = decltype(kind);
    copyStrided(tensor.data<T>() + offset, strides, result.data<T>(), getStrides(dims), dims);
  });
  return result;
}

Tensor transpose(const Tensor &tensor, ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return tensor;
  Dims dims, strides, all = getStrides(tensor.getDims());
  for (int64_t dim : permutation) {
    dims.push_back(tensor.getDim(dim));
    strides.push_back(all[dim]);
  }
  return readStrided(tensor, dims, 0, strides);
}

static Tensor evaluate(BroadcastOp op, const Tensor &x, const Dims &dims) {
  Dims strides(dims.size(), 0), all = getStrides(x.getDims());
  for (auto [from, to] : llvm::enumerate(op.getDims()))
    strides[to] = x.getDim(from) == 1 ? 0 : all[from];
  return readStrided(x, dims, 0, strides);
}

static FailureOr<Tensor> evaluate(ReshapeOp op, const Tensor &x, const Dims &dims) {
  if (getNumElements(dims) != x.size())
    return op.emitError("can't make ") << getNumElements(dims) << " elements of " << x.size();
  return x.reshaped(dims);
}

static FailureOr<Tensor> evaluate(SliceOp op, const Tensor &x, const Dims &dims, const Symbols &symbols) {
  Dims strides = getStrides(x.getDims());
  int64_t offset = 0;
  for (auto [dim, expr, step] : llvm::enumerate(op.getStarts(), op.getSteps())) {
    FailureOr<int64_t> start = symbols.getOffset(op, expr);
    if (failed(start))
      return failure();
    int64_t last = *start + (dims[dim] - 1) * step, extent = x.getDim(dim);
    if (dims[dim] > 0 && (*start < 0 || *start >= extent || last < 0 || last >= extent))
      return op.emitError("takes elements from ")
             << *start << " to " << last << " at dimension " << dim << " of size " << extent;
    offset += *start * strides[dim];
    strides[dim] *= step;
  }
  if (getNumElements(dims) == 0)
    return Tensor(x.getElementType(), dims);
  return readStrided(x, dims, offset, strides);
}

static FailureOr<Tensor> evaluate(PadOp op, const Tensor &x, const Tensor &value, const Dims &dims,
                                  const Symbols &symbols) {
  // Element i goes to low + i*(interior + 1); positions out of bounds are cropped.
  Dims first, count, inStrides = getStrides(x.getDims()), outStrides = getStrides(dims);
  int64_t inOffset = 0, outOffset = 0;
  for (auto [dim, expr, interior] : llvm::enumerate(op.getLow(), op.getInterior())) {
    FailureOr<int64_t> low = symbols.getOffset(op, expr);
    if (failed(low))
      return failure();
    int64_t step = interior + 1, begin = *low < 0 ? (-*low + step - 1) / step : 0;
    int64_t end = dims[dim] > *low ? std::min(x.getDim(dim), (dims[dim] - *low + step - 1) / step) : 0;
    count.push_back(std::max<int64_t>(0, end - begin));
    inOffset += begin * inStrides[dim];
    outOffset += (*low + begin * step) * outStrides[dim];
    outStrides[dim] *= step;
  }
  Tensor result(x.getElementType(), dims);
  result.visit([&](auto kind) {
    using T = decltype(kind);
    std::fill_n(result.data<T>(), result.size(), *value.data<T>());
    if (getNumElements(count) > 0)
      copyStrided(x.data<T>() + inOffset, inStrides, result.data<T>() + outOffset, outStrides, count);
  });
  return result;
}

static Tensor evaluate(ConcatOp op, ArrayRef<Tensor> operands, const Dims &dims) {
  Tensor result(operands.front().getElementType(), dims);
  int64_t axis = op.getAxis(), offset = 0;
  Dims strides = getStrides(dims);
  result.visit([&](auto kind) {
    using T = decltype(kind);
    for (const Tensor &x : operands) {
      copyStrided(x.data<T>(), getStrides(x.getDims()), result.data<T>() + offset, strides, x.getDims());
      offset += x.getDim(axis) * strides[axis];
    }
  });
  return result;
}

std::optional<FailureOr<Tensors>> evaluateShape(Operation *op, const Context &context) {
  using Result = std::optional<FailureOr<Tensors>>;
  // Values do not depend on their layout.
  if (isa<PackOp, UnpackOp>(op))
    return Tensors{context.operands[0]};
  if (!isa<BroadcastOp, ReshapeOp, TransposeOp, SliceOp, PadOp, ConcatOp>(op))
    return std::nullopt;
  FailureOr<Dims> dims = context.getResultDims(op);
  if (failed(dims))
    return Result(failure());
  const Tensor &x = context.operands[0];
  FailureOr<Tensor> result =
      llvm::TypeSwitch<Operation *, FailureOr<Tensor>>(op)
          .Case([&](BroadcastOp op) { return evaluate(op, x, *dims); })
          .Case([&](ReshapeOp op) { return evaluate(op, x, *dims); })
          .Case([&](TransposeOp op) { return transpose(x, op.getPermutation()); })
          .Case([&](SliceOp op) { return evaluate(op, x, *dims, context.symbols); })
          .Case([&](PadOp op) { return evaluate(op, x, context.operands[1], *dims, context.symbols); })
          .Case([&](ConcatOp op) { return evaluate(op, context.operands, *dims); });
  if (failed(result))
    return Result(failure());
  return Tensors{*result};
}

} // namespace freestone::interpreter
