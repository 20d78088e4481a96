#include "compiler/tile/SizeOrder.h"

#include "compiler/dialect/sym/Substitute.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/tile/RegionSizes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"

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
  if (users.empty())
    return sortTopologically(&block);
  DenseMap<Operation *, SmallVector<Operation *>> before;
  for (auto &[binder, behind] : users)
    for (Operation *op : behind)
      before[block.findAncestorOpInBlock(*op)].push_back(binder);
  SmallVector<Operation *> left;
  for (Operation &op : block.without_terminator()) {
    left.push_back(&op);
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          if (Operation *outer = block.findAncestorOpInBlock(*definition); outer && outer != &op)
            before[&op].push_back(outer);
    });
  }
  llvm::SmallPtrSet<Operation *, 32> placed;
  Operation *end = block.getTerminator();
  auto place = [&](Operation *op) {
    if (!llvm::all_of(before.lookup(op), [&](Operation *earlier) { return placed.contains(earlier); }))
      return false;
    op->moveBefore(end);
    placed.insert(op);
    return true;
  };
  while (!left.empty()) {
    size_t count = left.size();
    llvm::erase_if(left, place);
    if (left.size() == count)
      return false;
  }
  return true;
}
