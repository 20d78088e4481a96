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

static std::optional<int64_t> evaluateTerm(const Term &term, ValueOf valueOf) {
  int64_t product = term.coefficient;
  for (const Factor &factor : term.factors) {
    std::optional<int64_t> value = evaluateAtom(factor.atom, valueOf);
    if (!value)
      return std::nullopt;
    for (unsigned i = 0; i < factor.power; ++i)
      if (llvm::MulOverflow(product, *value, product))
        return std::nullopt;
  }
  return product;
}

std::optional<int64_t> Expr::evaluate(ValueOf valueOf) const {
  if (isInvalid())
    return std::nullopt;
  int64_t sum = 0;
  for (const Term &term : terms()) {
    std::optional<int64_t> value = evaluateTerm(term, valueOf);
    if (!value || llvm::AddOverflow(sum, *value, sum))
      return std::nullopt;
  }
  return sum;
}
