#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/task/Passes.h"
#include "compiler/task/ValueMemory.h"
#include "compiler/tile/Counters.h"
#include "llvm/ADT/SetVector.h"

namespace freestone::task {
#define GEN_PASS_DEF_KEEPOPERANDS
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// Finds what the branches of one entry may keep.
class Keeper {
public:
  Keeper(func::FuncOp function, SymbolTable &symbols, const DenseMap<StringAttr, int64_t> &calls)
      : block(function.getBody().front()), symbols(symbols), calls(calls) {
    for (Operation &op : block)
      if (auto symbol = op.getAttrOfType<StringAttr>("binds"))
        bound.insert(symbol);
  }

  /// Returns the number of branches that keep an operand.
  int64_t run() {
    int64_t kept = 0;
    for (auto branch : block.getOps<tile::BranchOp>())
      kept += keep(branch);
    return kept;
  }

private:
  func::FuncOp getBody(FlatSymbolRefAttr name) { return symbols.lookup<func::FuncOp>(name.getValue()); }
  bool keep(tile::BranchOp branch);
  bool isLastReader(tile::BranchOp branch, Value operand);
  bool mayTurn(Value value);

  Block &block;
  SymbolTable &symbols;
  /// How many branches call a body.
  const DenseMap<StringAttr, int64_t> &calls;
  /// The sizes that a run determines.
  DenseSet<StringAttr> bound;
};

/// Whether the value may lie in memory in turns: computed, or the result of a branch, of a size known before the run,
/// and no output.
bool Keeper::mayTurn(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || (!isComputed(value) && !isa<tile::BranchOp>(op)) || op->hasAttr("binds"))
    return false;
  llvm::SetVector<StringAttr> ofSize;
  for (sym::Expr size : cast<graph::TensorType>(value.getType()).getShape())
    size.collectSymbols(ofSize);
  return llvm::none_of(ofSize, [&](StringAttr symbol) { return bound.contains(symbol); }) &&
         !llvm::is_contained(getReaders(value, block), block.getTerminator());
}

/// Whether nothing reads the operand behind the branch, by whatever name.
bool Keeper::isLastReader(tile::BranchOp branch, Value operand) {
  return llvm::all_of(getReaders(getMemory(operand), block),
                      [&](Operation *reader) { return reader == branch || reader->isBeforeInBlock(branch); });
}

bool Keeper::keep(tile::BranchOp branch) {
  for (bool isThen : {false, true}) {
    func::FuncOp side = getBody(isThen ? branch.getThenBodyAttr() : branch.getElseBodyAttr());
    if (calls.lookup(side.getSymNameAttr()) != 1)
      continue;
    unsigned first = side.getNumArguments();
    while (first > 0 && side.getArgAttr(first - 1, "graph.weight"))
      --first;
    first -= branch.getCaptured().size();
    for (OpOperand &returned : side.getBody().front().getTerminator()->getOpOperands()) {
      unsigned number = returned.getOperandNumber();
      auto argument = dyn_cast<BlockArgument>(getMemory(returned.get()));
      if (!argument || argument.getArgNumber() < first ||
          argument.getArgNumber() - first >= branch.getCaptured().size())
        continue;
      unsigned captured = argument.getArgNumber() - first;
      Value operand = branch.getCaptured()[captured], result = branch->getResult(number);
      auto memory = cast<graph::TensorType>(getMemory(operand).getType()),
           type = cast<graph::TensorType>(result.getType());
      bool isAsLarge = memory.getElementType() == type.getElementType() &&
                       tile::getStorageElements(memory) == tile::getStorageElements(type);
      if (getMemory(operand) != tile::getAliased(operand) || operand.getType() != type ||
          returned.get().getType() != type || !isAsLarge || !mayTurn(getMemory(operand)) || !mayTurn(result) ||
          !isLastReader(branch, operand))
        continue;
      setKept(branch, {number, captured, isThen});
      side.setResultAttr(number, keptAttr, UnitAttr::get(branch.getContext()));
      return true;
    }
  }
  return false;
}

class KeepOperands : public task::impl::KeepOperandsBase<KeepOperands> {
public:
  using KeepOperandsBase::KeepOperandsBase;

  void runOnOperation() override {
    // The runtime finds what services read by the buffer alone.
    bool hasServices = getOperation().walk([](tile::LibraryOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (!enable || hasServices)
      return;
    SymbolTable symbols(getOperation());
    DenseMap<StringAttr, int64_t> calls;
    getOperation().walk([&](tile::BranchOp branch) {
      for (FlatSymbolRefAttr name : {branch.getThenBodyAttr(), branch.getElseBodyAttr()})
        ++calls[name.getAttr()];
    });
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function.isPrivate())
        tile::count(getOperation(), "kept", Keeper(function, symbols, calls).run());
  }
};

} // namespace
