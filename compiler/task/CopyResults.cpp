#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/sym/Substitute.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/task/Passes.h"
#include "compiler/task/ValueMemory.h"

namespace freestone::task {
#define GEN_PASS_DEF_COPYRESULTS
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// Whether a loop or a branch writes the value to memory that belongs to nothing else, and is no larger.
bool isMadeInside(Value value) {
  Operation *op = value.getDefiningOp();
  auto loop = dyn_cast_or_null<tile::LoopOp>(op);
  if (!loop)
    return isa_and_nonnull<tile::BranchOp>(op);
  int64_t collected = static_cast<int64_t>(cast<OpResult>(value).getResultNumber()) - loop.getCarried().size();
  return loop.getTrips() && collected >= 0 && !llvm::is_contained(loop.getCollectedAs(), collected) &&
         !loop.getCarriedBefore(collected);
}

/// Whether the value is computed for this use alone.
bool isComputedFor(OpOperand &use) {
  Value memory = getMemory(use.get());
  Operation *user = use.getOwner();
  return isComputed(memory) &&
         llvm::all_of(getReaders(memory, *user->getBlock()), [&](Operation *reader) { return reader == user; }) &&
         llvm::count_if(user->getOperands(), [&](Value operand) { return getMemory(operand) == memory; }) == 1;
}

/// Whether a result of a loop's body lies where the value that it replaces did.
bool isCarriedInPlace(OpOperand &result) {
  auto function = result.getOwner()->getParentOfType<func::FuncOp>();
  auto argument = dyn_cast<BlockArgument>(getMemory(result.get()));
  Attribute number = function.getResultAttr(result.getOperandNumber(), carriedAttr);
  return argument && number && function.getArgAttr(argument.getArgNumber(), carriedAttr) == number;
}

class CopyResults : public task::impl::CopyResultsBase<CopyResults> {
public:
  void runOnOperation() override {
    for (Operation &op : getOperation().getBody().front())
      if (auto symbol = op.getAttrOfType<StringAttr>("binds"))
        bound.insert(symbol);
    sym::addDefined(getOperation()->getAttrOfType<ArrayAttr>("graph.definitions"), bound);
    copyBranches();
    copyCarried();
    copyOutputs();
  }

private:
  /// Whether a run determines sizes of the value that its memory does not have: what writes the memory may do so before.
  bool isSizedLater(Value value) {
    auto collect = [](Value value) {
      llvm::SetVector<StringAttr> symbols;
      for (sym::Expr size : cast<graph::TensorType>(value.getType()).getShape())
        size.collectSymbols(symbols);
      return symbols;
    };
    llvm::SetVector<StringAttr> before = collect(getMemory(value));
    return llvm::any_of(collect(value),
                        [&](StringAttr symbol) { return bound.contains(symbol) && !before.contains(symbol); });
  }

  /// The size of a branch's result that has no limit is known behind the branch: its sides write memory that grows with
  /// their own sizes.
  void copyBranches() {
    Block &block = getOperation().getBody().front();
    for (auto branch : block.getOps<tile::BranchOp>()) {
      Operation *binder = branch;
      llvm::SmallDenseSet<StringRef> unlimited;
      for (Operation *next = branch->getNextNode(); next && next->hasAttr("binds"); next = next->getNextNode()) {
        binder = next;
        if (!next->hasAttr("bound"))
          unlimited.insert(next->getAttrOfType<StringAttr>("binds"));
      }
      OpBuilder builder(binder->getContext());
      builder.setInsertionPointAfter(binder);
      for (OpResult result : branch->getResults()) {
        llvm::SetVector<StringAttr> symbols;
        for (sym::Expr size : cast<graph::TensorType>(result.getType()).getShape())
          size.collectSymbols(symbols);
        if (llvm::none_of(symbols, [&](StringAttr symbol) { return unlimited.contains(symbol.getValue()); }))
          continue;
        SmallVector<OpOperand *> uses = llvm::map_to_vector(result.getUses(), [](OpOperand &use) { return &use; });
        Value copy = copyValue(builder, result);
        for (OpOperand *use : uses)
          use->set(copy);
        ++copies;
      }
    }
  }

  /// The first iteration of a loop reads carried values where the others do.
  void copyCarried() {
    for (auto loop : getOperation().getBody().front().getOps<tile::LoopOp>()) {
      OpBuilder builder(loop);
      for (OpOperand &operand : loop->getOpOperands()) {
        // The condition and the carried values come first.
        if (operand.getOperandNumber() >= loop.getCarried().size() + bool(loop.getCondition()) ||
            (isComputedFor(operand) && !isSizedLater(operand.get())))
          continue;
        operand.set(copyValue(builder, operand.get()));
        ++copies;
      }
    }
  }

  void copyOutputs() {
    func::FuncOp function = getOperation();
    Operation *terminator = function.getBody().front().getTerminator();
    OpBuilder builder(terminator);
    DenseSet<Value> taken;
    SmallVector<OpOperand *> outputs;
    // State, and what an iteration updates in place, has its own memory already, which no output shares.
    for (OpOperand &result : terminator->getOpOperands()) {
      if (function.getResultAttr(result.getOperandNumber(), stateAttr) || isCarriedInPlace(result))
        taken.insert(getMemory(result.get()));
      else
        outputs.push_back(&result);
    }
    for (OpOperand *result : outputs) {
      Value memory = getMemory(result->get());
      if (tile::isAppend(result->get().getDefiningOp()) || function.getResultAttr(result->getOperandNumber(), keptAttr))
        continue;
      if ((isComputed(memory) || isMadeInside(memory)) && !isSizedLater(result->get()) && taken.insert(memory).second)
        continue;
      result->set(copyValue(builder, result->get()));
      ++copies;
    }
  }

  /// The symbols that a run determines, and what is defined by them.
  llvm::SmallDenseSet<StringAttr> bound;
};

} // namespace
