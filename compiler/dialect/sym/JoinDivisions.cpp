#include "compiler/dialect/sym/ExprStorage.h"

using namespace mlir;
using namespace freestone::sym;
using namespace freestone::sym::detail;

// x floordiv 2a + (x + a) floordiv 2a == x floordiv a: a sum needs at most two of the three. Convolutions, poolings and
// splits produce all of them for the same size. The sum is first rewritten without upper halves, which is unique; from
// there, upper halves come back wherever they make it shorter.

namespace {

/// x floordiv 2a (lower, x's constant below a) and (x + a) floordiv 2a (upper).
struct Halves {
  bool isUpper;
  Expr lower, upper;
};

} // namespace

/// Limit of rewriting steps for one sum.
static constexpr unsigned maxSteps = 64;

/// Divisors above this are not split into halves.
static constexpr int64_t maxDivisor = 1 << 16;

static bool isEvenDivision(Expr atom) {
  auto division = asConstantDivision(atom);
  return division && division->divisor % 2 == 0 && division->divisor <= maxDivisor;
}

/// Whether a division by an even constant is an upper half.
static bool isUpperHalf(Expr atom) {
  auto [dividend, divisor] = *asConstantDivision(atom);
  return dividend.constantTerm() >= divisor / 2;
}

/// The halves of a division by an even constant.
static Halves halvesOf(Expr atom) {
  auto [dividend, divisor] = *asConstantDivision(atom);
  int64_t half = divisor / 2;
  bool isUpper = isUpperHalf(atom);
  Expr shift = Expr::constant(atom.context(), isUpper ? -half : half);
  Expr other = getAtom(Kind::FloorDiv, {addTerms(dividend, shift), atom.operands()[1]});
  return isUpper ? Halves{true, other, atom} : Halves{false, atom, other};
}

/// The sum of both halves: the undivided quotient.
static Expr wholeOf(const Halves &halves) {
  auto [dividend, divisor] = *asConstantDivision(halves.lower);
  return divisor == 2 ? dividend : divideTerms(dividend, divisor / 2);
}

/// A term without one of its factors.
static Term cofactorOf(const Term &term, size_t factor, SmallVectorImpl<Factor> &storage) {
  storage.append(term.factors.begin(), term.factors.begin() + factor);
  storage.append(term.factors.begin() + factor + 1, term.factors.end());
  return {term.coefficient, storage};
}

static bool sharesProduct(Expr lhs, Expr rhs) {
  return llvm::any_of(lhs.terms(), [&](const Term &left) {
    return !left.factors.empty() &&
           llvm::any_of(rhs.terms(), [&](const Term &right) { return left.factors == right.factors; });
  });
}

/// Whether the other term may be a part of the same triple, times the same cofactor.
static bool isRelated(Expr division, ArrayRef<Factor> cofactor, const Term &other) {
  auto quotient = divideProducts(other.factors, cofactor);
  if (!quotient || quotient->empty())
    return false;
  Expr dividend = division.operands()[0];
  if (llvm::any_of(dividend.terms(), [&](const Term &term) { return term.factors == ArrayRef<Factor>(*quotient); }))
    return true;
  if (quotient->size() != 1 || quotient->front().power != 1)
    return false;
  auto otherDivision = asConstantDivision(quotient->front().atom);
  return otherDivision && sharesProduct(dividend, otherDivision->dividend);
}

/// Calls `visit(term, factor index)` for the divisions by even constants in `sum`; with `relatedOnly`, only for those
/// that share terms with others.
static void forEachHalf(Expr sum, bool relatedOnly, llvm::function_ref<bool(const Term &, size_t)> visit) {
  ArrayRef<Term> terms = sum.terms();
  for (const Term &term : terms) {
    for (auto [index, factor] : llvm::enumerate(term.factors)) {
      if (factor.power != 1 || !isEvenDivision(factor.atom))
        continue;
      SmallVector<Factor, 4> storage;
      Term cofactor = cofactorOf(term, index, storage);
      bool related = !relatedOnly || llvm::any_of(terms, [&](const Term &other) {
        return &other != &term && isRelated(factor.atom, cofactor.factors, other);
      });
      if (related && visit(term, index))
        return;
    }
  }
}

/// The sum with one factor of `term` replaced.
static Expr replaceFactor(Expr sum, const Term &term, size_t factor, Expr replacement) {
  SmallVector<Factor, 4> storage;
  Expr cofactor = getSum(sum.context(), cofactorOf(term, factor, storage));
  Expr difference = addTerms(replacement, scaleTerms(term.factors[factor].atom, -1));
  return addTerms(sum, multiplyTerms(cofactor, difference));
}

/// The sum without upper halves, or an invalid expression.
static Expr withoutUpperHalves(Expr sum, bool relatedOnly) {
  for (unsigned step = 0; step < maxSteps && !sum.isInvalid(); ++step) {
    std::optional<Expr> next;
    forEachHalf(sum, relatedOnly, [&](const Term &term, size_t factor) {
      if (!isUpperHalf(term.factors[factor].atom))
        return false;
      Halves halves = halvesOf(term.factors[factor].atom);
      Expr replacement = addTerms(wholeOf(halves), scaleTerms(halves.lower, -1));
      next = replaceFactor(sum, term, factor, replacement);
      return true;
    });
    if (!next)
      return sum;
    sum = *next;
  }
  return Expr::invalid(sum.context());
}

/// Compares by the number of terms; coefficients do not count, so that multiples of a sum get the same form.
static bool isBetter(Expr lhs, Expr rhs) {
  if (lhs.isInvalid() || lhs.terms().size() != rhs.terms().size())
    return !lhs.isInvalid() && lhs.terms().size() < rhs.terms().size();
  for (auto [left, right] : llvm::zip(lhs.terms(), rhs.terms()))
    if (int order = compareProducts(left.factors, right.factors))
      return order < 0;
  return false;
}

static Expr withUsefulUpperHalves(Expr sum) {
  // Of each lower half: many terms have the same ones.
  llvm::SmallDenseMap<Expr, Expr, 8> replacements;
  for (unsigned step = 0; step < maxSteps; ++step) {
    Expr best = sum;
    forEachHalf(sum, /*relatedOnly=*/true, [&](const Term &term, size_t factor) {
      Expr atom = term.factors[factor].atom;
      if (isUpperHalf(atom))
        return false;
      Expr &replacement = replacements[atom];
      if (!replacement) {
        Halves halves = halvesOf(atom);
        Expr whole = withoutUpperHalves(wholeOf(halves), /*relatedOnly=*/false);
        replacement = addTerms(whole, scaleTerms(halves.upper, -1));
      }
      Expr candidate = replaceFactor(sum, term, factor, replacement);
      if (isBetter(candidate, best))
        best = candidate;
      return false;
    });
    if (best == sum)
      break;
    sum = best;
  }
  return sum;
}

Expr freestone::sym::detail::splitDivisions(Expr sum) {
  Expr unique = withoutUpperHalves(sum, /*relatedOnly=*/false);
  return unique.isInvalid() ? sum : unique;
}

Expr freestone::sym::detail::joinDivisions(Expr sum) {
  if (sum.terms().size() < 2)
    return sum;
  bool anyRelated = false;
  forEachHalf(sum, /*relatedOnly=*/true, [&](const Term &, size_t) { return anyRelated = true; });
  if (!anyRelated)
    return sum;
  Expr unique = withoutUpperHalves(sum, /*relatedOnly=*/true);
  return unique.isInvalid() ? sum : withUsefulUpperHalves(unique);
}
