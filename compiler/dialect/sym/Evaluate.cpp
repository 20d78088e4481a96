#include "compiler/dialect/sym/Expr.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace freestone::sym;

using ValueOf = llvm::function_ref<std::optional<int64_t>(StringRef)>;

static std::optional<int64_t> evaluateDivision(int64_t dividend, int64_t divisor, Kind rounding) {
  if (divisor == 0)
    return 0;
  if (divisor < 0 &&
      (llvm::SubOverflow<int64_t>(0, dividend, dividend) || llvm::SubOverflow<int64_t>(0, divisor, divisor)))
    return std::nullopt;
  int64_t quotient = dividend / divisor, remainder = dividend % divisor;
  return rounding == Kind::FloorDiv ? quotient - (remainder < 0) : quotient + (remainder > 0);
}

static std::optional<int64_t> evaluateAtom(Expr atom, ValueOf valueOf) {
  if (std::optional<StringRef> name = atom.asSymbol())
    return valueOf(*name);
  SmallVector<int64_t, 4> operands;
  for (Expr operand : atom.operands()) {
    std::optional<int64_t> value = operand.evaluate(valueOf);
    if (!value)
      return std::nullopt;
    operands.push_back(*value);
  }
  switch (atom.kind()) {
  case Kind::Min:
    return *llvm::min_element(operands);
  case Kind::Max:
    return *llvm::max_element(operands);
  default:
    return evaluateDivision(operands[0], operands[1], atom.kind());
  }
}

bool Expr::mayCancel() const {
  auto isProduct = [](const Term &term) { return term.factors.size() > 1; };
  return llvm::any_of(terms(), [&](const Term &term) { return isProduct(term) && term.coefficient < 0; }) &&
         llvm::any_of(terms(), [&](const Term &term) { return isProduct(term) && term.coefficient > 0; });
}

template <typename Word> static std::optional<Word> evaluateTerm(const Term &term, ValueOf valueOf) {
  Word product = term.coefficient;
  for (const Factor &factor : term.factors) {
    std::optional<int64_t> value = evaluateAtom(factor.atom, valueOf);
    if (!value)
      return std::nullopt;
    for (unsigned i = 0; i < factor.power; ++i)
      if (__builtin_mul_overflow(product, static_cast<Word>(*value), &product))
        return std::nullopt;
  }
  return product;
}

template <typename Word> static std::optional<int64_t> evaluateSum(ArrayRef<Term> terms, ValueOf valueOf) {
  Word sum = 0;
  for (const Term &term : terms) {
    std::optional<Word> value = evaluateTerm<Word>(term, valueOf);
    if (!value || __builtin_add_overflow(sum, *value, &sum))
      return std::nullopt;
  }
  if (sum != static_cast<int64_t>(sum))
    return std::nullopt;
  return static_cast<int64_t>(sum);
}

std::optional<int64_t> Expr::evaluate(ValueOf valueOf) const {
  if (isInvalid())
    return std::nullopt;
  return mayCancel() ? evaluateSum<__int128>(terms(), valueOf) : evaluateSum<int64_t>(terms(), valueOf);
}
