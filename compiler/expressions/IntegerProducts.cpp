// Products of integers with zero points.
#include "compiler/expressions/IntegerProducts.h"

#include "compiler/expressions/Expressions.h"

using namespace llvm;

namespace freestone::expressions {

Tensor spreadOverProduct(Tensor x, int64_t lhsRank, int64_t rhsRank, const ContractAxes &axes, bool isLhs) {
  if (!x || x.rank() == 0)
    return x;
  ArrayRef<int64_t> batch = isLhs ? axes.lhsBatch : axes.rhsBatch,
                    contracted = isLhs ? axes.lhsContract : axes.rhsContract;
  int64_t otherFree = (isLhs ? rhsRank : lhsRank) - int64_t(batch.size() + contracted.size());
  SmallVector<int64_t> order(batch);
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (!is_contained(batch, axis) && !is_contained(contracted, axis))
      order.push_back(axis);
  Shape kept;
  for (int64_t axis : order)
    kept.push_back(x.dim(axis));
  order.append(contracted.begin(), contracted.end());
  Shape ones(otherFree, x.builder().size(1));
  kept.insert(isLhs ? kept.end() : kept.begin() + batch.size(), ones.begin(), ones.end());
  return reshape(transpose(x, order), kept);
}

Tensor contractCentered(CenteredIntegers lhs, CenteredIntegers rhs, const ContractAxes &axes) {
  if (!areBuilt({lhs.integers, rhs.integers}))
    return {};
  mlir::Type wide = lhs.integers.builder().getI32Type();
  int64_t lhsRank = lhs.integers.rank(), rhsRank = rhs.integers.rank();
  auto spread = [&](Tensor x, bool isLhs) { return spreadOverProduct(x, lhsRank, rhsRank, axes, isLhs); };
  auto sumOf = [&](Tensor x, bool isLhs) {
    return spread(sum(cast(x, wide), isLhs ? axes.lhsContract : axes.rhsContract, /*keepDims=*/true), isLhs);
  };
  Tensor product = contract(lhs.integers, rhs.integers, axes, wide);
  Tensor left = spread(lhs.zero, true), right = spread(rhs.zero, false);
  if (left) {
    // The sums of differences of the right factor.
    Tensor sums = sumOf(rhs.integers, false);
    if (right) {
      Tensor zeros = right;
      for (int64_t axis : axes.rhsContract)
        zeros = zeros * rhs.integers.dim(axis);
      sums = sums - zeros;
    }
    product = product - left * sums;
  }
  return right ? product - right * sumOf(lhs.integers, true) : product;
}

Tensor convolveCentered(CenteredIntegers x, CenteredIntegers w, Window window, int64_t groups, mlir::Type wide) {
  if (!areBuilt({x.integers, w.integers}))
    return {};
  assert((groups == 1 || !w.zero) && "no sums of windows by groups");
  GraphBuilder &builder = x.integers.builder();
  if (!wide)
    wide = builder.getI32Type();
  int64_t rank = x.integers.rank();
  Expr none = builder.size(0);
  Tensor picture = x.integers;
  auto isNone = [&](Expr size) { return size == none; };
  if (x.zero && !(all_of(window.low, isNone) && all_of(window.high, isNone))) {
    Shape low(2, none), high(2, none);
    llvm::append_range(low, window.low);
    llvm::append_range(high, window.high);
    picture = pad(picture, low, high, cast(x.zero, picture.elementType()));
    window.low.assign(rank - 2, none);
    window.high.assign(rank - 2, none);
  }
  Tensor product = convolve(picture, w.integers, window, SmallVector<int64_t>(rank - 2, 1), groups, wide);
  /// Numbers of filters over their positions.
  auto overPositions = [&](Tensor ofFilters) {
    if (!ofFilters || ofFilters.rank() == 0)
      return ofFilters;
    Shape shape(rank - 1, builder.size(1));
    shape.front() = ofFilters.dim(0);
    return reshape(ofFilters, shape);
  };
  if (x.zero) {
    SmallVector<int64_t> axes = to_vector(seq<int64_t>(1, rank));
    Tensor sums = overPositions(sum(cast(w.integers, wide), axes));
    if (w.zero) {
      Tensor zeros = overPositions(w.zero);
      for (Expr size : w.integers.shape().drop_front())
        zeros = zeros * size;
      sums = sums - zeros;
    }
    product = product - cast(x.zero, wide) * sums;
  }
  if (w.zero)
    product = product - overPositions(w.zero) *
                            windowReduce(ReduceKind::add, sum(cast(picture, wide), {1}, /*keepDims=*/true), window);
  return product;
}

} // namespace freestone::expressions
