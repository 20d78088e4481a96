#include "compiler/import/operators/ZeroPoints.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// An operand of a matrix product with its zero point.
class CenteredOperand {
public:
  CenteredOperand(Node &node, Tensor x, Tensor zero, bool isLhs);

  /// The operand of the product; its zero point is null where it is part of it.
  Tensor factor, zero;
  /// The sums of the operand along k, of the shape of the zero point of all rows or columns. The product has a
  /// dimension for the columns or rows of the `other` operand, if that is no vector.
  Tensor sum(bool hasOther);
  Tensor zeroFor(bool hasOther);
  Expr depth() { return factor.dim(depthAxis); }

private:
  mlir::Type wide;
  /// The axes of k, and of rows or columns; equal for a vector.
  int64_t depthAxis, freeAxis;
};

CenteredOperand::CenteredOperand(Node &node, Tensor x, Tensor zeroPoint, bool isLhs)
    : factor(x), zero(zeroPoint), wide(node.builder().getI32Type()) {
  int64_t last = x.rank() - 1, before = std::max<int64_t>(last - 1, 0);
  depthAxis = isLhs ? last : before;
  freeAxis = isLhs ? before : last;
  if (!zero)
    return;
  // The sums of the other operand would be another pass over it, and a row is short.
  bool isRow = isLhs && x.elementCount() == x.dim(depthAxis);
  if (zero.rank() <= 1 && zero.elementCount().isConstant(1)) {
    zero = reshape(zero, {});
    if (!isRow) {
      zero = cast(zero, wide);
      return;
    }
  } else if (zero.rank() == 1) {
    Shape shape(x.rank(), node.builder().size(1));
    shape[freeAxis] = zero.dim(0);
    zero = reshape(zero, shape);
  }
  if (zero && x.rank() > 1 && zero.rank() == x.rank() && zero.dim(depthAxis).isConstant(1)) {
    zero = cast(zero, wide);
    return;
  }
  // Differences of 8-bit integers fit i16.
  mlir::Type half = node.builder().getI16Type();
  factor = cast(x, half) - cast(zero, half);
  zero = {};
}

Tensor CenteredOperand::sum(bool hasOther) {
  return reduce(graph::ReduceKind::add, cast(factor, wide), {depthAxis}, /*keepDims=*/factor.rank() > 1 && hasOther);
}

Tensor CenteredOperand::zeroFor(bool hasOther) {
  return zero && zero.rank() > 0 && !hasOther ? squeeze(zero, {depthAxis}) : zero;
}

} // namespace

Tensor multiplyCentered(Node &node, Tensor a, Tensor zeroA, Tensor b, Tensor zeroB) {
  if (!a || !b || a.rank() == 0 || b.rank() == 0)
    return matmul(a, b, node.builder().getI32Type());
  CenteredOperand lhs(node, a, zeroA, /*isLhs=*/true), rhs(node, b, zeroB, /*isLhs=*/false);
  bool hasRows = a.rank() > 1, hasColumns = b.rank() > 1;
  Tensor product = matmul(lhs.factor, rhs.factor, node.builder().getI32Type());
  Tensor rowZero = lhs.zeroFor(hasColumns), columnZero = rhs.zeroFor(hasRows);
  if (rowZero) {
    // The sums of columns of b - zeroB.
    Tensor sums = rhs.sum(hasRows);
    if (columnZero)
      sums = sums - columnZero * beside(columnZero, rhs.depth());
    product = product - rowZero * sums;
  }
  if (columnZero)
    product = product - columnZero * lhs.sum(hasColumns);
  return product;
}

} // namespace freestone::importer
