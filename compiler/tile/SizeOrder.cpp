#include "compiler/tile/SizeOrder.h"

#include "compiler/dialect/sym/Substitute.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/tile/RegionSizes.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

/// The names of sizes, each with its definition, of the function around a block; null if there are none.
static ArrayAttr getDefinitions(Block &block) {
  for (Operation *op = block.getParentOp(); op; op = op->getParentOp())
    if (auto definitions = op->getAttrOfType<ArrayAttr>("graph.definitions"))
      return definitions;
  return {};
}

/// The symbols that an operation binds or compares.
static llvm::SmallDenseSet<StringAttr> getSettled(Operation *op) {
  llvm::SetVector<StringAttr> symbols;
  if (auto symbol = op->getAttrOfType<StringAttr>("binds"))
    symbols.insert(symbol);
  if (auto asserted = op->getAttrOfType<ArrayAttr>(assertsAttr))
    for (int side : {0, 1})
      cast<sym::ExprAttr>(asserted[side]).getExpr().collectSymbols(symbols);
  return {symbols.begin(), symbols.end()};
}

SizeOrder::SizeOrder(Block &block) {
  ArrayAttr definitions = getDefinitions(block);
  for (Operation &binder : block) {
    llvm::SmallDenseSet<StringAttr> symbols = getSettled(&binder);
    if (symbols.empty())
      continue;
    sym::addDefined(definitions, symbols);
    SmallVector<Operation *> &behind = users[&binder];
    for (Operation *op = binder.getNextNode(); op; op = op->getNextNode())
      if (usesSymbols(op, symbols))
        behind.push_back(op);
  }
}

ArrayRef<Operation *> SizeOrder::getUsers(Operation *binder) const {
  auto found = users.find(binder);
  return found == users.end() ? ArrayRef<Operation *>() : ArrayRef<Operation *>(found->second);
}

bool SizeOrder::sort(Block &block) const {
  DenseMap<Operation *, SmallVector<Operation *>> before;
  SmallVector<Operation *> operations;
  for (Operation &op : block.without_terminator()) {
    operations.push_back(&op);
    for (Operation *user : getUsers(&op))
      before[block.findAncestorOpInBlock(*user)].push_back(&op);
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          if (Operation *outer = block.findAncestorOpInBlock(*definition); outer && outer != &op)
            before[&op].push_back(outer);
    });
  }
  llvm::SmallPtrSet<Operation *, 32> placed, open;
  SmallVector<Operation *> pending;
  for (Operation *op : operations) {
    pending.push_back(op);
    while (!pending.empty()) {
      Operation *next = pending.back();
      auto missing = llvm::make_filter_range(llvm::reverse(before[next]),
                                             [&](Operation *earlier) { return !placed.contains(earlier); });
      if (placed.contains(next) || missing.empty()) {
        pending.pop_back();
        if (placed.insert(next).second)
          next->moveBefore(block.getTerminator());
        continue;
      }
      if (!open.insert(next).second)
        return false;
      llvm::append_range(pending, llvm::to_vector(missing));
    }
  }
  return true;
}
