#include "compiler/dialect/sym/Expr.h"
#include "compiler/dialect/sym/ExprStorage.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace freestone::sym;
using namespace freestone::sym::detail;

static unsigned degreeOf(ArrayRef<Factor> factors) {
  unsigned degree = 0;
  for (const Factor &factor : factors)
    degree += factor.power;
  return degree;
}

int freestone::sym::detail::compareProducts(ArrayRef<Factor> lhs, ArrayRef<Factor> rhs) {
  if (lhs.data() == rhs.data() && lhs.size() == rhs.size())
    return 0;
  unsigned lhsDegree = degreeOf(lhs), rhsDegree = degreeOf(rhs);
  if (lhsDegree != rhsDegree)
    return lhsDegree > rhsDegree ? -1 : 1;
  // Products of equal degree are never proper prefixes of each other.
  for (auto [left, right] : llvm::zip(lhs, rhs)) {
    if (int order = Expr::compare(left.atom, right.atom))
      return order;
    if (left.power != right.power)
      return left.power > right.power ? -1 : 1;
  }
  return 0;
}

int Expr::compare(Expr lhs, Expr rhs) {
  if (lhs == rhs)
    return 0;
  if (lhs.isAtom() && rhs.isAtom()) {
    if (lhs.kind() != rhs.kind())
      return lhs.kind() < rhs.kind() ? -1 : 1;
    if (lhs.kind() == Kind::Symbol)
      return lhs.asSymbol()->compare(*rhs.asSymbol());
    if (lhs.operands().size() != rhs.operands().size())
      return lhs.operands().size() < rhs.operands().size() ? -1 : 1;
    for (auto [left, right] : llvm::zip(lhs.operands(), rhs.operands()))
      if (int order = compare(left, right))
        return order;
    return 0;
  }
  if (lhs.isInvalid() || rhs.isInvalid())
    return lhs.isInvalid() ? 1 : -1;

  for (auto [left, right] : llvm::zip(lhs.terms(), rhs.terms())) {
    if (int order = compareProducts(left.factors, right.factors))
      return order;
    if (left.coefficient != right.coefficient)
      return left.coefficient < right.coefficient ? -1 : 1;
  }
  if (lhs.terms().size() == rhs.terms().size())
    return 0;
  return lhs.terms().size() < rhs.terms().size() ? -1 : 1;
}

/// The sum of terms in any order; sorts and merges them in place.
static Expr getUnsortedSum(MLIRContext *context, SmallVectorImpl<Term> &terms) {
  llvm::sort(terms, [](const Term &lhs, const Term &rhs) { return compareProducts(lhs.factors, rhs.factors) < 0; });
  size_t kept = 0;
  for (size_t begin = 0, end = 0; begin < terms.size(); begin = end) {
    Term merged = terms[begin];
    // Summed in 128 bits, so that overflow depends on the final coefficient alone, not on the order of terms.
    __int128 coefficient = merged.coefficient;
    for (end = begin + 1; end < terms.size() && terms[end].factors == merged.factors; ++end)
      coefficient += terms[end].coefficient;
    merged.coefficient = static_cast<int64_t>(coefficient);
    if (merged.coefficient != coefficient)
      return Expr::invalid(context);
    if (merged.coefficient != 0)
      terms[kept++] = merged;
  }
  terms.truncate(kept);
  return getSum(context, terms);
}

Expr freestone::sym::detail::addTerms(Expr lhs, Expr rhs) {
  if (lhs.isInvalid() || rhs.isInvalid())
    return Expr::invalid(lhs.context());
  ArrayRef<Term> left = lhs.terms(), right = rhs.terms();
  if (left.empty())
    return rhs;
  if (right.empty())
    return lhs;

  SmallVector<Term, 8> sum;
  while (!left.empty() && !right.empty()) {
    int order = compareProducts(left.front().factors, right.front().factors);
    if (order < 0) {
      sum.push_back(left.consume_front());
      continue;
    }
    if (order > 0) {
      sum.push_back(right.consume_front());
      continue;
    }
    Term merged = left.consume_front();
    if (llvm::AddOverflow(merged.coefficient, right.consume_front().coefficient, merged.coefficient))
      return Expr::invalid(lhs.context());
    if (merged.coefficient != 0)
      sum.push_back(merged);
  }
  sum.append(left.begin(), left.end());
  sum.append(right.begin(), right.end());
  return getSum(lhs.context(), sum);
}

Expr freestone::sym::detail::scaleTerms(Expr expr, int64_t factor) {
  if (factor == 1 || expr.isInvalid())
    return expr;
  if (factor == 0)
    return Expr::constant(expr.context(), 0);
  SmallVector<Term, 8> product(expr.terms());
  for (Term &term : product)
    if (llvm::MulOverflow(term.coefficient, factor, term.coefficient))
      return Expr::invalid(expr.context());
  return getSum(expr.context(), product);
}

/// Appends the product of two canonical products.
static void appendProduct(ArrayRef<Factor> lhs, ArrayRef<Factor> rhs, SmallVectorImpl<Factor> &product) {
  while (!lhs.empty() && !rhs.empty()) {
    int order = Expr::compare(lhs.front().atom, rhs.front().atom);
    if (order < 0) {
      product.push_back(lhs.consume_front());
    } else if (order > 0) {
      product.push_back(rhs.consume_front());
    } else {
      Factor merged = lhs.consume_front();
      merged.power += rhs.consume_front().power;
      product.push_back(merged);
    }
  }
  product.append(lhs.begin(), lhs.end());
  product.append(rhs.begin(), rhs.end());
}

static size_t countFactors(ArrayRef<Term> terms) {
  size_t count = 0;
  for (const Term &term : terms)
    count += term.factors.size();
  return count;
}

Expr freestone::sym::detail::multiplyTerms(Expr lhs, Expr rhs) {
  MLIRContext *context = lhs.context();
  if (lhs.isInvalid() || rhs.isInvalid())
    return Expr::invalid(context);
  if (std::optional<int64_t> factor = rhs.asConstant())
    return scaleTerms(lhs, *factor);
  if (std::optional<int64_t> factor = lhs.asConstant())
    return scaleTerms(rhs, *factor);

  ArrayRef<Term> left = lhs.terms(), right = rhs.terms();
  if (left.size() * right.size() > Expr::maxTerms)
    return Expr::invalid(context);
  if (degreeOf(left.front().factors) + degreeOf(right.front().factors) > Expr::maxDegree)
    return Expr::invalid(context);
  // Terms point into `factors`, which therefore must not move.
  SmallVector<Factor, 32> factors;
  factors.reserve(countFactors(left) * right.size() + countFactors(right) * left.size());
  SmallVector<Term, 8> product;
  for (const Term &l : left) {
    for (const Term &r : right) {
      int64_t coefficient;
      if (llvm::MulOverflow(l.coefficient, r.coefficient, coefficient))
        return Expr::invalid(context);
      size_t begin = factors.size();
      appendProduct(l.factors, r.factors, factors);
      product.push_back({coefficient, ArrayRef<Factor>(factors).drop_front(begin)});
    }
  }
  return getUnsortedSum(context, product);
}

Expr Expr::operator+(Expr other) const { return joinDivisions(addTerms(*this, other)); }

Expr Expr::operator*(Expr other) const { return joinDivisions(multiplyTerms(*this, other)); }

Expr Expr::operator*(int64_t other) const { return scaleTerms(*this, other); }

Expr Expr::operator-() const { return *this * -1; }

Expr Expr::operator-(Expr other) const {
  // The negation of `other` may overflow where the difference does not.
  if (*this == other && !isInvalid())
    return constant(context(), 0);
  return *this + -other;
}

Expr Expr::operator+(int64_t other) const { return *this + constant(context(), other); }

Expr Expr::operator-(int64_t other) const { return *this - constant(context(), other); }

int64_t Expr::constantTerm() const {
  if (terms().empty() || !terms().back().factors.empty())
    return 0;
  return terms().back().coefficient;
}

uint64_t freestone::sym::detail::contentOf(Expr expr) {
  uint64_t content = 0;
  for (const Term &term : expr.terms())
    content = std::gcd(content, llvm::AbsoluteValue(term.coefficient));
  return content;
}

Expr freestone::sym::detail::divideCoefficients(Expr expr, int64_t divisor) {
  if (divisor == 1)
    return expr;
  SmallVector<Term, 8> terms(expr.terms());
  for (Term &term : terms)
    term.coefficient /= divisor;
  return getSum(expr.context(), terms);
}

std::optional<std::pair<int64_t, Expr>> freestone::sym::detail::asMultipleOfAtom(const Term &term) {
  if (term.factors.size() != 1 || term.factors.front().power != 1)
    return std::nullopt;
  return std::make_pair(term.coefficient, term.factors.front().atom);
}
