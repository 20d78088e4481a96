#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/simplify/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

namespace freestone::graph {

#define GEN_PASS_DEF_PRUNEBINDERS
#include "compiler/simplify/Passes.h.inc"

namespace {

struct PruneBindersPass : impl::PruneBindersBase<PruneBindersPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> dead;
    getOperation()->walk([&](Operation *op) {
      if (isa<NonZeroOp, CountToOp, CompressOp, UniqueOp>(op) && op->use_empty())
        dead.push_back(op);
    });
    // In reverse order: a later binder may be the last user of an earlier one's sizes.
    for (Operation *op : llvm::reverse(dead)) {
      if (isAskedFor(op))
        continue;
      op->erase();
      ++numRemoved;
    }
  }

private:
  /// Whether a symbol that the operation binds appears elsewhere in the function.
  bool isAskedFor(Operation *binder) {
    SmallVector<sym::Expr> bound;
    cast<SymbolBinderInterface>(binder).collectBound(bound);
    llvm::SetVector<StringAttr> symbols;
    for (sym::Expr expr : bound)
      expr.collectSymbols(symbols);
    bool found = false;
    AttrTypeWalker walker;
    walker.addWalk([&](sym::ExprAttr attr) {
      llvm::SetVector<StringAttr> used;
      attr.getExpr().collectSymbols(used);
      found |= llvm::any_of(used, [&](StringAttr symbol) { return symbols.contains(symbol); });
    });
    getOperation()->walk([&](Operation *op) {
      if (op == binder)
        return;
      walker.walk(op->getAttrDictionary());
      for (Type type : op->getResultTypes())
        walker.walk(type);
      for (Region &region : op->getRegions())
        for (Type type : region.getArgumentTypes())
          walker.walk(type);
    });
    return found;
  }
};

} // namespace

} // namespace freestone::graph
