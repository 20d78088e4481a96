#include "compiler/dialect/sym/Expr.h"
#include "llvm/ADT/DenseMap.h"
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

bool Expr::mayCancel() const {
  auto isProduct = [](const Term &term) { return term.factors.size() > 1; };
  return llvm::any_of(terms(), [&](const Term &term) { return isProduct(term) && term.coefficient < 0; }) &&
         llvm::any_of(terms(), [&](const Term &term) { return isProduct(term) && term.coefficient > 0; });
}

namespace {

/// The evaluation of one expression, in which the same atom may occur in many terms and within others.
class Evaluation {
public:
  explicit Evaluation(ValueOf valueOf) : valueOf(valueOf) {}

  std::optional<int64_t> of(Expr expr);

private:
  std::optional<int64_t> ofAtom(Expr atom);
  std::optional<int64_t> compute(Expr atom);
  template <typename Word> std::optional<Word> ofTerm(const Term &term);
  template <typename Word> std::optional<int64_t> ofSum(ArrayRef<Term> terms);

  ValueOf valueOf;
  llvm::SmallDenseMap<Expr, std::optional<int64_t>, 8> known;
};

} // namespace

std::optional<int64_t> Evaluation::compute(Expr atom) {
  SmallVector<int64_t, 4> operands;
  for (Expr operand : atom.operands()) {
    std::optional<int64_t> value = of(operand);
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

std::optional<int64_t> Evaluation::ofAtom(Expr atom) {
  if (std::optional<StringRef> name = atom.asSymbol())
    return valueOf(*name);
  if (auto found = known.find(atom); found != known.end())
    return found->second;
  std::optional<int64_t> value = compute(atom);
  known[atom] = value;
  return value;
}

template <typename Word> std::optional<Word> Evaluation::ofTerm(const Term &term) {
  Word product = term.coefficient;
  for (const Factor &factor : term.factors) {
    std::optional<int64_t> value = ofAtom(factor.atom);
    if (!value)
      return std::nullopt;
    for (unsigned i = 0; i < factor.power; ++i)
      if (__builtin_mul_overflow(product, static_cast<Word>(*value), &product))
        return std::nullopt;
  }
  return product;
}

template <typename Word> std::optional<int64_t> Evaluation::ofSum(ArrayRef<Term> terms) {
  Word sum = 0;
  for (const Term &term : terms) {
    std::optional<Word> value = ofTerm<Word>(term);
    if (!value || __builtin_add_overflow(sum, *value, &sum))
      return std::nullopt;
  }
  if (sum != static_cast<int64_t>(sum))
    return std::nullopt;
  return static_cast<int64_t>(sum);
}

std::optional<int64_t> Evaluation::of(Expr expr) {
  if (expr.isInvalid())
    return std::nullopt;
  return expr.mayCancel() ? ofSum<__int128>(expr.terms()) : ofSum<int64_t>(expr.terms());
}

std::optional<int64_t> Expr::evaluate(ValueOf valueOf) const { return Evaluation(valueOf).of(*this); }
