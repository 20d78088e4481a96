#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/sym/ExprStorage.h"

using namespace mlir;
using namespace freestone::sym;
using namespace freestone::sym::detail;

/// Drops operands that another operand always dominates.
static Expr simplifyExtremum(const Bounds &bounds, Kind kind, ArrayRef<Expr> operands) {
  SmallVector<Expr, 4> kept(operands);
  for (size_t i = 0; i < kept.size();) {
    bool beaten = llvm::any_of(llvm::enumerate(kept), [&](auto other) {
      if (other.index() == i)
        return false;
      return kind == Kind::Min ? bounds.provablyLE(other.value(), kept[i]) : bounds.provablyLE(kept[i], other.value());
    });
    if (beaten)
      kept.erase(kept.begin() + i);
    else
      ++i;
  }
  return getExtremum(kind, kept);
}

/// Splits quotient*divisor + remainder by the terms that the divisor divides.
static std::pair<Expr, Expr> splitByDivisor(Expr dividend, Expr divisor) {
  Expr quotient = Expr::constant(dividend.context(), 0), remainder = quotient;
  if (std::optional<Expr> exact = dividend.exactDiv(divisor))
    return {*exact, remainder};
  for (const Term &term : dividend.terms()) {
    Expr single = getSum(dividend.context(), term);
    if (std::optional<Expr> exact = single.exactDiv(divisor))
      quotient = quotient + *exact;
    else
      remainder = remainder + single;
  }
  return {quotient, remainder};
}

static Expr divide(Kind kind, Expr dividend, Expr divisor) {
  return kind == Kind::FloorDiv ? Expr::floorDiv(dividend, divisor) : Expr::ceilDiv(dividend, divisor);
}

/// Cancels factors of the divisor that all terms of the dividend share, if they can't be 0.
static Expr simplifyDivision(const Bounds &bounds, Kind kind, Expr dividend, Expr divisor) {
  if (divisor.isConstant() || !bounds.provablyNonZero(divisor))
    return divide(kind, dividend, divisor);
  auto [quotient, remainder] = splitByDivisor(dividend, divisor);
  for (const Factor &factor : divisor.terms().front().factors) {
    for (unsigned i = 0; i < factor.power; ++i) {
      auto smallerRemainder = remainder.exactDiv(factor.atom), smallerDivisor = divisor.exactDiv(factor.atom);
      // A nonzero multiple of the factor implies a nonzero factor.
      if (!smallerRemainder || !smallerDivisor)
        break;
      remainder = *smallerRemainder;
      divisor = *smallerDivisor;
    }
  }
  Expr result = quotient + divide(kind, remainder, divisor);
  return result.isInvalid() ? divide(kind, dividend, divisor) : result;
}

static Expr simplifyAtom(const Bounds &bounds, Expr atom) {
  Interval range = bounds.interval(atom);
  if (range.isPoint())
    return Expr::constant(atom.context(), range.lo);
  if (atom.kind() == Kind::Symbol)
    return atom;
  SmallVector<Expr, 4> operands;
  for (Expr operand : atom.operands())
    operands.push_back(bounds.simplify(operand));
  if (atom.kind() == Kind::Min || atom.kind() == Kind::Max)
    return simplifyExtremum(bounds, atom.kind(), operands);
  return simplifyDivision(bounds, atom.kind(), operands[0], operands[1]);
}

/// c*(n floordiv c) is n if n is always a multiple of c.
static Expr multiplyOutDivision(const Bounds &bounds, Expr sum) {
  for (const Term &term : sum.terms()) {
    for (const Factor &factor : term.factors) {
      auto division = asConstantDivision(factor.atom);
      if (!division || term.coefficient % division->divisor != 0 ||
          !bounds.isMultipleOf(division->dividend, division->divisor))
        continue;
      Expr single = getSum(sum.context(), term);
      std::optional<Expr> others = single.exactDiv(factor.atom * division->divisor);
      if (!others)
        continue;
      Expr changed = sum - single + *others * division->dividend;
      if (!changed.isInvalid())
        return multiplyOutDivision(bounds, changed);
    }
  }
  return sum;
}

Expr Bounds::simplify(Expr expr) const {
  if (expr.isInvalid())
    return expr;
  Interval range = interval(expr);
  if (range.isPoint())
    return Expr::constant(expr.context(), range.lo);
  if (expr.isAtom())
    return simplifyAtom(*this, expr);

  Expr sum = Expr::constant(expr.context(), 0);
  for (const Term &term : expr.terms()) {
    Expr product = Expr::constant(expr.context(), term.coefficient);
    for (const Factor &factor : term.factors) {
      Expr atom = simplifyAtom(*this, factor.atom);
      for (unsigned i = 0; i < factor.power; ++i)
        product = product * atom;
    }
    sum = sum + product;
  }
  sum = multiplyOutDivision(*this, sum);
  return sum.isInvalid() ? expr : sum;
}
