#include "compiler/dialect/sym/Expr.h"
#include "compiler/dialect/sym/ExprStorage.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace freestone::sym;
using namespace freestone::sym::detail;

using Operands = SmallVector<Expr, 4>;

/// Above this many operands a nested minimum stays nested.
static constexpr size_t maxFlattened = 16;

static bool lessByText(Expr lhs, Expr rhs) { return Expr::compare(lhs, rhs) < 0; }

/// Per product the smallest (or largest) coefficient over all operands.
static Expr extremeCoefficients(ArrayRef<Expr> operands, bool largest) {
  SmallVector<Term, 16> all;
  for (Expr operand : operands)
    all.append(operand.terms().begin(), operand.terms().end());
  llvm::sort(all, [](const Term &lhs, const Term &rhs) { return compareProducts(lhs.factors, rhs.factors) < 0; });

  SmallVector<Term, 8> extremes;
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    Term extreme = all[begin];
    for (end = begin + 1; end < all.size() && all[end].factors == extreme.factors; ++end)
      extreme.coefficient = largest ? std::max(extreme.coefficient, all[end].coefficient)
                                    : std::min(extreme.coefficient, all[end].coefficient);
    if (end - begin < operands.size())
      extreme.coefficient =
          largest ? std::max<int64_t>(extreme.coefficient, 0) : std::min<int64_t>(extreme.coefficient, 0);
    if (extreme.coefficient != 0)
      extremes.push_back(extreme);
  }
  return getSum(operands.front().context(), extremes);
}

/// The products of a sum, without its constant.
static ArrayRef<Term> productsOf(Expr expr) {
  ArrayRef<Term> terms = expr.terms();
  return !terms.empty() && terms.back().factors.empty() ? terms.drop_back() : terms;
}

/// Keeps only the smallest of operands that differ by a constant.
static void absorb(Operands &operands) {
  Operands kept;
  for (Expr operand : operands) {
    auto *rival = llvm::find_if(kept, [&](Expr other) { return productsOf(other) == productsOf(operand); });
    if (rival == kept.end())
      kept.push_back(operand);
    else if (operand.constantTerm() < rival->constantTerm())
      *rival = operand;
  }
  operands = kept;
}

/// Flattens one operand: k*min(a, b) + rest is min(k*a + rest, k*b + rest), and so is -k*max(-a, -b) + rest.
static bool flattenOne(Operands &operands) {
  for (Expr *it = operands.begin(); it != operands.end(); ++it) {
    for (const Term &term : it->terms()) {
      auto multiple = asMultipleOfAtom(term);
      if (!multiple)
        continue;
      auto [coefficient, atom] = *multiple;
      if (atom.kind() != (coefficient > 0 ? Kind::Min : Kind::Max))
        continue;
      if (operands.size() + atom.operands().size() > maxFlattened)
        continue;
      Expr rest = *it - atom * coefficient;
      Operands expanded;
      for (Expr inner : atom.operands())
        expanded.push_back(inner * coefficient + rest);
      if (llvm::any_of(expanded, [](Expr expr) { return expr.isInvalid(); }))
        continue;
      operands.erase(it);
      operands.append(expanded);
      return true;
    }
  }
  return false;
}

/// Subtracts the common part of all operands from each; returns it, or an invalid expression.
static Expr translate(Operands &operands) {
  // Split first: the common part must not depend on how divisions are joined.
  Operands split;
  for (Expr operand : operands)
    split.push_back(splitDivisions(operand));
  Expr shared = extremeCoefficients(split, /*largest=*/false);
  if (shared.isConstant(0))
    return shared;
  for (auto [operand, terms] : llvm::zip(operands, split)) {
    operand = joinDivisions(addTerms(terms, scaleTerms(shared, -1)));
    if (operand.isInvalid())
      return operand;
  }
  return joinDivisions(shared);
}

/// Chooses between an atom of three and more operands and its dual, -max(-a, -b, -c) moved to non-negative
/// coefficients.
static Expr chooseForm(Operands &operands) {
  llvm::sort(operands, lessByText);
  if (operands.size() == 2)
    return getAtom(Kind::Min, operands);
  Operands split, mirrored;
  for (Expr operand : operands)
    split.push_back(splitDivisions(operand));
  Expr total = extremeCoefficients(split, /*largest=*/true);
  if (total.isInvalid())
    return total;
  for (Expr operand : operands)
    mirrored.push_back(total - operand);
  llvm::sort(mirrored, lessByText);
  if (std::lexicographical_compare(mirrored.begin(), mirrored.end(), operands.begin(), operands.end(), lessByText))
    return joinDivisions(total) - getAtom(Kind::Max, mirrored);
  return getAtom(Kind::Min, operands);
}

static Expr minimumOf(Operands operands) {
  if (auto *invalid = llvm::find_if(operands, [](Expr expr) { return expr.isInvalid(); }); invalid != operands.end())
    return *invalid;
  MLIRContext *context = operands.front().context();
  Expr base = Expr::constant(context, 0);
  int64_t scale = 1;
  do {
    // Dropping an operand may leave the others a larger common part.
    for (size_t before = 0; before != operands.size();) {
      before = operands.size();
      base = base + translate(operands) * scale;
      if (base.isInvalid())
        return base;
      absorb(operands);
    }
    uint64_t content = 0;
    for (Expr operand : operands)
      content = std::gcd(content, contentOf(operand));
    if (content > 1) {
      for (Expr &operand : operands)
        operand = divideCoefficients(operand, content);
      if (llvm::MulOverflow<int64_t>(scale, content, scale))
        return Expr::invalid(context);
    }
  } while (flattenOne(operands));

  if (operands.size() == 1)
    return base + operands.front() * scale;
  return base + chooseForm(operands) * scale;
}

Expr freestone::sym::detail::getExtremum(Kind kind, ArrayRef<Expr> operands) {
  if (kind == Kind::Min)
    return minimumOf(Operands(operands));
  Operands negated;
  for (Expr operand : operands)
    negated.push_back(-operand);
  return -minimumOf(std::move(negated));
}

/// Without operands that are `neutral`; `absorbing` alone if it is among them.
static Expr extremumOfWords(Kind kind, ArrayRef<Expr> operands, int64_t neutral, int64_t absorbing) {
  Operands kept;
  for (Expr operand : operands) {
    if (operand.isConstant(absorbing))
      return operand;
    if (!operand.isConstant(neutral))
      kept.push_back(operand);
  }
  return kept.empty() ? operands.front() : getExtremum(kind, kept);
}

Expr Expr::min(ArrayRef<Expr> operands) {
  using Limits = std::numeric_limits<int64_t>;
  return extremumOfWords(Kind::Min, operands, /*neutral=*/Limits::max(), /*absorbing=*/Limits::min());
}

Expr Expr::max(ArrayRef<Expr> operands) {
  using Limits = std::numeric_limits<int64_t>;
  return extremumOfWords(Kind::Max, operands, /*neutral=*/Limits::min(), /*absorbing=*/Limits::max());
}

Expr Expr::min(Expr lhs, Expr rhs) { return min({lhs, rhs}); }

Expr Expr::max(Expr lhs, Expr rhs) { return max({lhs, rhs}); }
