#include "compiler/interpreter/Combine.h"
#include "compiler/interpreter/Evaluate.h"

using namespace mlir;
using namespace freestone::graph;

namespace freestone::interpreter {

/// The sizes before, of and after an axis.
struct AxisView {
  int64_t outer = 1, extent, inner = 1;

  AxisView(ArrayRef<int64_t> dims, int64_t axis) : extent(dims[axis]) {
    outer = getNumElements(dims.take_front(axis));
    inner = getNumElements(dims.drop_front(axis + 1));
  }
  int64_t at(int64_t o, int64_t i, int64_t n) const { return (o * extent + i) * inner + n; }
};

static Tensor evaluate(ReduceOp op, const Tensor &x, const Dims &dims) {
  // With the reduced axes last, each result reduces contiguous elements.
  SmallVector<int64_t> permutation;
  for (int64_t dim = 0; dim < x.getRank(); ++dim)
    if (!llvm::is_contained(op.getAxes(), dim))
      permutation.push_back(dim);
  llvm::append_range(permutation, op.getAxes());
  Tensor moved = transpose(x, permutation), result(x.getElementType(), dims);
  Combine combine(op.getKind(), x.getElementType());
  int64_t count = 1;
  for (int64_t axis : op.getAxes())
    count *= x.getDim(axis);
  result.visit([&](auto kind) {
    using T = decltype(kind);
    const T *in = moved.data<T>();
    for (int64_t i = 0, places = result.size(); i < places; ++i, in += count) {
      T value = combine.identity<T>();
      for (int64_t k = 0; k < count; ++k)
        value = combine(value, in[k]);
      result.data<T>()[i] = value;
    }
  });
  return result;
}

/// Whether `a` precedes `b` as the extremum.
static bool isBetter(ArgKind kind, double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && !std::isnan(b);
  return kind == ArgKind::max ? a > b : a < b;
}

static FailureOr<Tensor> evaluate(ArgReduceOp op, const Tensor &x, const Dims &dims) {
  AxisView view(x.getDims(), op.getAxis());
  if (view.extent == 0 && getNumElements(dims) > 0)
    return op.emitError("has no element along axis ") << static_cast<int64_t>(op.getAxis());
  Tensor result(getElementType(op.getResult()), dims);
  auto isBetterInteger = [&](int64_t a, int64_t b) {
    if (op.getKind() == ArgKind::min)
      std::swap(a, b);
    return x.isUnsigned() ? static_cast<uint64_t>(a) > static_cast<uint64_t>(b) : a > b;
  };
  x.visit([&](auto kind) {
    using T = decltype(kind);
    const T *in = x.data<T>();
    auto better = [&](T a, T b) {
      if constexpr (std::is_same_v<T, double>)
        return isBetter(op.getKind(), a, b);
      else
        return isBetterInteger(a, b);
    };
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t n = 0; n < view.inner; ++n) {
        int64_t best = 0;
        for (int64_t i = 1; i < view.extent; ++i) {
          T value = in[view.at(o, i, n)], known = in[view.at(o, best, n)];
          if (better(value, known) || (op.getLastIndex() && !better(known, value)))
            best = i;
        }
        result.data<int64_t>()[o * view.inner + n] = best;
      }
  });
  return result;
}

static Tensor evaluate(CumulateOp op, const Tensor &x) {
  AxisView view(x.getDims(), op.getAxis());
  Tensor result(x.getElementType(), x.getDims());
  Combine combine(op.getKind(), x.getElementType());
  x.visit([&](auto kind) {
    using T = decltype(kind);
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t n = 0; n < view.inner; ++n) {
        T value = combine.identity<T>();
        for (int64_t step = 0; step < view.extent; ++step) {
          int64_t place = view.at(o, op.getReverse() ? view.extent - 1 - step : step, n);
          T next = combine(value, x.data<T>()[place]);
          result.data<T>()[place] = op.getExclusive() ? value : next;
          value = next;
        }
      }
  });
  return result;
}

std::optional<FailureOr<Tensors>> evaluateReduction(Operation *op, const Context &context) {
  using Result = std::optional<FailureOr<Tensors>>;
  if (!isa<ReduceOp, ArgReduceOp, CumulateOp>(op))
    return std::nullopt;
  const Tensor &x = context.operands[0];
  if (auto cumulate = dyn_cast<CumulateOp>(op))
    return Tensors{evaluate(cumulate, x)};
  FailureOr<Dims> dims = context.getResultDims(op);
  if (failed(dims))
    return Result(failure());
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return Tensors{evaluate(reduce, x, *dims)};
  FailureOr<Tensor> result = evaluate(cast<ArgReduceOp>(op), x, *dims);
  return failed(result) ? Result(failure()) : Tensors{*result};
}

} // namespace freestone::interpreter
