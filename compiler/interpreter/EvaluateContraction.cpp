#include "compiler/interpreter/Evaluate.h"
#include "compiler/interpreter/MatrixProduct.h"
#include "compiler/interpreter/Rounding.h"

using namespace mlir;
using namespace freestone::graph;

namespace freestone::interpreter {

/// Wraps 64-bit sums to the width of the element type.
static void wrapAll(Tensor &tensor) {
  if (tensor.isReal())
    return;
  for (int64_t &element : MutableArrayRef(tensor.data<int64_t>(), tensor.size()))
    element = wrapTo(tensor.getElementType(), element);
}

static int64_t countAlong(const Tensor &tensor, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= tensor.getDim(dim);
  return count;
}

static SmallVector<int64_t> join(ArrayRef<int64_t> a, ArrayRef<int64_t> b, ArrayRef<int64_t> c) {
  return llvm::to_vector(llvm::concat<const int64_t>(a, b, c));
}

/// Computes batched matrix products [batch, m, k] times [batch, k, n].
static Tensor evaluate(ContractOp op, const Tensor &lhs, const Tensor &rhs, const Dims &dims) {
  SmallVector<int64_t> lhsFree = op.getLhsFree(), rhsFree = op.getRhsFree();
  Tensor left = transpose(lhs, join(op.getLhsBatch(), lhsFree, op.getLhsContract()));
  Tensor right = transpose(rhs, join(op.getRhsBatch(), op.getRhsContract(), rhsFree));
  int64_t batch = countAlong(lhs, op.getLhsBatch()), m = countAlong(lhs, lhsFree), n = countAlong(rhs, rhsFree);
  int64_t k = countAlong(lhs, op.getLhsContract());
  Tensor result(getElementType(op.getResult()), dims);
  result.visit([&](auto kind) {
    using T = decltype(kind);
    for (int64_t b = 0; b < batch; ++b)
      addMatrixProduct(left.data<T>() + b * m * k, right.data<T>() + b * k * n, result.data<T>() + b * m * n, m, n, k);
  });
  wrapAll(result);
  return result;
}

namespace {

/// One image and group of a convolution as an im2col matrix [channels · taps, output positions].
struct Patches {
  ArrayRef<int64_t> strides, dilations, spread;
  Dims low, extents, window, places;

  /// The input position that a tap of the window reads, or -1 for padding.
  int64_t position(ArrayRef<int64_t> place, ArrayRef<int64_t> tap) const {
    int64_t linear = 0;
    for (size_t dim = 0; dim < extents.size(); ++dim) {
      int64_t padded = place[dim] * strides[dim] + tap[dim] * dilations[dim] - low[dim];
      if (padded < 0 || padded % spread[dim] != 0 || padded / spread[dim] >= extents[dim])
        return -1;
      linear = linear * extents[dim] + padded / spread[dim];
    }
    return linear;
  }

  template <typename T> void gather(const T *image, int64_t channels, T *matrix) const {
    int64_t imageSize = getNumElements(extents), placeCount = getNumElements(places);
    if (placeCount == 0 || getNumElements(window) == 0)
      return;
    std::vector<int64_t> positions;
    Dims tap(window.size(), 0);
    do {
      Dims place(places.size(), 0);
      do
        positions.push_back(position(place, tap));
      while (advance(place, places));
    } while (advance(tap, window));
    for (int64_t channel = 0; channel < channels; ++channel, image += imageSize)
      for (int64_t from : positions)
        *matrix++ = from < 0 ? T(0) : image[from];
  }
};

} // namespace

static FailureOr<Tensor> evaluate(ConvolveOp op, const Tensor &x, const Tensor &kernel, const Dims &dims,
                                  const Symbols &symbols) {
  Patches patches{op.getStrides(), op.getDilations(), op.getOperandDilation(), {}, {}, {}, {}};
  for (auto [i, expr] : llvm::enumerate(op.getLow())) {
    FailureOr<int64_t> low = symbols.getOffset(op, expr);
    if (failed(low))
      return failure();
    patches.low.push_back(*low);
    patches.extents.push_back(x.getDim(i + 2));
    patches.window.push_back(kernel.getDim(i + 2));
    patches.places.push_back(dims[i + 2]);
  }
  int64_t groups = op.getGroups(), images = x.getDim(0), outputs = kernel.getDim(0) / groups,
          channels = kernel.getDim(1);
  int64_t taps = channels * getNumElements(patches.window), places = getNumElements(patches.places);
  int64_t imageSize = channels * getNumElements(patches.extents);
  Tensor result(getElementType(op.getResult()), dims);
  result.visit([&](auto kind) {
    using T = decltype(kind);
    std::vector<T> matrix(taps * places);
    for (int64_t step = 0; step < images * groups; ++step) {
      patches.gather(x.data<T>() + step * imageSize, channels, matrix.data());
      addMatrixProduct(kernel.data<T>() + step % groups * outputs * taps, matrix.data(),
                       result.data<T>() + step * outputs * places, outputs, places, taps);
    }
  });
  wrapAll(result);
  return result;
}

/// Integers as the numbers of a type, in which they are multiplied.
static Tensor asNumbers(const Tensor &integers, Type type) {
  Tensor numbers(type, integers.getDims());
  std::copy_n(integers.data<int64_t>(), integers.size(), numbers.data<double>());
  return numbers;
}

std::optional<FailureOr<Tensors>> evaluateContraction(Operation *op, const Context &context) {
  using Result = std::optional<FailureOr<Tensors>>;
  if (!isa<ContractOp, ConvolveOp>(op))
    return std::nullopt;
  FailureOr<Dims> dims = context.getResultDims(op);
  if (failed(dims))
    return Result(failure());
  Tensor lhs = context.operands[0], rhs = context.operands[1];
  Type type = getElementType(op->getResult(0));
  for (Tensor *factor : {&lhs, &rhs})
    if (isa<FloatType>(type) && !factor->isReal())
      *factor = asNumbers(*factor, type);
  if (auto contract = dyn_cast<ContractOp>(op))
    return Tensors{evaluate(contract, lhs, rhs, *dims)};
  FailureOr<Tensor> result = evaluate(cast<ConvolveOp>(op), lhs, rhs, *dims, context.symbols);
  return failed(result) ? Result(failure()) : Tensors{*result};
}

} // namespace freestone::interpreter
