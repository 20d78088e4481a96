#include "compiler/dialect/sym/Substitute.h"
#include "compiler/dialect/sym/ExprStorage.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace freestone::sym;
using namespace freestone::sym::detail;

Expr Substitution::compute(Expr atom) {
  SmallVector<Expr, 4> operands;
  for (Expr operand : atom.operands())
    operands.push_back(in(operand));
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

Expr Substitution::ofAtom(Expr atom) {
  if (std::optional<StringRef> name = atom.asSymbol())
    return replacement(*name).value_or(atom);
  if (Expr found = known.lookup(atom))
    return found;
  Expr computed = compute(atom);
  known[atom] = computed;
  return computed;
}

Expr Substitution::in(Expr expr) {
  if (expr.isAtom())
    return ofAtom(expr);
  if (expr.isInvalid())
    return expr;

  bool changed = false;
  // Divisions are joined once, in the whole sum.
  Expr sum = Expr::constant(expr.context(), 0);
  for (const Term &term : expr.terms()) {
    Expr product = Expr::constant(expr.context(), term.coefficient);
    for (const Factor &factor : term.factors) {
      Expr atom = ofAtom(factor.atom);
      changed |= atom != factor.atom;
      for (unsigned i = 0; i < factor.power; ++i)
        product = multiplyTerms(product, atom);
    }
    sum = addTerms(sum, product);
  }
  return changed ? joinDivisions(sum) : expr;
}

Expr Expr::substitute(Substitution::Replacement replacement) const { return Substitution(replacement).in(*this); }

static AttrTypeReplacer makeReplacer(Substitution::Replacement replacement) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [replacement](ExprAttr attr) -> Attribute { return attr.getExpr().substitute(replacement).attr(); });
  return replacer;
}

void freestone::sym::substituteSymbols(Operation *root, Substitution::Replacement replacement) {
  makeReplacer(replacement)
      .recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
}

Type freestone::sym::substituteSymbols(Type type, Substitution::Replacement replacement) {
  return makeReplacer(replacement).replace(type);
}

Attribute freestone::sym::substituteSymbols(Attribute attribute, Substitution::Replacement replacement) {
  return makeReplacer(replacement).replace(attribute);
}

void freestone::sym::addDefined(ArrayAttr definitions, llvm::SmallDenseSet<StringAttr> &symbols) {
  if (!definitions || symbols.empty())
    return;
  for (auto definition : definitions.getAsRange<ArrayAttr>()) {
    llvm::SetVector<StringAttr> used;
    cast<ExprAttr>(definition[1]).getExpr().collectSymbols(used);
    if (llvm::any_of(used, [&](StringAttr symbol) { return symbols.contains(symbol); }))
      symbols.insert(cast<StringAttr>(definition[0]));
  }
}
