#include "compiler/task/VerifySizes.h"

#include "compiler/dialect/sym/Substitute.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

LogicalResult task::verifySizes(ProgramOp program) {
  // The sizes that depend on each symbol that no phase has bound yet.
  llvm::MapVector<StringAttr, llvm::SmallDenseSet<StringAttr>> unbound;
  for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
    if (symbol.getSource() == SymbolSource::runtime) {
      auto name = StringAttr::get(program.getContext(), symbol.getName());
      unbound[name].insert(name);
      sym::addDefined(program.getDefinitionsAttr(), unbound[name]);
    }
  for (PhaseOp phase : program.getPhases()) {
    if (unbound.empty())
      return success();
    llvm::SetVector<StringAttr> used;
    for (SpaceOp space : phase.getSpaces()) {
      space.getTiles().getExpr().collectSymbols(used);
      for (auto size : space.getSizes().getAsRange<sym::ExprAttr>())
        size.getExpr().collectSymbols(used);
    }
    for (StringAttr size : used)
      for (auto &[symbol, sizes] : unbound)
        if (sizes.contains(size))
          return phase.emitError() << "reads size " << size << " before " << symbol << " is bound";
    if (StringAttr symbol = phase.getBindsAttr())
      unbound.erase(symbol);
  }
  return success();
}
