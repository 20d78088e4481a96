#include "compiler/task/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace freestone::task {
#define GEN_PASS_DEF_ORDERPHASES
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// Whether two operands are different slices of one buffer in every iteration.
bool areApart(Value one, Value other) {
  auto view = one.getDefiningOp<ViewOp>(), next = other.getDefiningOp<ViewOp>();
  return view && next && view.getSource() == next.getSource() && view.getLoop() == next.getLoop() &&
         view.getRotate() == next.getRotate() && view.getSlice(0) != next.getSlice(0);
}

/// An access to a buffer by a phase, with the elements of each tile.
struct PhaseTouch {
  int64_t phase;
  Value operand;
  PhaseOp::Deal deal;
  Attribute tiles;
  Attribute elements;

  /// Whether tile t of both accesses touches the same elements, with equal dealing of tiles to workers. A single tile
  /// may touch any elements.
  bool staysOnWorker(const PhaseTouch &other) const {
    bool areAligned = !isa<UnitAttr>(elements) && elements == other.elements;
    bool isOnly = cast<sym::ExprAttr>(tiles).getExpr().isConstant(1);
    return operand == other.operand && (areAligned || isOnly) && tiles == other.tiles && deal == other.deal;
  }
};

/// Finds the edges of one program.
class Orderer {
public:
  Orderer(bool elide) : elide(elide) {}

  void order(Block &block);
  int64_t waits = 0, elided = 0;

private:
  /// By buffers.
  using Touches = DenseMap<Operation *, SmallVector<PhaseTouch>>;

  void order(PhaseOp phase);
  void order(LoopOp loop);
  void order(BranchOp branch);
  static Touches getAdded(const Touches &all, const Touches &before);

  bool elide;
  Touches reads, writes;
  /// The next phase; the last one that all workers have finished; the last one that binds a size.
  int64_t next = 0, horizon = -1, lastBinding = -1;
};

void Orderer::order(PhaseOp phase) {
  int64_t index = next++;
  // Sizes that worker 0 derives at run time are read by all workers from then on.
  int64_t latest = lastBinding;
  llvm::SetVector<int64_t> same;
  auto comeAfter = [&](ArrayRef<PhaseTouch> touches, const PhaseTouch &touch) {
    for (const PhaseTouch &before : touches) {
      if (areApart(before.operand, touch.operand))
        continue;
      if (elide && before.staysOnWorker(touch))
        same.insert(before.phase);
      else
        latest = std::max(latest, before.phase);
    }
  };
  SmallVector<SpaceOp, 8> spaces = phase.getSpaces();
  SmallVector<PhaseOp::Deal, 8> deals = phase.getDeals();
  auto forTouches = [&](llvm::function_ref<void(const PhaseTouch &, bool isWrite)> visit) {
    for (auto [space, deal] : llvm::zip_equal(spaces, deals)) {
      PhaseTouch touch{index, {}, deal, space.getTilesAttr(), {}};
      for (auto [operands, accesses, isWrite] : {std::tuple(space.getInputs(), space.getReads(), false),
                                                 std::tuple(space.getOutputs(), space.getWrites(), true)})
        for (auto [operand, elements] : llvm::zip_equal(operands, accesses)) {
          touch.operand = operand;
          touch.elements = elements;
          visit(touch, isWrite);
        }
    }
  };
  forTouches([&](const PhaseTouch &touch, bool isWrite) {
    comeAfter(writes.lookup(findBuffer(touch.operand)), touch);
    if (isWrite)
      comeAfter(reads.lookup(findBuffer(touch.operand)), touch);
  });
  forTouches([&](const PhaseTouch &touch, bool isWrite) {
    (isWrite ? writes : reads)[findBuffer(touch.operand)].push_back(touch);
  });

  OpBuilder builder(phase);
  elided += same.size();
  bool mustWait = latest > horizon;
  waits += mustWait;
  phase.setAllAfterAttr(builder.getDenseI64ArrayAttr(mustWait ? ArrayRef(latest) : ArrayRef<int64_t>()));
  phase.setSameAfterAttr(builder.getDenseI64ArrayAttr(same.takeVector()));
  horizon = std::max(horizon, latest);
  if (phase.getBinds())
    lastBinding = index;
}

/// Workers meet before every iteration, and behind the last one.
void Orderer::order(LoopOp loop) {
  ++waits;
  horizon = next - 1;
  order(loop.getBody().front());
  horizon = next - 1;
}

/// The touches since `before`.
Orderer::Touches Orderer::getAdded(const Touches &all, const Touches &before) {
  Touches added;
  for (const auto &[buffer, touches] : all) {
    auto found = before.find(buffer);
    size_t known = found == before.end() ? 0 : found->second.size();
    if (touches.size() > known)
      added[buffer].append(touches.begin() + known, touches.end());
  }
  return added;
}

/// What one side did is no wait of the other, and no wait behind the branch.
void Orderer::order(BranchOp branch) {
  int64_t latest = lastBinding;
  for (const PhaseTouch &touch : writes.lookup(findBuffer(branch.getCondition())))
    latest = std::max(latest, touch.phase);
  bool mustWait = latest > horizon;
  waits += mustWait;
  branch.setAllAfter(mustWait ? ArrayRef(latest) : ArrayRef<int64_t>());
  horizon = std::max(horizon, latest);
  int64_t before = horizon;
  Touches readsBefore = reads, writesBefore = writes;
  order(branch.getThenBody().front());
  // What follows comes after the touches of either side.
  Touches readsThen = getAdded(reads, readsBefore), writesThen = getAdded(writes, writesBefore);
  reads = std::move(readsBefore);
  writes = std::move(writesBefore);
  horizon = before;
  order(branch.getElseBody().front());
  horizon = before;
  for (auto [all, added] : {std::pair(&reads, &readsThen), std::pair(&writes, &writesThen)})
    for (auto &[buffer, touches] : *added)
      llvm::append_range((*all)[buffer], touches);
}

void Orderer::order(Block &block) {
  for (Operation &op : block)
    llvm::TypeSwitch<Operation *>(&op).Case<PhaseOp, LoopOp, BranchOp>([&](auto inner) { order(inner); });
}

class OrderPhases : public task::impl::OrderPhasesBase<OrderPhases> {
public:
  using OrderPhasesBase::OrderPhasesBase;

  void runOnOperation() override {
    Orderer orderer(elide);
    orderer.order(getOperation().getBody().front());
    waits += orderer.waits;
    elided += orderer.elided;
  }
};

} // namespace
