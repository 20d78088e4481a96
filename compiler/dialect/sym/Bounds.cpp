#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/sym/ExprStorage.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace freestone::sym;
using namespace freestone::sym::detail;

static constexpr int64_t minusInfinity = Interval::minusInfinity;
static constexpr int64_t plusInfinity = Interval::plusInfinity;

/// Nesting depth to which divisions and minima are expanded to refine an interval.
static constexpr unsigned maxRefinements = 4;

/// Sums refined in one analysis: nested minima would make their number grow exponentially.
static constexpr unsigned maxRefinedSums = 500;

/// An end of an interval, wide enough that no product of two finite ends reaches infinity. INT64_MAX is finite as a
/// lower end (the value is at least this), and so is INT64_MIN as an upper end.
using Wide = __int128;
static constexpr Wide infinity = (static_cast<Wide>(1) << 126) + 1;

static Wide lowerEnd(Interval interval) { return interval.lo == minusInfinity ? -infinity : interval.lo; }
static Wide upperEnd(Interval interval) { return interval.hi == plusInfinity ? infinity : interval.hi; }

static int64_t saturate(Wide value) {
  if (value >= plusInfinity)
    return plusInfinity;
  return value <= minusInfinity ? minusInfinity : static_cast<int64_t>(value);
}

static bool isInfinite(Wide end) { return end == infinity || end == -infinity; }

static bool isInfinite(int64_t end) { return end == minusInfinity || end == plusInfinity; }

/// The sum of two lower or two upper ends; infinities of both signs never meet in them.
static Wide addEnds(Wide lhs, Wide rhs) {
  if (isInfinite(lhs))
    return lhs;
  return isInfinite(rhs) ? rhs : lhs + rhs;
}

static Wide multiplyEnds(Wide lhs, Wide rhs) {
  if (lhs == 0 || rhs == 0)
    return 0;
  if (isInfinite(lhs) || isInfinite(rhs))
    return (lhs < 0) == (rhs < 0) ? infinity : -infinity;
  return lhs * rhs;
}

static Interval add(Interval lhs, Interval rhs) {
  return {saturate(addEnds(lowerEnd(lhs), lowerEnd(rhs))), saturate(addEnds(upperEnd(lhs), upperEnd(rhs)))};
}

static Interval multiply(Interval lhs, Interval rhs) {
  Wide corners[] = {multiplyEnds(lowerEnd(lhs), lowerEnd(rhs)), multiplyEnds(lowerEnd(lhs), upperEnd(rhs)),
                    multiplyEnds(upperEnd(lhs), lowerEnd(rhs)), multiplyEnds(upperEnd(lhs), upperEnd(rhs))};
  return {saturate(*llvm::min_element(corners)), saturate(*llvm::max_element(corners))};
}

static Interval negate(Interval interval) { return multiply(interval, Interval::point(-1)); }

static Interval intersect(Interval lhs, Interval rhs) { return {std::max(lhs.lo, rhs.lo), std::min(lhs.hi, rhs.hi)}; }

static Interval power(Interval base, unsigned exponent) {
  Interval result = Interval::point(1);
  for (unsigned i = 0; i < exponent; ++i)
    result = multiply(result, base);
  return exponent % 2 == 0 ? intersect(result, Interval::size()) : result;
}

static Wide divideEnds(Wide dividend, Wide divisor) {
  if (isInfinite(divisor))
    return dividend < 0 ? -1 : 0;
  if (isInfinite(dividend))
    return dividend;
  return dividend / divisor - (dividend % divisor < 0);
}

/// Rounded down; the divisor is positive.
static Interval divide(Interval dividend, Interval divisor) {
  Wide nearest = lowerEnd(divisor), farthest = upperEnd(divisor);
  Wide lowest = lowerEnd(dividend), highest = upperEnd(dividend);
  return {saturate(std::min(divideEnds(lowest, nearest), divideEnds(lowest, farthest))),
          saturate(std::max(divideEnds(highest, nearest), divideEnds(highest, farthest)))};
}

namespace {

class IntervalAnalysis {
public:
  explicit IntervalAnalysis(const Bounds &bounds) : bounds(bounds) {}

  Interval ofSum(Expr sum, unsigned refinements);

private:
  Interval ofAtom(Expr atom, unsigned refinements);
  Interval ofDivision(Expr atom, unsigned refinements);
  Interval ofTerms(Expr sum, unsigned refinements);
  Interval ofShiftedTerms(Expr sum, unsigned refinements);
  Interval withDivisionExpanded(Expr sum, int64_t coefficient, Expr atom, unsigned refinements);
  Interval withExtremumExpanded(Expr sum, int64_t coefficient, Expr atom, unsigned refinements);

  const Bounds &bounds;
  unsigned refinedSums = 0;
};

} // namespace

Interval IntervalAnalysis::ofDivision(Expr atom, unsigned refinements) {
  Interval dividend = ofSum(atom.operands()[0], refinements), divisor = ofSum(atom.operands()[1], refinements);
  if (divisor.hi <= 0 && divisor.lo < 0) {
    dividend = negate(dividend);
    divisor = negate(divisor);
  }
  if (divisor.lo < 0)
    return Interval::all();
  bool mayBeZero = divisor.lo == 0;
  Interval positive{std::max<int64_t>(divisor.lo, 1), std::max<int64_t>(divisor.hi, 1)};
  Interval quotient =
      atom.kind() == Kind::FloorDiv ? divide(dividend, positive) : negate(divide(negate(dividend), positive));
  if (mayBeZero)
    quotient = {std::min<int64_t>(quotient.lo, 0), std::max<int64_t>(quotient.hi, 0)};
  return quotient;
}

Interval IntervalAnalysis::ofAtom(Expr atom, unsigned refinements) {
  if (std::optional<StringRef> name = atom.asSymbol())
    return bounds.of(*name).range;
  if (atom.kind() == Kind::FloorDiv || atom.kind() == Kind::CeilDiv)
    return ofDivision(atom, refinements);
  Interval result = ofSum(atom.operands().front(), refinements);
  for (Expr operand : atom.operands().drop_front()) {
    Interval other = ofSum(operand, refinements);
    if (atom.kind() == Kind::Min)
      result = {std::min(result.lo, other.lo), std::min(result.hi, other.hi)};
    else
      result = {std::max(result.lo, other.lo), std::max(result.hi, other.hi)};
  }
  return result;
}

Interval IntervalAnalysis::ofTerms(Expr sum, unsigned refinements) {
  Interval result = Interval::point(0);
  for (const Term &term : sum.terms()) {
    Interval product = Interval::point(term.coefficient);
    for (const Factor &factor : term.factors)
      product = multiply(product, power(ofAtom(factor.atom, refinements), factor.power));
    result = add(result, product);
  }
  return result;
}

/// Replaces every atom by its lower bound plus a non-negative rest: b*s - b with s >= 1 becomes b*s', whose sign the
/// single terms do not show.
Interval IntervalAnalysis::ofShiftedTerms(Expr sum, unsigned refinements) {
  Expr shifted = Expr::constant(sum.context(), 0);
  for (const Term &term : sum.terms()) {
    Expr product = Expr::constant(sum.context(), term.coefficient);
    for (const Factor &factor : term.factors) {
      int64_t lo = ofAtom(factor.atom, refinements).lo;
      if (isInfinite(lo) || factor.power > 4)
        return Interval::all();
      for (unsigned i = 0; i < factor.power; ++i)
        product = product * (factor.atom + lo);
    }
    shifted = shifted + product;
  }
  if (shifted.isInvalid())
    return Interval::all();

  // The atoms now stand for their rests.
  Interval result = Interval::point(0);
  for (const Term &term : shifted.terms()) {
    Interval product = Interval::point(term.coefficient);
    for (const Factor &factor : term.factors) {
      Interval range = ofAtom(factor.atom, refinements);
      Interval rest = range.hi == plusInfinity ? Interval::size() : add(range, Interval::point(-range.lo));
      product = multiply(product, power(rest, factor.power));
    }
    result = add(result, product);
  }
  return result;
}

/// m*(n floordiv c) lies between m/c*(n - c + 1) and m/c*n; the sum is scaled so that m/c is whole.
Interval IntervalAnalysis::withDivisionExpanded(Expr sum, int64_t coefficient, Expr atom, unsigned refinements) {
  auto [dividend, divisor] = *asConstantDivision(atom);
  int64_t scale = divisor / std::gcd(coefficient, divisor);
  int64_t scaled;
  if (llvm::MulOverflow(coefficient, scale, scaled))
    return Interval::all();
  int64_t ratio = scaled / divisor;
  Expr rest = (sum - atom * coefficient) * scale + dividend * ratio;
  if (rest.isInvalid())
    return Interval::all();
  Interval range = add(ofSum(rest, refinements - 1), multiply(Interval::point(ratio), Interval{1 - divisor, 0}));
  Interval whole = Interval::point(scale);
  // The scaled sum is a multiple of the scale: round inwards.
  return {negate(divide(negate(range), whole)).lo, divide(range, whole).hi};
}

/// A minimum is one of its operands and no more than any of them.
Interval IntervalAnalysis::withExtremumExpanded(Expr sum, int64_t coefficient, Expr atom, unsigned refinements) {
  bool atMostEach = (atom.kind() == Kind::Min) == (coefficient > 0);
  std::optional<Interval> result;
  for (Expr operand : atom.operands()) {
    Expr chosen = sum - atom * coefficient + operand * coefficient;
    Interval range = chosen.isInvalid() ? Interval::all() : ofSum(chosen, refinements - 1);
    if (!result)
      result = range;
    else if (atMostEach)
      result = Interval{std::min(result->lo, range.lo), std::min(result->hi, range.hi)};
    else
      result = Interval{std::max(result->lo, range.lo), std::max(result->hi, range.hi)};
  }
  return *result;
}

Interval IntervalAnalysis::ofSum(Expr sum, unsigned refinements) {
  if (sum.isInvalid())
    return Interval::all();
  if (sum.isAtom())
    return ofAtom(sum, refinements);
  Interval result = ofTerms(sum, refinements);
  if (refinements == 0 || sum.terms().size() < 2 || result.isPoint() || ++refinedSums > maxRefinedSums)
    return result;

  result = intersect(result, ofShiftedTerms(sum, refinements - 1));
  for (const Term &term : sum.terms()) {
    auto multiple = asMultipleOfAtom(term);
    if (!multiple || multiple->first == minusInfinity)
      continue;
    auto [coefficient, atom] = *multiple;
    if (atom.kind() == Kind::Min || atom.kind() == Kind::Max)
      result = intersect(result, withExtremumExpanded(sum, coefficient, atom, refinements));
    else if (asConstantDivision(atom))
      result = intersect(result, withDivisionExpanded(sum, coefficient, atom, refinements));
  }
  return result;
}

SymbolBounds Bounds::of(StringRef symbol) const {
  auto it = symbols.find(symbol);
  if (it == symbols.end())
    return {unknown, 1};
  auto [range, multipleOf] = it->second;
  if (!isInfinite(range.lo))
    range.lo = saturate(-static_cast<Wide>(floorQuotient(-range.lo, multipleOf)) * multipleOf);
  if (!isInfinite(range.hi))
    range.hi = saturate(static_cast<Wide>(floorQuotient(range.hi, multipleOf)) * multipleOf);
  return {range, multipleOf};
}

Interval Bounds::interval(Expr expr) const { return IntervalAnalysis(*this).ofSum(expr, maxRefinements); }

bool Bounds::provablyLE(Expr lhs, Expr rhs) const { return lhs == rhs || provablyNonNegative(rhs - lhs); }

bool Bounds::provablyLT(Expr lhs, Expr rhs) const { return provablyPositive(rhs - lhs); }

bool Bounds::provablyNonZero(Expr expr) const { return !interval(expr).contains(0); }

bool Bounds::provablyDistinct(Expr lhs, Expr rhs) const { return provablyNonZero(rhs - lhs); }

static int64_t divisorOfAtom(const Bounds &bounds, Expr atom) {
  if (std::optional<StringRef> name = atom.asSymbol())
    return bounds.of(*name).multipleOf;
  if (atom.kind() == Kind::Min || atom.kind() == Kind::Max) {
    int64_t result = 0;
    for (Expr operand : atom.operands())
      result = std::gcd(result, bounds.divisor(operand));
    return result;
  }
  auto division = asConstantDivision(atom);
  if (!division)
    return 1;
  int64_t dividend = bounds.divisor(division->dividend);
  return dividend % division->divisor == 0 ? dividend / division->divisor : 1;
}

int64_t Bounds::divisor(Expr expr) const {
  if (expr.isInvalid())
    return 1;
  int64_t result = 0;
  for (const Term &term : expr.terms()) {
    if (term.coefficient == minusInfinity)
      return 1;
    int64_t product = llvm::AbsoluteValue(term.coefficient);
    for (const Factor &factor : term.factors) {
      int64_t divisor = divisorOfAtom(*this, factor.atom);
      // On overflow the divisor found so far still holds.
      for (unsigned i = 0; i < factor.power; ++i)
        if (int64_t larger; !llvm::MulOverflow(product, divisor, larger))
          product = larger;
    }
    result = std::gcd(result, product);
  }
  return result;
}
