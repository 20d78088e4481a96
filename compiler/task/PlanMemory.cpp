#include "compiler/task/KnownPhases.h"
#include "compiler/task/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace freestone::task {
#define GEN_PASS_DEF_PLANMEMORY
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// The phases that touch a buffer, and the range around them.
struct Touched {
  int64_t first = -1, last = -1;
  llvm::SmallSetVector<int64_t, 4> phases;

  void touch(int64_t phase) {
    if (first < 0)
      first = phase;
    last = phase;
    phases.insert(phase);
  }
};

/// The phases of a loop, from `first` up to, and not with, `end`.
struct Range {
  int64_t first, end, loop;

  bool contains(const Touched &touched) const { return first <= touched.first && touched.last < end; }
  bool meets(const Touched &touched) const { return first <= touched.last && touched.first < end; }
};

/// The live ranges of one program.
class LiveRanges {
public:
  explicit LiveRanges(ProgramOp program)
      : numPhases(program.getPhases().size()),
        known(program, [](SpaceOp one, SpaceOp other) { return one.isDealtAs(other); }), noted(numPhases),
        knownFrom(numPhases, numPhases) {
    collect(program.getBody().front());
  }

  /// The first phase that touches the buffer, and the one from which on all touches are known to be done, wherever a
  /// worker is; nothing if no phase touches it.
  std::optional<std::pair<int64_t, int64_t>> get(BufferOp buffer) const;
  int64_t getNumPhases() const { return numPhases; }

private:
  void collect(Block &block);
  void collect(PhaseOp phase);
  void touch(Value operand);
  void await(ArrayRef<int64_t> phases);
  void note();

  int64_t numPhases;
  DenseMap<Operation *, Touched> touchedBy;
  /// Buffers that all workers read, each at a time of its own: conditions.
  llvm::SmallDenseSet<Operation *> conditions;
  /// The loops through which a buffer lives: views follow their iterations.
  DenseMap<Operation *, llvm::SmallDenseSet<int64_t>> loopsOf;
  SmallVector<Range> ranges;
  KnownPhases known;
  /// Those that were known before.
  llvm::BitVector noted;
  /// By phases: the first one from which on it is known to be done.
  SmallVector<int64_t> knownFrom;
};

} // namespace

void LiveRanges::touch(Value operand) {
  BufferOp buffer = findBuffer(operand);
  touchedBy[buffer].touch(known.getNext());
  for (auto view = operand.getDefiningOp<ViewOp>(); view; view = view.getSource().getDefiningOp<ViewOp>())
    if (std::optional<int64_t> loop = view.getLoop())
      loopsOf[buffer].insert(*loop);
}

/// Notes what has become known, and what is known no more.
void LiveRanges::note() {
  for (int64_t phase = 0; phase < numPhases; ++phase)
    if (known.isKnown(phase) != noted.test(phase))
      knownFrom[phase] = known.isKnown(phase) ? known.getNext() : numPhases;
  noted = known.get();
}

void LiveRanges::await(ArrayRef<int64_t> phases) {
  for (int64_t phase : phases)
    known.awaitAll(phase);
  note();
}

void LiveRanges::collect(PhaseOp phase) {
  for (int64_t before : phase.getAwaitedTiles())
    known.awaitTiles(phase, before);
  await(phase.getAllAfter());
  for (SpaceOp space : phase.getSpaces())
    llvm::for_each(space->getOperands(), [&](Value operand) { touch(operand); });
  known.enter(phase);
}

void LiveRanges::collect(Block &block) {
  for (Operation &op : block) {
    if (auto phase = dyn_cast<PhaseOp>(op)) {
      collect(phase);
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      known.meet();
      note();
      int64_t first = known.getNext();
      collect(loop.getBody().front());
      known.meet();
      note();
      ranges.push_back({first, known.getNext(), static_cast<int64_t>(loop.getNumber())});
      if (Value condition = loop.getCondition())
        conditions.insert(findBuffer(condition));
    } else if (auto branch = dyn_cast<BranchOp>(op)) {
      await(branch.getAllAfter());
      llvm::BitVector before = known.get();
      for (Region *region : {&branch.getThenBody(), &branch.getElseBody()}) {
        collect(region->front());
        known.forget(before);
        note();
      }
      conditions.insert(findBuffer(branch.getCondition()));
    }
  }
}

std::optional<std::pair<int64_t, int64_t>> LiveRanges::get(BufferOp buffer) const {
  auto found = touchedBy.find(buffer);
  if (found == touchedBy.end())
    return std::nullopt;
  Touched touched = found->second;
  if (conditions.contains(buffer))
    touched.last = numPhases - 1;
  auto loops = loopsOf.lookup(buffer);
  // Inner ranges come first.
  for (const Range &range : ranges) {
    // What another iteration reads, or what is around the loop, lives as long as the loop.
    if (!range.meets(touched) || (range.contains(touched) && !loops.contains(range.loop)))
      continue;
    touched.first = std::min(touched.first, range.first);
    touched.last = std::max(touched.last, range.end - 1);
  }
  int64_t freed = touched.last + 1;
  for (int64_t phase : touched.phases)
    freed = std::max(freed, knownFrom[phase]);
  return std::pair(touched.first, freed);
}

namespace {

class PlanMemory : public task::impl::PlanMemoryBase<PlanMemory> {
public:
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() override {
    LiveRanges ranges(getOperation());
    Builder builder(&getContext());
    for (BufferOp buffer : getOperation().getBuffers()) {
      if (buffer.getKind() != BufferKind::arena)
        continue;
      auto range = reuse ? ranges.get(buffer) : std::nullopt;
      auto [first, freed] = range.value_or(std::pair<int64_t, int64_t>(0, ranges.getNumPhases()));
      buffer.setFirstAttr(builder.getI64IntegerAttr(first));
      buffer.setFreedAttr(builder.getI64IntegerAttr(freed));
    }
  }
};

} // namespace
