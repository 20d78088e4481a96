#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/plan/InPlace.h"
#include "compiler/task/Passes.h"
#include "compiler/task/ValueMemory.h"
#include "compiler/task/VerifyState.h"
#include "compiler/tile/Counters.h"

namespace freestone::task {
#define GEN_PASS_DEF_UPDATESTATE
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// The computes of an operation: itself, or the members of a group.
SmallVector<tile::ComputeOp> getMembers(Operation *op) {
  if (auto group = dyn_cast<tile::GroupOp>(op))
    return llvm::to_vector(group.getBody()->getOps<tile::ComputeOp>());
  if (auto compute = dyn_cast<tile::ComputeOp>(op))
    return {compute};
  return {};
}

/// Aliases the new values of one function's states with the old ones.
class StateUpdater {
public:
  StateUpdater(func::FuncOp function, bool donate)
      : function(function), block(function.getBody().front()), donate(donate), end(block.getTerminator()) {}

  /// Returns the number of copies made.
  int64_t update();
  /// The number of new values computed in place, after `update`.
  int64_t countDonated() const;

private:
  /// A result with its old value, if the function takes one.
  struct Update {
    OpOperand *result;
    Value old;
  };

  void dropUnchanged();
  void collectUpdates();
  void copy(OpOperand &result) {
    result.set(copyValue(end, result.get()));
    ++copies;
  }
  void collectUpdatesInPlace();
  SmallVector<Operation *> getReaders(Value value) { return task::getReaders(value, block); }
  bool isComputedInPlace(Value result, Value old);
  bool moveBehindReaders(Operation *op, Value old);

  func::FuncOp function;
  Block &block;
  bool donate;
  /// Inserts before the return.
  OpBuilder end;
  SmallVector<Update> updates;
  /// The values that an operation overwrites.
  DenseMap<Operation *, SmallVector<Value>> overwritten;
  int64_t copies = 0;
};

/// Drops results that are the old value.
void StateUpdater::dropUnchanged() {
  Operation *terminator = block.getTerminator();
  BitVector unchanged(terminator->getNumOperands());
  for (OpOperand &result : terminator->getOpOperands()) {
    auto argument = dyn_cast<BlockArgument>(tile::getAliased(result.get()));
    Attribute name = function.getResultAttr(result.getOperandNumber(), stateAttr);
    if (name && argument && name == function.getArgAttr(argument.getArgNumber(), stateAttr))
      unchanged.set(result.getOperandNumber());
  }
  terminator->eraseOperands(unchanged);
  (void)function.eraseResults(unchanged);
}

void StateUpdater::collectUpdates() {
  DenseMap<Attribute, Value> old;
  for (BlockArgument argument : function.getArguments())
    if (Attribute name = function.getArgAttr(argument.getArgNumber(), stateAttr))
      old[name] = argument;
  for (OpOperand &result : block.getTerminator()->getOpOperands())
    if (Attribute name = function.getResultAttr(result.getOperandNumber(), stateAttr))
      updates.push_back({&result, old.lookup(name)});
}

/// Whether the operation that computes `result` may write it over the old value, as far as it reads that itself.
bool StateUpdater::isComputedInPlace(Value result, Value old) {
  Operation *op = result.getDefiningOp();
  if (!old || !llvm::is_contained(getReaders(old), op))
    return true;
  Value value = result;
  if (auto group = dyn_cast<tile::GroupOp>(op))
    value = group.getBody()->getTerminator()->getOperand(cast<OpResult>(result).getResultNumber());
  return tile::areReadWhereWritten(getMembers(op), value, [&](Value operand) { return getMemory(operand) == old; });
}

/// Moves the operation behind all readers of the old value, unless one of them needs its results or overwrites its
/// operands.
bool StateUpdater::moveBehindReaders(Operation *op, Value old) {
  Operation *last = old ? getLastReader(old, op) : op;
  if (last == op)
    return true;
  if (isReadUntil(last, op))
    return false;
  for (const auto &[writer, values] : overwritten)
    if (op->isBeforeInBlock(writer) && (writer == last || writer->isBeforeInBlock(last)))
      for (Value value : values)
        if (llvm::is_contained(getReaders(value), op))
          return false;
  moveBehind(op, last);
  return true;
}

void StateUpdater::collectUpdatesInPlace() {
  for (Operation &op : block)
    if (tile::isUpdate(&op))
      overwritten[&op].push_back(tile::getAliased(op.getOperand(0)));
  for (auto branch : block.getOps<tile::BranchOp>())
    if (std::optional<KeptOperand> kept = getKept(branch))
      overwritten[branch].push_back(getMemory(branch.getCaptured()[kept->captured]));
}

int64_t StateUpdater::update() {
  dropUnchanged();
  collectUpdates();
  collectUpdatesInPlace();
  // What lies in the old value's memory is there, whatever else is switched off.
  llvm::erase_if(updates, [&](const Update &update) { return getMemory(update.result->get()) == update.old; });
  // Each new value is computed, by whatever may write it over the old one, and nothing else is there.
  DenseSet<Value> taken;
  for (Update &update : updates) {
    Value memory = getMemory(update.result->get());
    if (!donate || !isComputed(memory) || !taken.insert(memory).second)
      copy(*update.result);
  }
  for (Update &update : updates) {
    Value memory = getMemory(update.result->get());
    if (!isComputedInPlace(memory, update.old) || !moveBehindReaders(memory.getDefiningOp(), update.old)) {
      copy(*update.result);
      memory = getMemory(update.result->get());
    }
    if (update.old)
      overwritten[memory.getDefiningOp()].push_back(update.old);
  }
  return copies;
}

int64_t StateUpdater::countDonated() const {
  return std::max<int64_t>(0, static_cast<int64_t>(updates.size()) - copies);
}

class UpdateState : public task::impl::UpdateStateBase<UpdateState> {
public:
  using UpdateStateBase::UpdateStateBase;

  void runOnOperation() override {
    if (failed(verifyState(getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        update(function);
  }

private:
  void update(func::FuncOp function) {
    StateUpdater updater(function, donate);
    copies += updater.update();
    tile::count(function, "donated", updater.countDonated());
  }
};

} // namespace
