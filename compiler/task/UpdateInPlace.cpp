#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/task/Passes.h"
#include "compiler/task/ValueMemory.h"
#include "compiler/tile/Counters.h"

namespace freestone::task {
#define GEN_PASS_DEF_UPDATEINPLACE
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// The compute of a splat, which is as cheap as a copy: every update gets its own splat, right before it.
Operation *getFill(Value value) {
  auto compute = value.getDefiningOp<tile::ComputeOp>();
  return compute && compute->getNumOperands() == 0 && compute->getNumResults() == 1 ? compute : nullptr;
}

/// Assigns the updates of one function memory that they may overwrite.
class Updater {
public:
  Updater(func::FuncOp function, bool enable) : function(function), block(function.getBody().front()), enable(enable) {}

  /// Returns the number of updates in place.
  int64_t run();

private:
  static bool isWrittenUntil(Operation *last, Operation *update);
  bool moveBehindReaders(Operation *update);
  bool mayBeWritten(Operation *update);
  bool becomesNext(Operation *update, BlockArgument old);
  bool isForgotten(Operation *update);
  /// Gives the update memory that it may overwrite: its operand's, where nothing else needs that, or a copy. Returns
  /// whether it is in place.
  bool placeUpdate(Operation *update);

  func::FuncOp function;
  Block &block;
  bool enable;
};

/// Whether another update after `update`, up to `last`, may overwrite its other operands.
bool Updater::isWrittenUntil(Operation *last, Operation *update) {
  for (Operation *op = update; op != last;) {
    op = op->getNextNode();
    if (tile::isUpdate(op) && llvm::any_of(llvm::drop_begin(update->getOperands()), [&](Value operand) {
          return getMemory(operand) == getMemory(op->getOperand(0));
        }))
      return true;
  }
  return false;
}

/// Moves an update behind all other readers of its operand, unless one of them needs its result, its other operands are
/// overwritten before, or the last reader is an update itself, which may have to move behind this one.
bool Updater::moveBehindReaders(Operation *update) {
  Operation *last = getLastReader(tile::getAliased(update->getOperand(0)), update);
  if (last == update || last == block.getTerminator() || tile::isUpdate(last) || isReadUntil(last, update) ||
      isWrittenUntil(last, update))
    return false;
  moveBehind(update, last);
  return true;
}

/// Whether the memory is a temporary of the function, or a state or carried value whose next value is this update's
/// result.
bool Updater::mayBeWritten(Operation *update) {
  Value memory = getMemory(update->getOperand(0));
  if (auto argument = dyn_cast<BlockArgument>(memory))
    return becomesNext(update, argument);
  return isComputed(memory);
}

bool Updater::becomesNext(Operation *update, BlockArgument old) {
  StringRef kind = function.getArgAttr(old.getArgNumber(), stateAttr) ? stateAttr : carriedAttr;
  Attribute name = function.getArgAttr(old.getArgNumber(), kind);
  if (!name)
    return false;
  for (OpOperand &result : block.getTerminator()->getOpOperands()) {
    if (function.getResultAttr(result.getOperandNumber(), kind) != name)
      continue;
    Operation *last = tile::getAliased(result.get()).getDefiningOp();
    while (last && last != update && tile::isUpdate(last) && isForgotten(last))
      last = tile::getAliased(last->getOperand(0)).getDefiningOp();
    return last == update;
  }
  return false;
}

/// Whether the update is the last reader of its operand, and reads it through no other one.
bool Updater::isForgotten(Operation *update) {
  Value updated = update->getOperand(0);
  if (llvm::any_of(llvm::drop_begin(update->getOperands()),
                   [&](Value operand) { return getMemory(operand) == getMemory(updated); }))
    return false;
  return llvm::all_of(getReaders(tile::getAliased(updated), block),
                      [&](Operation *reader) { return reader == update || reader->isBeforeInBlock(update); });
}

bool Updater::placeUpdate(Operation *update) {
  OpBuilder builder(update);
  Value operand = update->getOperand(0);
  if (Operation *fill = getFill(operand)) {
    update->setOperand(0, builder.clone(*fill)->getResult(0));
    if (fill->use_empty())
      fill->erase();
    return false;
  }
  if (enable && mayBeWritten(update) && isForgotten(update))
    return true;
  update->setOperand(0, copyValue(builder, operand));
  return false;
}

int64_t Updater::run() {
  int64_t inPlace = 0;
  for (Operation *op = &block.front(); op;) {
    Operation *before = op->getPrevNode();
    bool isPlaced = tile::isUpdate(op) && !tile::isAppend(op);
    if (isPlaced && moveBehindReaders(op)) {
      // With its aliases, which may have followed it. It is visited again at its new position.
      op = before ? before->getNextNode() : &block.front();
      continue;
    }
    if (isPlaced)
      inPlace += placeUpdate(op);
    op = op->getNextNode();
  }
  return inPlace;
}

class UpdateInPlace : public task::impl::UpdateInPlaceBase<UpdateInPlace> {
public:
  using UpdateInPlaceBase::UpdateInPlaceBase;

  void runOnOperation() override {
    tile::count(getOperation(), "scatters_in_place", Updater(getOperation(), enable).run());
  }
};

} // namespace
