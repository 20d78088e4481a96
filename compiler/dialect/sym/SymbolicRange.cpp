#include "compiler/dialect/sym/SymbolicRange.h"

namespace freestone::sym {

using RangeOf = llvm::function_ref<std::optional<SymbolicRange>(llvm::StringRef)>;

static SymbolicRange findAtomRange(Expr atom, RangeOf rangeOf) {
  if (std::optional<llvm::StringRef> symbol = atom.asSymbol())
    return rangeOf(*symbol).value_or(SymbolicRange{atom, atom});
  llvm::SmallVector<Expr> least, greatest;
  for (Expr operand : atom.operands()) {
    SymbolicRange range = findRange(operand, rangeOf);
    least.push_back(range.least);
    greatest.push_back(range.greatest);
  }
  if (atom.kind() == Kind::Min)
    return {Expr::min(least), Expr::min(greatest)};
  if (atom.kind() == Kind::Max)
    return {Expr::max(least), Expr::max(greatest)};
  // A divisor of 0 makes the quotient 0, not greater.
  if (least[1] != greatest[1])
    least[1] = Expr::max(least[1], Expr::constant(atom.context(), 1));
  if (atom.kind() == Kind::FloorDiv)
    return {Expr::floorDiv(least[0], greatest[1]), Expr::floorDiv(greatest[0], least[1])};
  return {Expr::ceilDiv(least[0], greatest[1]), Expr::ceilDiv(greatest[0], least[1])};
}

SymbolicRange findRange(Expr expr, RangeOf rangeOf) {
  llvm::SetVector<mlir::StringAttr> symbols;
  expr.collectSymbols(symbols);
  if (llvm::none_of(symbols, [&](mlir::StringAttr name) { return rangeOf(name).has_value(); }))
    return {expr, expr};
  SymbolicRange sum{Expr::constant(expr.context(), 0), Expr::constant(expr.context(), 0)};
  for (const Term &term : expr.terms()) {
    SymbolicRange product{Expr::constant(expr.context(), 1), Expr::constant(expr.context(), 1)};
    for (const Factor &factor : term.factors) {
      SymbolicRange range = findAtomRange(factor.atom, rangeOf);
      for (unsigned power = 0; power < factor.power; ++power)
        product = {product.least * range.least, product.greatest * range.greatest};
    }
    if (term.coefficient < 0)
      std::swap(product.least, product.greatest);
    sum = {sum.least + product.least * term.coefficient, sum.greatest + product.greatest * term.coefficient};
  }
  return sum;
}

} // namespace freestone::sym
