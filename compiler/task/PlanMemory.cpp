#include "compiler/task/Passes.h"

#include "mlir/IR/Builders.h"

namespace freestone::task {
#define GEN_PASS_DEF_PLANMEMORY
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// The live range of a buffer: first and last phase that touch it.
struct Lifetime {
  int64_t first = -1, last = -1;

  void touch(int64_t phase) {
    if (first < 0)
      first = phase;
    last = phase;
  }
};

/// The phases of a loop or branch, from `first` up to, and not with, `end`; the last phase complete on all workers
/// before they begin.
struct Range {
  int64_t first, end, horizon;
  /// A loop's number.
  std::optional<int64_t> loop;

  bool contains(const Lifetime &lifetime) const { return first <= lifetime.first && lifetime.last < end; }
  bool meets(const Lifetime &lifetime) const { return first <= lifetime.last && lifetime.first < end; }
};

/// The live ranges of one program.
class LiveRanges {
public:
  explicit LiveRanges(ProgramOp program) { collect(program.getBody().front()); }

  /// The last phase complete on all workers before any touches the buffer, and the last that touches it; nothing if
  /// none does.
  std::optional<std::pair<int64_t, int64_t>> get(BufferOp buffer) const;
  int64_t getNumPhases() const { return horizons.size(); }

private:
  void collect(Block &block);
  void collectCondition(Value condition) { lifetimes[findBuffer(condition)].touch(horizons.size()); }
  void touch(Value operand);

  DenseMap<Operation *, Lifetime> lifetimes;
  /// The loops through which a buffer lives: views follow their iterations.
  DenseMap<Operation *, llvm::SmallDenseSet<int64_t>> loopsOf;
  SmallVector<Range> ranges;
  /// Of each phase, and of the current one.
  SmallVector<int64_t> horizons;
  int64_t horizon = -1;
};

} // namespace

void LiveRanges::touch(Value operand) {
  BufferOp buffer = findBuffer(operand);
  lifetimes[buffer].touch(horizons.size());
  for (auto view = operand.getDefiningOp<ViewOp>(); view; view = view.getSource().getDefiningOp<ViewOp>())
    if (std::optional<int64_t> loop = view.getLoop())
      loopsOf[buffer].insert(*loop);
}

void LiveRanges::collect(Block &block) {
  for (Operation &op : block) {
    int64_t first = horizons.size();
    if (auto phase = dyn_cast<PhaseOp>(op)) {
      for (int64_t before : phase.getAllAfter())
        horizon = std::max(horizon, before);
      for (SpaceOp space : phase.getSpaces())
        llvm::for_each(space->getOperands(), [&](Value operand) { touch(operand); });
      horizons.push_back(horizon);
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      horizon = first - 1;
      collect(loop.getBody().front());
      int64_t end = horizons.size();
      horizon = end - 1;
      ranges.push_back({first, end, first - 1, loop.getNumber()});
      // Workers that are late still read it while others have gone on.
      if (Value condition = loop.getCondition())
        collectCondition(condition);
    } else if (auto branch = dyn_cast<BranchOp>(op)) {
      for (int64_t before : branch.getAllAfter())
        horizon = std::max(horizon, before);
      int64_t before = horizon;
      for (Region *region : {&branch.getThenBody(), &branch.getElseBody()}) {
        horizon = before;
        collect(region->front());
      }
      horizon = before;
      ranges.push_back({first, static_cast<int64_t>(horizons.size()), before, std::nullopt});
      collectCondition(branch.getCondition());
    }
  }
}

std::optional<std::pair<int64_t, int64_t>> LiveRanges::get(BufferOp buffer) const {
  auto found = lifetimes.find(buffer);
  if (found == lifetimes.end())
    return std::nullopt;
  Lifetime lifetime = found->second;
  auto loops = loopsOf.lookup(buffer);
  int64_t known = horizons[std::min<int64_t>(lifetime.first, horizons.size() - 1)];
  // Inner ranges come first.
  for (const Range &range : ranges) {
    if (!range.meets(lifetime))
      continue;
    if (lifetime.first >= range.first && !range.loop)
      known = std::min(known, range.horizon);
    // What another iteration reads, or what is around the loop, lives as long as the loop.
    if (!range.loop || (range.contains(lifetime) && !loops.contains(*range.loop)))
      continue;
    known = std::min(known, range.horizon);
    lifetime.first = std::min(lifetime.first, range.first);
    lifetime.last = std::max(lifetime.last, range.end - 1);
  }
  return std::pair(known, std::min<int64_t>(lifetime.last, horizons.size() - 1));
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
      auto [known, last] = range.value_or(std::pair<int64_t, int64_t>(-1, ranges.getNumPhases() - 1));
      buffer.setHorizonAttr(builder.getI64IntegerAttr(known));
      buffer.setLastUseAttr(builder.getI64IntegerAttr(last));
    }
  }
};

} // namespace
