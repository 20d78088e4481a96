#include "compiler/expressions/Fold.h"

#include <cmath>
#include <numeric>

using namespace llvm;
using freestone::graph::BinaryKind;
using freestone::graph::CompareKind;
using freestone::graph::UnaryKind;
using freestone::sym::Expr;

namespace freestone::expressions {
namespace {

/// Larger expressions are not practical sizes, and slow down all later passes.
constexpr size_t maxTerms = 64;

/// Symbolic sizes are assumed to fit their type; constants must.
std::optional<Element> fitting(Expr value, mlir::Type type) {
  if (value.isInvalid() || value.terms().size() > maxTerms)
    return std::nullopt;
  std::optional<int64_t> constant = value.asConstant();
  auto integer = dyn_cast<mlir::IntegerType>(type);
  if (!constant || !integer)
    return Element(value);
  unsigned width = integer.getWidth();
  bool isUnsigned = integer.isUnsigned() || width == 1;
  bool fits = isUnsigned ? *constant >= 0 && (width == 64 || isUIntN(width, *constant)) : isIntN(width, *constant);
  return fits ? std::optional<Element>(value) : std::nullopt;
}

std::optional<double> realUnary(UnaryKind kind, double x) {
  switch (kind) {
  case UnaryKind::abs:
    return std::fabs(x);
  case UnaryKind::neg:
    return -x;
  case UnaryKind::sqrt:
    return std::sqrt(x);
  case UnaryKind::rsqrt:
    return 1 / std::sqrt(x);
  case UnaryKind::reciprocal:
    return 1 / x;
  case UnaryKind::floor:
    return std::floor(x);
  case UnaryKind::ceil:
    return std::ceil(x);
  case UnaryKind::round:
    return std::nearbyint(x);
  case UnaryKind::trunc:
    return std::trunc(x);
  case UnaryKind::exp:
    return std::exp(x);
  case UnaryKind::log:
    return std::log(x);
  default:
    return std::nullopt;
  }
}

std::optional<double> realBinary(BinaryKind kind, double lhs, double rhs) {
  switch (kind) {
  case BinaryKind::add:
    return lhs + rhs;
  case BinaryKind::sub:
    return lhs - rhs;
  case BinaryKind::mul:
    return lhs * rhs;
  case BinaryKind::div:
    return lhs / rhs;
  case BinaryKind::pow:
    return std::pow(lhs, rhs);
  case BinaryKind::min:
    return std::isnan(lhs) ? lhs : std::isnan(rhs) ? rhs : std::min(lhs, rhs);
  case BinaryKind::max:
    return std::isnan(lhs) ? lhs : std::isnan(rhs) ? rhs : std::max(lhs, rhs);
  default:
    return std::nullopt;
  }
}

/// 1 where lhs < rhs, else 0: decided where the bounds do, else as an expression.
Expr isLess(Expr lhs, Expr rhs, const sym::Bounds &bounds) {
  Expr one = Expr::constant(lhs.context(), 1), zero = Expr::constant(lhs.context(), 0);
  if (bounds.provablyLT(lhs, rhs))
    return one;
  if (bounds.provablyLE(rhs, lhs))
    return zero;
  return Expr::min(Expr::max(rhs - lhs, zero), one);
}

Expr isEqual(Expr lhs, Expr rhs, const sym::Bounds &bounds) {
  if (bounds.provablyDistinct(lhs, rhs))
    return Expr::constant(lhs.context(), 0);
  return 1 - isLess(lhs, rhs, bounds) - isLess(rhs, lhs, bounds);
}

std::optional<Expr> integerDivision(Expr lhs, Expr rhs, const sym::Bounds &bounds) {
  std::optional<int64_t> l = lhs.asConstant(), r = rhs.asConstant();
  if (r == 0)
    return std::nullopt;
  if (l && r)
    return *r == -1 ? -lhs : Expr::constant(lhs.context(), *l / *r);
  if (std::optional<Expr> exact = r ? lhs.exactDiv(rhs) : std::nullopt)
    return exact;
  if (bounds.provablyNonNegative(lhs) && bounds.provablyNonNegative(rhs))
    return Expr::floorDiv(lhs, rhs);
  // Truncates, whatever the sign of the dividend.
  Expr zero = Expr::constant(lhs.context(), 0);
  if (bounds.provablyLT(zero, rhs))
    return Expr::floorDiv(Expr::max(lhs, zero), rhs) - Expr::floorDiv(Expr::max(-lhs, zero), rhs);
  return std::nullopt;
}

std::optional<Expr> integerBinary(BinaryKind kind, Expr lhs, Expr rhs, const sym::Bounds &bounds) {
  switch (kind) {
  case BinaryKind::add:
    return lhs + rhs;
  case BinaryKind::sub:
    return lhs - rhs;
  case BinaryKind::mul:
    return lhs * rhs;
  case BinaryKind::min:
    return Expr::min(lhs, rhs);
  case BinaryKind::max:
    return Expr::max(lhs, rhs);
  case BinaryKind::div:
    return integerDivision(lhs, rhs, bounds);
  case BinaryKind::rem:
    if (std::optional<Expr> quotient = integerDivision(lhs, rhs, bounds))
      return lhs - *quotient * rhs;
    return std::nullopt;
  case BinaryKind::mod:
    return rhs.isConstant(0) ? std::nullopt : std::optional(Expr::mod(lhs, rhs));
  case BinaryKind::and_:
  case BinaryKind::or_:
  case BinaryKind::xor_: {
    std::optional<int64_t> l = lhs.asConstant(), r = rhs.asConstant();
    if (!l || !r)
      return std::nullopt;
    int64_t bits = kind == BinaryKind::and_ ? *l & *r : kind == BinaryKind::or_ ? *l | *r : *l ^ *r;
    return Expr::constant(lhs.context(), bits);
  }
  default:
    return std::nullopt;
  }
}

/// A fraction or integer as numerator and denominator; nothing for real numbers that are not whole.
std::optional<std::pair<Expr, Expr>> asFraction(const Element &x, mlir::MLIRContext *context) {
  Expr one = Expr::constant(context, 1);
  if (x.isFraction())
    return std::pair(x.getNumerator(), x.getDenominator());
  if (x.isInteger())
    return std::pair(x.asExpr(), one);
  double real = *x.asReal();
  if (real != std::trunc(real) || std::fabs(real) > 1e15)
    return std::nullopt;
  return std::pair(Expr::constant(context, int64_t(real)), one);
}

std::optional<Element> fittingFraction(Expr numerator, Expr denominator, const sym::Bounds &bounds) {
  for (Expr *part : {&numerator, &denominator}) {
    *part = bounds.simplify(*part);
    if (part->isInvalid() || part->terms().size() > maxTerms)
      return std::nullopt;
  }
  return denominator.isConstant(0) ? std::nullopt : std::optional(Element::fraction(numerator, denominator));
}

/// Quotients of sizes and of numbers that inputs state, sums and differences over one denominator, and multiples of
/// 1/64: products with such are exact as floats too.
std::optional<Element> foldFractions(BinaryKind kind, const Element &lhs, const Element &rhs, mlir::Type type,
                                     const sym::Bounds &bounds) {
  constexpr int64_t exactly = 64;
  if (kind == BinaryKind::mul) {
    const Element &size = lhs.isInteger() ? lhs : rhs, &factor = lhs.isInteger() ? rhs : lhs;
    double parts = factor.asReal().value_or(NAN) * exactly;
    if (!size.isInteger() || parts != std::trunc(parts) || std::fabs(parts) > 1e6)
      return std::nullopt;
    int64_t common = std::gcd(int64_t(parts), exactly);
    return fittingFraction(size.asExpr() * (int64_t(parts) / common),
                           Expr::constant(type.getContext(), exactly / common), bounds);
  }
  auto left = asFraction(lhs, type.getContext()), right = asFraction(rhs, type.getContext());
  if (!left || !right)
    return std::nullopt;
  auto [a, b] = *left;
  auto [c, d] = *right;
  if (kind == BinaryKind::div)
    return b == d ? fittingFraction(a, c, bounds) : fittingFraction(a * d, b * c, bounds);
  if (kind != BinaryKind::add && kind != BinaryKind::sub)
    return std::nullopt;
  if (d.isConstant(1))
    c = c * b;
  else if (b.isConstant(1))
    a = a * d;
  else if (b != d)
    return std::nullopt;
  return fittingFraction(kind == BinaryKind::add ? a + c : a - c, d.isConstant(1) ? b : d, bounds);
}

} // namespace

std::optional<Element> foldUnary(UnaryKind kind, const Element &x, mlir::Type type, const sym::Bounds &bounds) {
  if (x.isFraction()) {
    Expr above = x.getNumerator(), below = x.getDenominator();
    if (kind == UnaryKind::neg)
      return fittingFraction(-above, below, bounds);
    if (kind == UnaryKind::floor)
      return fitting(bounds.simplify(Expr::floorDiv(above, below)), type);
    if (kind == UnaryKind::ceil)
      return fitting(bounds.simplify(Expr::ceilDiv(above, below)), type);
    return std::nullopt;
  }
  if (x.isInteger()) {
    Expr value = x.asExpr(), zero = Expr::constant(value.context(), 0);
    if (kind == UnaryKind::neg)
      return fitting(-value, type);
    if (kind == UnaryKind::abs)
      return fitting(bounds.provablyNonNegative(value) ? value : Expr::max(value, -value), type);
    if (kind == UnaryKind::sign)
      return fitting(isLess(zero, value, bounds) - isLess(value, zero, bounds), type);
    if (kind == UnaryKind::not_ && type.isInteger(1))
      return fitting(1 - value, type);
    bool rounds = kind == UnaryKind::floor || kind == UnaryKind::ceil || kind == UnaryKind::round;
    if (rounds && isa<mlir::FloatType>(type))
      return x;
  }
  std::optional<double> real = isa<mlir::FloatType>(type) ? x.asReal() : std::nullopt;
  std::optional<double> result = real ? realUnary(kind, *real) : std::nullopt;
  return result ? std::optional<Element>(roundTo(*result, type)) : std::nullopt;
}

std::optional<Element> foldBinary(BinaryKind kind, const Element &lhs, const Element &rhs, mlir::Type type,
                                  const sym::Bounds &bounds) {
  bool isFloat = isa<mlir::FloatType>(type);
  if (isFloat && lhs.asReal() && rhs.asReal()) {
    std::optional<double> result = realBinary(kind, *lhs.asReal(), *rhs.asReal());
    return result ? std::optional<Element>(roundTo(*result, type)) : std::nullopt;
  }
  auto isPart = [](const Element &element) {
    std::optional<double> real = element.asReal();
    return element.isFraction() || (real && *real != std::trunc(*real));
  };
  if (isFloat && (isPart(lhs) || isPart(rhs) || kind == BinaryKind::div))
    return foldFractions(kind, lhs, rhs, type, bounds);
  // A float converted from a size stays symbolic under operations that keep integers integral.
  auto asInteger = [](const Element &element, const Element &other) -> std::optional<Expr> {
    if (element.isInteger())
      return element.asExpr();
    double real = *element.asReal();
    if (real != std::trunc(real) || std::fabs(real) > 1e15)
      return std::nullopt;
    return Expr::constant(other.asExpr().context(), int64_t(real));
  };
  std::optional<Expr> left = asInteger(lhs, rhs), right = asInteger(rhs, lhs);
  if (!left || !right ||
      (isFloat && kind != BinaryKind::add && kind != BinaryKind::sub && kind != BinaryKind::mul &&
       kind != BinaryKind::min && kind != BinaryKind::max))
    return std::nullopt;
  std::optional<Expr> result = integerBinary(kind, *left, *right, bounds);
  return result ? fitting(bounds.simplify(*result), type) : std::nullopt;
}

std::optional<Element> foldCompare(CompareKind kind, const Element &lhs, const Element &rhs, mlir::MLIRContext *context,
                                   const sym::Bounds &bounds) {
  bool isReal = lhs.asReal() && rhs.asReal();
  double x = isReal ? *lhs.asReal() : 0, y = isReal ? *rhs.asReal() : 0;
  if (!isReal && (!lhs.isInteger() || !rhs.isInteger()))
    return std::nullopt;
  auto decide = [&](auto real, auto expr) {
    return isReal && !(lhs.isInteger() && rhs.isInteger()) ? Expr::constant(context, real(x, y))
                                                           : expr(lhs.asExpr(), rhs.asExpr());
  };
  Expr result;
  switch (kind) {
  case CompareKind::eq:
    result = decide(std::equal_to<>(), [&](Expr l, Expr r) { return isEqual(l, r, bounds); });
    break;
  case CompareKind::ne:
    result = decide(std::not_equal_to<>(), [&](Expr l, Expr r) { return 1 - isEqual(l, r, bounds); });
    break;
  case CompareKind::lt:
    result = decide(std::less<>(), [&](Expr l, Expr r) { return isLess(l, r, bounds); });
    break;
  case CompareKind::le:
    result = decide(std::less_equal<>(), [&](Expr l, Expr r) { return 1 - isLess(r, l, bounds); });
    break;
  case CompareKind::gt:
    result = decide(std::greater<>(), [&](Expr l, Expr r) { return isLess(r, l, bounds); });
    break;
  case CompareKind::ge:
    result = decide(std::greater_equal<>(), [&](Expr l, Expr r) { return 1 - isLess(l, r, bounds); });
    break;
  }
  result = bounds.simplify(result);
  if (result.isInvalid() || result.terms().size() > maxTerms)
    return std::nullopt;
  return Element(result);
}

std::optional<Element> foldSelect(const Element &condition, const Element &whenTrue, const Element &whenFalse) {
  if (std::optional<int64_t> holds = condition.asConstantInteger())
    return *holds ? whenTrue : whenFalse;
  if (!whenTrue.isInteger() || !whenFalse.isInteger())
    return std::nullopt;
  Expr c = condition.asExpr(), result = c * whenTrue.asExpr() + (1 - c) * whenFalse.asExpr();
  if (result.isInvalid() || result.terms().size() > maxTerms)
    return std::nullopt;
  return Element(result);
}

std::optional<Element> foldCast(const Element &x, mlir::Type from, mlir::Type to, const sym::Bounds &bounds) {
  if (x.isFraction()) {
    if (isa<mlir::FloatType>(to))
      return x;
    std::optional<Expr> whole =
        to.isInteger(1) ? std::nullopt : integerDivision(x.getNumerator(), x.getDenominator(), bounds);
    return whole ? fitting(bounds.simplify(*whole), to) : std::nullopt;
  }
  if (to.isInteger(1)) {
    if (!x.isInteger())
      return Element(Expr::constant(to.getContext(), *x.asReal() != 0));
    Expr value = x.asExpr();
    return Element(bounds.simplify(1 - isEqual(value, Expr::constant(value.context(), 0), bounds)));
  }
  std::optional<double> real = x.asReal();
  if (isa<mlir::FloatType>(to)) {
    // Beyond 2^53 the double is already rounded.
    if (x.isInteger() && real && std::fabs(*real) > 0x1p53)
      return std::nullopt;
    return real ? std::optional<Element>(roundTo(*real, to)) : std::optional(x);
  }
  if (x.isInteger())
    return fitting(x.asExpr(), to);
  if (!(std::fabs(*real) < 9e18))
    return std::nullopt;
  return fitting(Expr::constant(to.getContext(), int64_t(*real)), to);
}

} // namespace freestone::expressions
