#include "compiler/dialect/sym/Substitute.h"
#include "compiler/dialect/sym/ExprStorage.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace freestone::sym;
using namespace freestone::sym::detail;

using Replacement = llvm::function_ref<std::optional<Expr>(StringRef)>;

static Expr substituteAtom(Expr atom, Replacement replacement) {
  if (std::optional<StringRef> name = atom.asSymbol())
    return replacement(*name).value_or(atom);
  SmallVector<Expr, 4> operands;
  for (Expr operand : atom.operands())
    operands.push_back(operand.substitute(replacement));
  if (ArrayRef<Expr>(operands) == atom.operands())
    return atom;
  switch (atom.kind()) {
  case Kind::FloorDiv:
    return Expr::floorDiv(operands[0], operands[1]);
  case Kind::CeilDiv:
    return Expr::ceilDiv(operands[0], operands[1]);
  default:
    return getExtremum(atom.kind(), operands);
  }
}

Expr Expr::substitute(Replacement replacement) const {
  if (isAtom())
    return substituteAtom(*this, replacement);
  if (isInvalid())
    return *this;

  bool changed = false;
  Expr sum = constant(context(), 0);
  for (const Term &term : terms()) {
    Expr product = constant(context(), term.coefficient);
    for (const Factor &factor : term.factors) {
      Expr atom = substituteAtom(factor.atom, replacement);
      changed |= atom != factor.atom;
      for (unsigned i = 0; i < factor.power; ++i)
        product = product * atom;
    }
    sum = sum + product;
  }
  return changed ? sum : *this;
}

static AttrTypeReplacer makeReplacer(Replacement replacement) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [replacement](ExprAttr attr) -> Attribute { return attr.getExpr().substitute(replacement).attr(); });
  return replacer;
}

void freestone::sym::substituteSymbols(Operation *root, Replacement replacement) {
  makeReplacer(replacement)
      .recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
}

Type freestone::sym::substituteSymbols(Type type, Replacement replacement) {
  return makeReplacer(replacement).replace(type);
}

Attribute freestone::sym::substituteSymbols(Attribute attribute, Replacement replacement) {
  return makeReplacer(replacement).replace(attribute);
}
