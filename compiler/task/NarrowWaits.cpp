#include "compiler/task/IterationOrder.h"
#include "compiler/task/LiveRanges.h"
#include "compiler/task/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

namespace freestone::task {
#define GEN_PASS_DEF_NARROWWAITS
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// Turns waits for all workers into windows. What these waits told beside their purpose is then known no more, so that
/// later phases may need waits of their own, for phases that are mostly long done.
class Narrower {
public:
  explicit Narrower(ProgramOp program)
      : program(program), phases(program.getPhases()),
        known(program, [](SpaceOp one, SpaceOp other) { return one.isDealtAs(other); }), order(program) {
    for (auto [number, phase] : llvm::enumerate(phases)) {
      numbers[phase] = number;
      for (const OperandTouch &touch : collectTouches(phase))
        touching[findBuffer(touch.operand)].push_back(touch);
    }
  }

  void narrow() { narrow(program.getBody().front()); }
  int64_t windows = 0;

private:
  void narrow(Block &block);
  void narrow(PhaseOp phase);
  void narrow(LoopOp loop);
  void narrow(BranchOp branch);
  SmallVector<int64_t> findNeeded(PhaseOp phase);
  SmallVector<int64_t> findHeld(int64_t first, int64_t end);
  bool isOrdered(PhaseOp phase, int64_t before);
  int64_t numberOf(const OperandTouch &touch) const { return numbers.lookup(SpaceOp(touch.space).getParentOp()); }

  ProgramOp program;
  SmallVector<PhaseOp, 8> phases;
  DenseMap<Operation *, int64_t> numbers;
  /// By buffers, in the order of the phases.
  DenseMap<Operation *, SmallVector<OperandTouch, 4>> touching;
  KnownPhases known;
  WindowOrder order;
};

/// The earlier phases that touch what the phase touches, one of them by writing, and are not known to be done, nor have
/// an edge `same`: the latest first.
SmallVector<int64_t> Narrower::findNeeded(PhaseOp phase) {
  llvm::SmallSetVector<int64_t, 8> needed;
  int64_t index = known.getNext();
  for (const OperandTouch &touch : collectTouches(phase))
    for (const OperandTouch &before : touching[findBuffer(touch.operand)]) {
      int64_t number = numberOf(before);
      if (number >= index)
        break;
      bool isOnWorker = llvm::is_contained(phase.getSameAfter(), number) && touch.isOnWorkerOf(before);
      if (!known.isKnown(number) && !isOnWorker && touch.conflictsWith(before) &&
          !phase.isAlternativeTo(phases[number]))
        needed.insert(number);
    }
  SmallVector<int64_t> latestFirst = needed.takeVector();
  llvm::sort(latestFirst, std::greater<>());
  return latestFirst;
}

/// Whether the edges of the phase so far bring it behind all that an earlier one touches.
bool Narrower::isOrdered(PhaseOp phase, int64_t before) {
  SmallVector<OperandTouch, 8> earlier = collectTouches(phases[before]);
  return llvm::all_of(collectTouches(phase), [&](const OperandTouch &touch) {
    return llvm::all_of(earlier, [&](const OperandTouch &other) {
      return !touch.conflictsWith(other) || order.isOrdered(touch, other);
    });
  });
}

void Narrower::narrow(PhaseOp phase) {
  Builder builder(program.getContext());
  for (int64_t before : phase.getAwaitedTiles())
    known.awaitTiles(phase, before);
  SmallVector<int64_t> needed = findNeeded(phase), narrow, same(phase.getSameAfter());
  auto hasMeetings = [&](int64_t before) {
    return phase.mayAwaitWindows() && phase->getBlock() == phases[before]->getBlock() &&
           findMeetings(phase, phases[before]);
  };
  // What can't be told of tiles is awaited, and all that came before it.
  auto unknown = llvm::find_if_not(needed, hasMeetings);
  phase.setAllAfterAttr(builder.getDenseI64ArrayAttr({}));
  if (unknown != needed.end()) {
    known.awaitAll(*unknown);
    phase.setAllAfterAttr(builder.getDenseI64ArrayAttr(*unknown));
    needed.erase(unknown, needed.end());
  }
  for (int64_t before : needed) {
    if (known.isKnown(before))
      continue;
    // Workers touch what is theirs, which an edge may not have had to say so far.
    bool isOnWorker = findMeetings(phase, phases[before])->empty();
    if (isOnWorker && !llvm::is_contained(same, before)) {
      same.insert(llvm::lower_bound(same, before), before);
      phase.setSameAfterAttr(builder.getDenseI64ArrayAttr(same));
    }
    if (isOnWorker || isOrdered(phase, before))
      continue;
    narrow.insert(narrow.begin(), before);
    phase.setWindowsAfterAttr(builder.getDenseI64ArrayAttr(narrow));
  }
  windows += narrow.size();
  known.enter(phase);
}

/// The phases of a body that touch buffers which live in a part of each iteration alone. Others may take their bytes in
/// the next iteration.
SmallVector<int64_t> Narrower::findHeld(int64_t first, int64_t end) {
  SmallVector<int64_t> held;
  for (auto &[op, touches] : touching) {
    auto buffer = cast<BufferOp>(op);
    bool isWithin = buffer.getKind() == BufferKind::arena && buffer.getFirst() && buffer.getFreed() &&
                    (static_cast<int64_t>(*buffer.getFirst()) > first || static_cast<int64_t>(*buffer.getFreed()) < end);
    for (const OperandTouch &touch : touches)
      if (int64_t number = numberOf(touch); isWithin && first <= number && number < end)
        held.push_back(number);
  }
  return held;
}

/// What an iteration must know of the one before is found anew, with the windows.
void Narrower::narrow(LoopOp loop) {
  SmallVector<PhaseOp, 8> within = loop.getPhases();
  int64_t first = known.getNext(), end = first + static_cast<int64_t>(within.size()), last = first - 1;
  while (last >= 0 && (known.isKnown(last) || (!within.empty() && within.front().isAlternativeTo(phases[last]))))
    --last;
  loop.removeAllAfterAttr();
  if (last >= 0 && !within.empty()) {
    known.awaitAll(last);
    loop.setAllAfter(last);
  }
  bool mayOverlap = !llvm::is_contained(loop.getAwaitedAgain(), end - 1) && IterationOrder::mayOverlap(loop);
  auto staysOnWorker = [](const OperandTouch &later, const OperandTouch &earlier) {
    return SpaceOp(later.space).isDealtAs(earlier.space) &&
           (earlier.isOnly() || areAligned(later.elements, earlier.elements));
  };
  IterationOrder iterations(loop, first, staysOnWorker, &order);
  auto narrowWithin = [&] {
    narrow(loop.getBody().front());
    if (mayOverlap)
      iterations.awaitConditions();
    else
      iterations.meet();
  };
  auto narrowAgain = [&] {
    if (mayOverlap)
      iterations.order(known, findHeld(first, end));
    else
      known.pass(loop.getBody().front(), [](PhaseOp) {});
  };
  known.passLoop(loop, narrowWithin, narrowAgain);
  windows += mayOverlap ? iterations.countWindows() : 0;
}

void Narrower::narrow(BranchOp branch) {
  int64_t latest = -1, index = known.getNext();
  for (const OperandTouch &touch : touching[findBuffer(branch.getCondition())])
    if (int64_t number = numberOf(touch); touch.isWrite && number < index && !known.isKnown(number))
      latest = std::max(latest, number);
  branch.setAllAfter(latest < 0 ? SmallVector<int64_t>() : SmallVector{latest});
  if (latest >= 0)
    known.awaitAll(latest);
  KnownPhases::Known before = known.get();
  for (Region *side : {&branch.getThenBody(), &branch.getElseBody()}) {
    narrow(side->front());
    known.forget(before);
  }
}

void Narrower::narrow(Block &block) {
  for (Operation &op : block)
    llvm::TypeSwitch<Operation *>(&op).Case<PhaseOp, LoopOp, BranchOp>([&](auto inner) { narrow(inner); });
}

class NarrowWaits : public task::impl::NarrowWaitsBase<NarrowWaits> {
public:
  using NarrowWaitsBase::NarrowWaitsBase;

  void runOnOperation() override {
    auto isFound = [](SymbolAttr symbol) { return symbol.getSource() == SymbolSource::runtime; };
    // Tiles are dealt anew where a run determines a size.
    if (!enable || llvm::any_of(getOperation().getSymbols().getAsRange<SymbolAttr>(), isFound))
      return;
    Narrower narrower(getOperation());
    narrower.narrow();
    windows += narrower.windows;
    LiveRanges ranges(getOperation());
    Builder builder(&getContext());
    for (BufferOp buffer : getOperation().getBuffers()) {
      if (buffer.getKind() != BufferKind::arena || !buffer.getFreed())
        continue;
      auto range = ranges.get(buffer);
      int64_t freed = *buffer.getFreed(), released = range ? range->second : freed;
      if (released > freed)
        buffer.setReleasedAttr(builder.getI64IntegerAttr(released));
    }
  }
};

} // namespace
