#include "compiler/tile/Passes.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/tile/Aliases.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/Counters.h"
#include "llvm/ADT/SetVector.h"

namespace freestone::tile {
#define GEN_PASS_DEF_SHORTENLIVERANGES
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

namespace {

/// Smaller savings are not worth a move, which would separate computes that run side by side.
constexpr int64_t leastFreed = 8192;

struct ShortenLiveRanges : tile::impl::ShortenLiveRangesBase<ShortenLiveRanges> {
  using ShortenLiveRangesBase::ShortenLiveRangesBase;

  void runOnOperation() override {
    if (!enable)
      return;
    Block &block = getOperation().getBody().front();
    TypicalSizes sizes(getOperation());
    hoistAliases(block);
    SmallVector<Operation *> computes;
    for (Operation &op : block)
      if (isa<ComputeOp, GroupOp>(op))
        computes.push_back(&op);
    int64_t moved = llvm::count_if(computes, [&](Operation *op) { return moveUp(op, sizes); });
    count(getOperation(), "shortened", moved);
  }

private:
  /// Aliases are free and must not end up between computes.
  static void hoistAliases(Block &block) {
    for (Operation &alias : llvm::make_early_inc_range(block)) {
      if (!isAlias(&alias))
        continue;
      Operation *definition = alias.getOperand(0).getDefiningOp();
      if (!definition)
        alias.moveBefore(&block, block.begin());
      else if (definition->getNextNode() != &alias)
        alias.moveAfter(definition);
    }
  }

  static llvm::SetVector<Value> getReads(Operation *op) {
    llvm::SetVector<Value> reads;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (isa<graph::TensorType>(operand.getType()) && !op->isAncestor(operand.getParentBlock()->getParentOp()))
          reads.insert(operand);
    });
    return reads;
  }

  /// Whether `op` is the last reader of these bytes.
  static bool isLastUse(Operation *op, Value root) {
    Block *block = op->getBlock();
    SmallVector<Value> aliases = {root};
    while (!aliases.empty())
      for (Operation *user : aliases.pop_back_val().getUsers()) {
        Operation *outer = block->findAncestorOpInBlock(*user);
        if (isAlias(user))
          aliases.push_back(user->getResult(0));
        else if (outer != op && op->isBeforeInBlock(outer))
          return false;
      }
    return true;
  }

  /// Whether the result is the new value of a state whose old value the operation reads: it takes no more memory.
  static bool isAddedTo(Value result, const llvm::SetVector<Value> &reads) {
    while (result.hasOneUse() && isAlias(*result.user_begin()))
      result = result.user_begin()->getResult(0);
    if (!result.hasOneUse() || !isa<func::ReturnOp>(*result.user_begin()))
      return false;
    auto function = cast<func::FuncOp>((*result.user_begin())->getParentOp());
    Attribute state = function.getResultAttr(result.use_begin()->getOperandNumber(), "graph.state");
    return state && llvm::any_of(reads, [&](Value read) {
             auto argument = dyn_cast<BlockArgument>(getAliased(read));
             return argument && argument.getOwner()->getParentOp() == function &&
                    function.getArgAttr(argument.getArgNumber(), "graph.state") == state;
           });
  }

  static bool moveUp(Operation *op, const TypicalSizes &sizes) {
    Operation *latest = nullptr;
    int64_t freed = 0, made = 0;
    bool isReadLater = false;
    llvm::SmallPtrSet<void *, 8> seen;
    llvm::SetVector<Value> reads = getReads(op);
    for (Value operand : reads) {
      Operation *definition = operand.getDefiningOp();
      if (definition && definition->getBlock() == op->getBlock() && (!latest || latest->isBeforeInBlock(definition)))
        latest = definition;
      Value root = getAliased(operand);
      if (!seen.insert(root.getAsOpaquePointer()).second || root.getDefiningOp<graph::WeightOp>() ||
          isa<BlockArgument>(root))
        continue;
      if (isLastUse(op, root))
        freed += sizes.getBytes(cast<graph::TensorType>(root.getType()));
      else
        isReadLater = true;
    }
    // What else is read tells an optimizer's update from a sum: updates of many parameters are one phase.
    for (Value result : op->getResults())
      if (isReadLater || !isAddedTo(result, reads))
        made += sizes.getBytes(cast<graph::TensorType>(result.getType()));
    if (!latest || freed < made + leastFreed)
      return false;
    // A move past nothing but free operations gains nothing. A run-time size is known only after the operation that
    // binds it.
    bool isFar = false;
    for (Operation *between = op->getPrevNode(); between != latest; between = between->getPrevNode()) {
      if (settlesSizes(between)) {
        latest = between;
        break;
      }
      isFar |= !isAlias(between) && !isa<graph::ConstantOp, graph::WeightOp>(between);
    }
    if (!isFar)
      return false;
    op->moveAfter(latest);
    // Aliases of the results move along.
    Operation *after = op;
    for (Operation *user : llvm::to_vector(op->getUsers()))
      if (isAlias(user)) {
        user->moveAfter(after);
        after = user;
      }
    return true;
  }
};

} // namespace
