#include "compiler/dialect/sym/Expr.h"
#include "compiler/dialect/sym/ExprStorage.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace freestone::sym;
using namespace freestone::sym::detail;

std::optional<ConstantDivision> freestone::sym::detail::asConstantDivision(Expr atom) {
  if (atom.kind() != Kind::FloorDiv)
    return std::nullopt;
  if (std::optional<int64_t> divisor = atom.operands()[1].asConstant())
    return ConstantDivision{atom.operands()[0], *divisor};
  return std::nullopt;
}

/// quotient*divisor + remainder, every coefficient of the remainder in [0, divisor).
struct SplitSum {
  Expr quotient, remainder;
};

static SplitSum splitCoefficients(Expr dividend, int64_t divisor) {
  SmallVector<Term, 8> quotient, remainder;
  for (const Term &term : dividend.terms()) {
    int64_t whole = floorQuotient(term.coefficient, divisor);
    int64_t rest = term.coefficient % divisor;
    rest += rest < 0 ? divisor : 0;
    if (whole != 0)
      quotient.push_back({whole, term.factors});
    if (rest != 0)
      remainder.push_back({rest, term.factors});
  }
  MLIRContext *context = dividend.context();
  return {getSum(context, quotient), getSum(context, remainder)};
}

/// (x floordiv a + rest) floordiv b == (x + a*rest) floordiv (a*b), for the first such x in the dividend.
static std::optional<Expr> mergeNestedDivision(Expr dividend, int64_t divisor) {
  for (const Term &term : dividend.terms()) {
    auto multiple = asMultipleOfAtom(term);
    if (!multiple || multiple->first != 1)
      continue;
    auto inner = asConstantDivision(multiple->second);
    int64_t product;
    if (!inner || llvm::MulOverflow(inner->divisor, divisor, product))
      continue;
    Expr merged = inner->dividend + (dividend - multiple->second) * inner->divisor;
    if (!merged.isInvalid())
      return divideTerms(merged, product);
  }
  return std::nullopt;
}

static Expr withoutConstant(Expr sum) {
  ArrayRef<Term> terms = sum.terms();
  return getSum(sum.context(), sum.constantTerm() == 0 ? terms : terms.drop_back());
}

/// A remainder mirrored to `-remainder + divisor - 1`, and the products that this adds to the quotient: remainder
/// floordiv divisor == products - mirrored floordiv divisor.
struct MirroredSum {
  Expr mirrored, products;
};

static MirroredSum mirror(Expr remainder, int64_t divisor) {
  SmallVector<Term, 8> mirrored, products;
  for (const Term &term : remainder.terms()) {
    if (term.factors.empty())
      continue;
    mirrored.push_back({divisor - term.coefficient, term.factors});
    products.push_back({1, term.factors});
  }
  if (int64_t constant = divisor - 1 - remainder.constantTerm())
    mirrored.push_back({constant, {}});
  MLIRContext *context = remainder.context();
  return {getSum(context, mirrored), getSum(context, products)};
}

Expr freestone::sym::detail::divideTerms(Expr dividend, int64_t divisor) {
  MLIRContext *context = dividend.context();
  auto [quotient, remainder] = splitCoefficients(dividend, divisor);
  if (remainder.isConstant())
    return quotient;

  // floor((g*n + r) / (g*d)) == floor((n + floor(r / g)) / d).
  Expr products = withoutConstant(remainder);
  if (int64_t content = std::gcd(contentOf(products), divisor); content > 1) {
    Expr constant = Expr::constant(context, floorQuotient(remainder.constantTerm(), content));
    remainder = addTerms(divideCoefficients(products, content), constant);
    divisor /= content;
    if (divisor == 1)
      return addTerms(quotient, remainder);
  }

  if (std::optional<Expr> merged = mergeNestedDivision(remainder, divisor))
    return addTerms(quotient, *merged);
  // Half of an even divisor mirrors to the other half; `joinDivisions` chooses between them.
  if (divisor == 2)
    return addTerms(quotient, getAtom(Kind::FloorDiv, {remainder, Expr::constant(context, divisor)}));
  auto [mirrored, total] = mirror(remainder, divisor);
  if (std::optional<Expr> merged = mergeNestedDivision(mirrored, divisor))
    return addTerms(addTerms(quotient, total), scaleTerms(*merged, -1));

  // Rounded down and rounded up are two forms of one value; keep one of them.
  Expr constant = Expr::constant(context, divisor);
  if (Expr::compare(mirrored, remainder) > 0)
    return addTerms(quotient, getAtom(Kind::FloorDiv, {remainder, constant}));
  Expr atom = getAtom(Kind::FloorDiv, {mirrored, constant});
  return addTerms(addTerms(quotient, total), scaleTerms(atom, -1));
}

Expr Expr::floorDiv(Expr dividend, int64_t divisor) {
  if (dividend.isInvalid() || divisor == std::numeric_limits<int64_t>::min())
    return invalid(dividend.context());
  if (divisor < 0)
    return floorDiv(-dividend, -divisor);
  if (divisor == 0)
    return constant(dividend.context(), 0);
  if (divisor == 1)
    return dividend;
  if (std::optional<int64_t> value = dividend.asConstant())
    return constant(dividend.context(), floorQuotient(*value, divisor));
  return joinDivisions(divideTerms(dividend, divisor));
}

/// Normalizes signs: the dividend's leading coefficient becomes positive, the rounding mode takes up the sign. A
/// divisor of several signs stays as it is: it is the size that it is written as, and must be positive where code
/// divides by it.
static Expr divideBySymbolic(Expr dividend, Expr divisor, Kind rounding) {
  MLIRContext *context = dividend.context();
  if (dividend.isConstant(0))
    return dividend;
  bool negative = false;
  if (llvm::all_of(divisor.terms(), [](const Term &term) { return term.coefficient < 0; })) {
    divisor = -divisor;
    dividend = -dividend;
  }
  if (!dividend.isInvalid() && dividend.terms().front().coefficient < 0) {
    dividend = -dividend;
    rounding = rounding == Kind::FloorDiv ? Kind::CeilDiv : Kind::FloorDiv;
    negative = true;
  }
  if (dividend.isInvalid() || divisor.isInvalid())
    return Expr::invalid(context);

  uint64_t content = std::gcd(contentOf(dividend), contentOf(divisor));
  dividend = divideCoefficients(dividend, content);
  divisor = divideCoefficients(divisor, content);
  if (std::optional<int64_t> constant = divisor.asConstant()) {
    Expr quotient =
        rounding == Kind::FloorDiv ? Expr::floorDiv(dividend, *constant) : Expr::ceilDiv(dividend, *constant);
    return negative ? -quotient : quotient;
  }
  // Without a remainder both roundings agree. The quotient can't replace the division: the divisor may be 0.
  if (rounding == Kind::CeilDiv && dividend.exactDiv(divisor))
    rounding = Kind::FloorDiv;
  Expr atom = getAtom(rounding, {dividend, divisor});
  return negative ? -atom : atom;
}

Expr Expr::floorDiv(Expr dividend, Expr divisor) {
  if (dividend.isInvalid() || divisor.isInvalid())
    return invalid(dividend.context());
  if (std::optional<int64_t> constant = divisor.asConstant())
    return floorDiv(dividend, *constant);
  return divideBySymbolic(dividend, divisor, Kind::FloorDiv);
}

Expr Expr::ceilDiv(Expr dividend, int64_t divisor) { return -floorDiv(-dividend, divisor); }

Expr Expr::ceilDiv(Expr dividend, Expr divisor) {
  if (dividend.isInvalid() || divisor.isInvalid())
    return invalid(dividend.context());
  if (std::optional<int64_t> constant = divisor.asConstant())
    return ceilDiv(dividend, *constant);
  return divideBySymbolic(dividend, divisor, Kind::CeilDiv);
}

Expr Expr::mod(Expr dividend, Expr divisor) { return dividend - divisor * floorDiv(dividend, divisor); }

Expr Expr::mod(Expr dividend, int64_t divisor) { return dividend - floorDiv(dividend, divisor) * divisor; }

std::optional<SmallVector<Factor, 4>> freestone::sym::detail::divideProducts(ArrayRef<Factor> dividend,
                                                                             ArrayRef<Factor> divisor) {
  SmallVector<Factor, 4> quotient;
  for (Factor factor : dividend) {
    if (!divisor.empty() && divisor.front().atom == factor.atom) {
      unsigned power = divisor.consume_front().power;
      if (power > factor.power)
        return std::nullopt;
      factor.power -= power;
    }
    if (factor.power != 0)
      quotient.push_back(factor);
  }
  if (!divisor.empty())
    return std::nullopt;
  return quotient;
}

std::optional<Expr> Expr::exactDiv(Expr divisor) const {
  if (isInvalid() || divisor.isInvalid() || divisor.isConstant(0))
    return std::nullopt;
  // Long division by leading terms, which the canonical order makes multiplicative.
  const Term &leading = divisor.terms().front();
  Expr quotient = constant(context(), 0), rest = *this;
  for (unsigned step = 0; !rest.terms().empty(); ++step) {
    const Term &term = rest.terms().front();
    // Dividing the smallest integer by -1 overflows.
    if (leading.coefficient == -1 && term.coefficient == std::numeric_limits<int64_t>::min())
      return std::nullopt;
    if (step == maxTerms || term.coefficient % leading.coefficient != 0)
      return std::nullopt;
    auto factors = divideProducts(term.factors, leading.factors);
    if (!factors)
      return std::nullopt;
    Expr next = getSum(context(), Term{term.coefficient / leading.coefficient, *factors});
    quotient = quotient + next;
    rest = rest - next * divisor;
    if (rest.isInvalid() || quotient.isInvalid())
      return std::nullopt;
  }
  return quotient;
}
