#include "compiler/plan/IndexMaps.h"

#include "compiler/dialect/graph/ShapeRules.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

bool LoopSpace::isNonNegative(Expr index) const {
  // Loops are not negative, which `sizes` need not say.
  sym::Bounds known = sizes;
  for (unsigned loop : getLoops(index)) {
    sym::Interval range = sym::Interval::size();
    if (std::optional<int64_t> extent = extents[loop].asConstant())
      range.hi = std::max<int64_t>(*extent - 1, 0);
    std::optional<StringRef> name = getLoopSymbol(index.context(), loop).asSymbol();
    known.set(*name, range);
  }
  return known.provablyNonNegative(index);
}

/// The upper bound of an index whose loops have non-negative coefficients; nothing for others.
static std::optional<Expr> getLargest(Expr index, ArrayRef<Expr> extents, const sym::Bounds &sizes) {
  std::optional<LinearIndex> linear = asLinear(index, extents.size());
  if (!linear)
    return std::nullopt;
  Expr largest = linear->offset;
  for (auto [stride, extent] : llvm::zip_equal(linear->strides, extents)) {
    if (stride.isConstant(0) || !sizes.provablyNonNegative(stride)) {
      if (!stride.isConstant(0))
        return std::nullopt;
      continue;
    }
    largest = largest + stride * (extent - 1);
  }
  return largest;
}

bool LoopSpace::isInside(Expr index, Expr extent) const {
  if (!isNonNegative(index))
    return false;
  if (std::optional<Expr> largest = getLargest(index, extents, sizes))
    return isNonNegative(extent - 1 - *largest);
  return false;
}

/// A term as an expression.
static Expr fromTerm(MLIRContext *context, const sym::Term &term) {
  Expr result = Expr::constant(context, term.coefficient);
  for (const sym::Factor &factor : term.factors)
    for (unsigned i = 0; i < factor.power; ++i)
      result = result * factor.atom;
  return result;
}

/// Splits off the part of the dividend that the divisor divides; the remainder vanishes where it is provably within the
/// divisor. A divisor that may be 0 is the extent of a loop, which then does not run.
Expr LoopSpace::simplifyDivision(Expr dividend, Expr divisor) const {
  MLIRContext *context = dividend.context();
  Expr quotient = Expr::constant(context, 0), rest = Expr::constant(context, 0);
  for (const sym::Term &term : dividend.terms()) {
    Expr value = fromTerm(context, term);
    if (std::optional<Expr> exact = value.exactDiv(divisor))
      quotient = quotient + *exact;
    else
      rest = rest + value;
  }
  if (rest.isConstant(0) || isInside(rest, divisor))
    return quotient;
  if (divisor.isConstant())
    return quotient + Expr::floorDiv(rest, divisor);
  return Expr::floorDiv(dividend, divisor);
}

Expr LoopSpace::simplify(Expr index) const {
  MLIRContext *context = index.context();
  if (llvm::none_of(index.terms(), [](const sym::Term &term) {
        return llvm::any_of(term.factors, [](const sym::Factor &factor) { return !factor.atom.asSymbol(); });
      }))
    return index;
  Expr result = Expr::constant(context, 0);
  for (const sym::Term &term : index.terms()) {
    Expr product = Expr::constant(context, term.coefficient);
    for (const sym::Factor &factor : term.factors) {
      Expr atom = factor.atom;
      if (atom.kind() == sym::Kind::FloorDiv)
        atom = simplifyDivision(simplify(atom.operands()[0]), simplify(atom.operands()[1]));
      for (unsigned i = 0; i < factor.power; ++i)
        product = product * atom;
    }
    result = result + product;
  }
  return result;
}

SmallVector<Expr> LoopSpace::reshape(ArrayRef<Expr> indices, ArrayRef<Expr> from, ArrayRef<Expr> to) const {
  MLIRContext *context = from.empty() && to.empty() ? nullptr : (from.empty() ? to : from).front().context();
  SmallVector<Expr> result(to.size());
  for (const graph::ReshapeGroup &group : graph::getReshapeGroups(from, to)) {
    // An index outside of a dimension of 1 stays there, where a fill is read.
    bool isWhole = group.fromEnd - group.fromBegin == 1 && group.toEnd - group.toBegin == 1;
    if (isWhole && !isInside(indices[group.fromBegin], from[group.fromBegin])) {
      result[group.toBegin] = indices[group.fromBegin];
      continue;
    }
    Expr linear = Expr::constant(context, 0);
    for (unsigned i = group.fromBegin; i < group.fromEnd; ++i)
      linear = linear * from[i] + indices[i];
    for (unsigned j = group.toEnd; j > group.toBegin; --j) {
      Expr extent = to[j - 1];
      if (extent.isConstant(1)) {
        result[j - 1] = Expr::constant(context, 0);
        continue;
      }
      bool outermost =
          llvm::all_of(to.slice(group.toBegin, j - 1 - group.toBegin), [](Expr outer) { return outer.isConstant(1); });
      if (outermost) {
        result[j - 1] = linear;
        linear = Expr::constant(context, 0);
        continue;
      }
      Expr quotient = simplifyDivision(linear, extent);
      result[j - 1] = simplify(linear - quotient * extent);
      linear = quotient;
    }
  }
  return result;
}

} // namespace freestone::tile
