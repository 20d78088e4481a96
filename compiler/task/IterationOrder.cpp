#include "compiler/task/IterationOrder.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

IterationOrder::IterationOrder(LoopOp loop, int64_t first, StaysOnWorker staysOnWorker)
    : loop(loop), first(first), end(first), staysOnWorker(std::move(staysOnWorker)) {
  loop.removeAgainAfterAttr();
  collect();
}

/// What is read to decide is read by all workers, who are done with it where they have finished a phase behind.
void IterationOrder::collect() {
  Attribute any = UnitAttr::get(loop.getContext());
  if (Value condition = loop.getCondition())
    touches[findBuffer(condition)].push_back({first, {SpaceOp(), condition, any, /*isWrite=*/false}});
  loop.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto branch = dyn_cast<BranchOp>(op)) {
      Value condition = branch.getCondition();
      int64_t last = end + static_cast<int64_t>(branch.getPhases().size()) - 1;
      touches[findBuffer(condition)].push_back({last, {SpaceOp(), condition, any, /*isWrite=*/false}});
    }
    auto phase = dyn_cast<PhaseOp>(op);
    if (!phase)
      return WalkResult::advance();
    for (const OperandTouch &touch : collectTouches(phase))
      touches[findBuffer(touch.operand)].push_back({end, touch});
    phase.removeAgainAfterAttr();
    phase.removeAgainSameAfterAttr();
    ++end;
    return WalkResult::skip();
  });
}

bool IterationOrder::mayOverlap(LoopOp loop) {
  SmallVector<PhaseOp, 8> phases = loop.getPhases();
  auto isFound = [](Attribute symbol) { return cast<SymbolAttr>(symbol).getSource() == SymbolSource::runtime; };
  if (phases.empty() || llvm::any_of(loop->getParentOfType<ProgramOp>().getSymbols(), isFound))
    return false;
  return !loop.getBody()
              .walk([](Operation *op) {
                auto branch = dyn_cast<BranchOp>(op);
                return isa<LoopOp>(op) || (branch && branch.getPhases().empty()) ? WalkResult::interrupt()
                                                                                  : WalkResult::advance();
              })
              .wasInterrupted();
}

void IterationOrder::awaitAgain(int64_t phase) {
  if (first == end)
    return;
  for (int64_t before : loop.getAwaitedAgain())
    phase = std::max(phase, before);
  loop.setAgainAfter(phase);
}

void IterationOrder::awaitConditions() {
  auto awaitWriters = [&](Value condition) {
    for (const Touch &before : touches[findBuffer(condition)])
      if (before.touch.isWrite && getDistance(condition, before.touch.operand).isNext)
        awaitAgain(before.phase);
  };
  if (Value condition = loop.getCondition())
    awaitWriters(condition);
  // What is written in the same iteration has been waited for.
  loop.getBody().walk([&](BranchOp branch) {
    if (branch.getCondition().getDefiningOp<ViewOp>())
      awaitWriters(branch.getCondition());
  });
}

IterationOrder::Distance IterationOrder::getDistance(Value later, Value earlier) {
  auto meet = [&](int64_t behind) { return !areApart(later, earlier, loop.getNumber(), behind); };
  auto view = later.getDefiningOp<ViewOp>();
  int64_t most = std::max<int64_t>(view ? static_cast<int64_t>(view.getRotate()) + 1 : 0, 3);
  return {meet(1), llvm::any_of(llvm::seq<int64_t>(2, most + 1), meet)};
}

/// Writes the edges of one phase, which has waited for phases of its own iteration. Those of `older` are known to be
/// done in the iterations before the last.
void IterationOrder::order(PhaseOp phase, KnownPhases &known, const llvm::BitVector &older) {
  int64_t latest = -1;
  llvm::SmallSetVector<int64_t, 4> same;
  for (const OperandTouch &touch : collectTouches(phase))
    for (const Touch &before : touches[findBuffer(touch.operand)]) {
      if (known.isKnownBefore(before.phase) || (!touch.isWrite && !before.touch.isWrite))
        continue;
      auto [isNext, isLater] = getDistance(touch.operand, before.touch.operand);
      if (!isNext && (!isLater || older.test(before.phase)))
        continue;
      if (before.touch.space && areAlike(touch.operand, before.touch.operand) && staysOnWorker(touch, before.touch))
        same.insert(before.phase);
      else
        latest = std::max(latest, before.phase);
    }
  if (latest >= 0) {
    known.awaitAgain(latest);
    phase.setAgainAfter(latest);
    same.remove_if([&](int64_t before) { return before <= latest; });
  }
  if (same.empty())
    return;
  SmallVector<int64_t> sorted = same.takeVector();
  llvm::sort(sorted);
  phase.setAgainSameAfter(sorted);
}

/// First without looking at iterations before the last: what an iteration then knows of the one before, the next one
/// knows of the one before that.
void IterationOrder::pass(KnownPhases &known) {
  KnownPhases::Known atBegin = known.get();
  llvm::BitVector older(atBegin.before.size(), true);
  for (bool isLast : {false, true}) {
    for (PhaseOp phase : loop.getPhases()) {
      phase.removeAgainAfterAttr();
      phase.removeAgainSameAfterAttr();
    }
    known.pass(loop.getBody().front(), [&](PhaseOp phase) { order(phase, known, older); });
    if (isLast)
      return;
    older = known.get().before;
    known.goBack(first, atBegin);
  }
}

void IterationOrder::order(KnownPhases &known, ArrayRef<int64_t> held) {
  KnownPhases::Known atBegin = known.get();
  pass(known);
  bool beginsWithPhase = first < end && isa<PhaseOp>(loop.getBody().front().front());
  const llvm::BitVector &before = beginsWithPhase ? known.getAt(first).before : atBegin.before;
  int64_t missing = -1;
  for (int64_t phase : held)
    if (!before.test(phase))
      missing = std::max(missing, phase);
  if (missing < 0)
    return;
  awaitAgain(missing);
  known.goBack(first, std::move(atBegin));
  known.awaitAgain(missing);
  pass(known);
}
