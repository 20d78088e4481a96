#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/plan/IndexMaps.h"
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
using sym::Expr;

namespace {

/// Whether element i of the operand is read where element i of `result` is computed, and nowhere else.
bool isReadInPlace(tile::ComputeOp reader, unsigned input, tile::ComputeOp writer, unsigned result) {
  if (reader.getFill(input) || reader.getNumReductions() || writer.getNumReductions() ||
      reader.getExtents() != writer.getExtents())
    return false;
  std::optional<tile::LinearIndex> read = tile::getStrides(reader, input);
  graph::TensorType type = writer.getResultType(result);
  if (!read || !read->offset.isConstant(0) || type.getLayout())
    return false;
  Expr stride = Expr::constant(reader.getContext(), 1);
  for (unsigned loop = reader.getNumLoops(); loop-- > 0;) {
    Expr extent = reader.getExtents()[loop];
    if (read->strides[loop] != stride && !extent.isConstant(1))
      return false;
    stride = stride * extent;
  }
  return true;
}

/// The computes of an operation: itself, or the members of a group.
SmallVector<tile::ComputeOp> getMembers(Operation *op) {
  if (auto group = dyn_cast<tile::GroupOp>(op))
    return llvm::to_vector(group.getBody()->getOps<tile::ComputeOp>());
  if (auto compute = dyn_cast<tile::ComputeOp>(op))
    return {compute};
  return {};
}

/// Whether one member depends on another's results.
bool dependsOn(tile::ComputeOp member, tile::ComputeOp producer) {
  SmallVector<tile::ComputeOp> stack = {member};
  DenseSet<Operation *> seen;
  while (!stack.empty()) {
    tile::ComputeOp op = stack.pop_back_val();
    if (op == producer)
      return true;
    for (Value operand : op->getOperands())
      if (auto next = operand.getDefiningOp<tile::ComputeOp>();
          next && next->getBlock() == member->getBlock() && seen.insert(next).second)
        stack.push_back(next);
  }
  return false;
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

/// Whether the operation that computes `result` may write it over the old value, as far as it reads that itself. A tile
/// reads the elements that it writes, each before it writes it: computes that run in several passes over a row run in
/// no other order than that of what they need.
bool StateUpdater::isComputedInPlace(Value result, Value old) {
  Operation *op = result.getDefiningOp();
  if (!old || !llvm::is_contained(getReaders(old), op))
    return true;
  Value value = result;
  if (auto group = dyn_cast<tile::GroupOp>(op))
    value = group.getBody()->getTerminator()->getOperand(cast<OpResult>(result).getResultNumber());
  auto writer = value.getDefiningOp<tile::ComputeOp>();
  if (!writer)
    return false;
  SmallVector<tile::ComputeOp> members = getMembers(op);
  bool isOnePass = llvm::none_of(members, [](tile::ComputeOp member) { return member.getNumReductions() > 0; });
  for (tile::ComputeOp member : members) {
    if (llvm::is_contained(llvm::map_range(member.getReads(), getMemory), old))
      return false;
    for (auto [input, operand] : llvm::enumerate(member.getInputs())) {
      if (getMemory(operand) != old)
        continue;
      bool isBefore = dependsOn(writer, member) || (isOnePass && member->isBeforeInBlock(writer));
      if (!isBefore || !isReadInPlace(member, input, writer, cast<OpResult>(value).getResultNumber()))
        return false;
    }
  }
  return true;
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
