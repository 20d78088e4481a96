#include "compiler/task/IterationOrder.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

IterationOrder::IterationOrder(LoopOp loop, int64_t first, StaysOnWorker staysOnWorker, WindowOrder *windows)
    : loop(loop), phases(loop.getPhases()), first(first), end(first), staysOnWorker(std::move(staysOnWorker)),
      windows(windows) {
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
    if (isWithin(phase))
      clear(phase);
    ++end;
    return WalkResult::skip();
  });
}

bool IterationOrder::mayOverlap(LoopOp loop) {
  SmallVector<PhaseOp, 8> phases = loop.getPhases();
  if (phases.empty() || llvm::any_of(phases, [](PhaseOp phase) { return phase.getBinds().has_value(); }))
    return false;
  return !loop.getBody()
              .walk([](Operation *op) {
                auto branch = dyn_cast<BranchOp>(op);
                auto inner = dyn_cast<LoopOp>(op);
                bool isUntold = (branch && branch.getPhases().empty()) ||
                                (inner && (inner.getCondition() || inner.getPhases().empty()));
                return isUntold ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Whether the loop is the innermost one around a phase.
bool IterationOrder::isWithin(PhaseOp phase) { return phase->getParentOfType<LoopOp>() == loop; }

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
      if (before.touch.isWrite && getDistance(condition, before.touch.operand, loop).isNext)
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

void IterationOrder::clear(PhaseOp phase) {
  phase.removeAgainAfterAttr();
  phase.removeAgainWindowsAfterAttr();
  phase.removeAgainSameAfterAttr();
}

/// Whether a window orders a phase and a touch of the iteration before.
bool IterationOrder::mayNarrow(PhaseOp phase, const Touch &before) {
  if (!windows || !before.touch.space)
    return false;
  PhaseOp earlier = SpaceOp(before.touch.space).getParentOp();
  return phase.mayAwaitWindows() && phase->getBlock() == earlier->getBlock() && findMeetingsAgain(phase, earlier);
}

/// Whether the windows of the phase so far bring it behind all that one of the iteration before touches.
bool IterationOrder::isOrdered(PhaseOp phase, int64_t before) {
  auto meetings = findMeetingsAgain(phase, phases[before - first]);
  return llvm::all_of(*meetings,
                      [&](const Meeting &meeting) { return windows->isOrderedAgain(meeting.later, meeting.earlier); });
}

int64_t IterationOrder::countWindows() {
  int64_t count = 0;
  for (PhaseOp phase : phases)
    count += isWithin(phase) ? phase.getWindowsAgain().size() : 0;
  return count;
}

/// Whether a touch comes after one of an iteration before that isn't known to be done. Those of `older` are known to be
/// done in the iterations before the last. What is read to decide is read by workers without tiles, too.
bool IterationOrder::awaits(const OperandTouch &touch, const Touch &before, const KnownPhases &known,
                            const KnownPhases::Known &older) {
  bool isOfTiles = before.touch.space != SpaceOp();
  auto isDone = [&](const KnownPhases::Known &at) {
    return (isOfTiles ? at.before : at.passed.before).test(before.phase);
  };
  if (isDone(known.get()) || (!touch.isWrite && !before.touch.isWrite))
    return false;
  auto [isNext, isLater] = getDistance(touch.operand, before.touch.operand, loop);
  return isNext || (isLater && !isDone(older));
}

/// The last phase of the iteration before that a loop within needs and that isn't known to be done where it begins: its
/// phases have no edges to that iteration. What comes before it in its own iteration has mostly been waited for, and so
/// tells that there is none.
int64_t IterationOrder::findMissing(LoopOp inner, const KnownPhases &known, const KnownPhases::Known &older) {
  int64_t latest = -1;
  for (PhaseOp phase : inner.getPhases())
    for (const OperandTouch &touch : collectTouches(phase))
      for (const Touch &before : touches[findBuffer(touch.operand)])
        if (awaits(touch, before, known, older))
          latest = std::max(latest, before.phase);
  return latest;
}

/// Writes the edges of one phase, which has waited for phases of its own iteration.
void IterationOrder::order(PhaseOp phase, KnownPhases &known, const KnownPhases::Known &older) {
  if (!isWithin(phase))
    return;
  int64_t latest = -1;
  llvm::SmallSetVector<int64_t, 4> same, narrow;
  for (const OperandTouch &touch : collectTouches(phase))
    for (const Touch &before : touches[findBuffer(touch.operand)]) {
      if (!awaits(touch, before, known, older))
        continue;
      if (before.touch.space && areAlike(touch.operand, before.touch.operand) && staysOnWorker(touch, before.touch))
        same.insert(before.phase);
      else if (!mayNarrow(phase, before))
        latest = std::max(latest, before.phase);
      else if (before.phase >= known.getNext() || !windows->isOrdered(touch, before.touch))
        narrow.insert(before.phase);
    }
  if (latest >= 0) {
    known.awaitAgain(latest);
    phase.setAgainAfter(latest);
    for (auto *edges : {&same, &narrow})
      edges->remove_if([&](int64_t before) { return before <= latest; });
  }
  auto sort = [](llvm::SmallSetVector<int64_t, 4> &edges) {
    SmallVector<int64_t> sorted = edges.takeVector();
    llvm::sort(sorted);
    return sorted;
  };
  if (!same.empty())
    phase.setAgainSameAfter(sort(same));
  SmallVector<int64_t> wanted = sort(narrow), needed;
  for (int64_t before : llvm::reverse(wanted)) {
    if (isOrdered(phase, before))
      continue;
    needed.insert(needed.begin(), before);
    phase.setAgainWindowsAfter(needed);
  }
}

/// First without looking at iterations before the last: what an iteration then knows of the one before, the next one
/// knows of the one before that. Returns the last phase of the iteration before that loops within need and don't know
/// to be done; -1: none.
int64_t IterationOrder::pass(KnownPhases &known) {
  int64_t missing = -1;
  KnownPhases::Known atBegin = known.get();
  KnownPhases::Known older = atBegin;
  for (llvm::BitVector *before : {&older.before, &older.passed.before})
    before->set();
  for (bool isLast : {false, true}) {
    for (PhaseOp phase : phases)
      if (isWithin(phase))
        clear(phase);
    missing = -1;
    known.pass(
        loop.getBody().front(), [&](PhaseOp phase) { order(phase, known, older); },
        [&](LoopOp inner) { missing = std::max(missing, findMissing(inner, known, older)); });
    if (isLast)
      return missing;
    older = known.get();
    known.goBack(first, atBegin);
  }
  llvm_unreachable("the last pass returns");
}

void IterationOrder::order(KnownPhases &known, ArrayRef<int64_t> held) {
  KnownPhases::Known atBegin = known.get();
  int64_t missing = pass(known);
  bool beginsWithPhase = first < end && isa<PhaseOp>(loop.getBody().front().front());
  const llvm::BitVector &before = beginsWithPhase ? known.getAt(first).before : atBegin.before;
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
