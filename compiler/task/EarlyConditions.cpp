#include "compiler/task/EarlyConditions.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// The memory that an operation reads and writes, with all that is within it.
struct Touched {
  explicit Touched(Operation *op) {
    op->walk([&](Operation *inner) {
      auto space = dyn_cast<SpaceOp>(inner);
      add(space ? ValueRange(space.getInputs()) : ValueRange(inner->getOperands()), read);
      add(space ? ValueRange(space.getOutputs()) : ValueRange(inner->getOperands()), written);
    });
  }

  bool conflictsWith(const Touched &other) const {
    auto meets = [](const DenseSet<Operation *> &some, const DenseSet<Operation *> &others) {
      return llvm::any_of(some, [&](Operation *buffer) { return others.contains(buffer); });
    };
    return meets(written, other.written) || meets(written, other.read) || meets(read, other.written);
  }

  DenseSet<Operation *> read, written;

private:
  static void add(ValueRange values, DenseSet<Operation *> &to) {
    for (Value value : values)
      to.insert(findBuffer(value));
  }
};

/// Of one tile, whatever the sizes, and in memory of the run alone.
bool isSmall(PhaseOp phase) {
  if (phase.getBinds() || !llvm::all_of(phase.getBody().front(), [](Operation &op) { return isa<SpaceOp>(op); }))
    return false;
  return llvm::all_of(phase.getSpaces(), [](SpaceOp space) {
    auto isConstant = [](Attribute size) { return cast<sym::ExprAttr>(size).getExpr().isConstant(); };
    auto isArena = [](Value output) { return findBuffer(output).getKind() == BufferKind::arena; };
    return space.getTiles().getExpr().isConstant(1) && llvm::all_of(space.getSizes(), isConstant) &&
           llvm::all_of(space.getOutputs(), isArena);
  });
}

/// The phases of a block that conditions of its loops and branches follow from, in order.
SmallVector<PhaseOp> findConditions(Block &block) {
  DenseSet<Operation *> wanted;
  SmallVector<PhaseOp> found;
  for (Operation &op : llvm::reverse(block)) {
    if (auto branch = dyn_cast<BranchOp>(op))
      wanted.insert(findBuffer(branch.getCondition()));
    else if (auto loop = dyn_cast<LoopOp>(op); loop && loop.getCondition())
      wanted.insert(findBuffer(loop.getCondition()));
    auto phase = dyn_cast<PhaseOp>(op);
    if (!phase)
      continue;
    Touched touched(phase);
    if (llvm::none_of(touched.written, [&](Operation *buffer) { return wanted.contains(buffer); }))
      continue;
    wanted.insert_range(touched.read);
    found.push_back(phase);
  }
  return llvm::to_vector(llvm::reverse(found));
}

using TouchedBy = DenseMap<Operation *, Touched>;

/// The first loop or branch of those before a phase that may come behind it; null if there is none.
Operation *findPlace(PhaseOp phase, const TouchedBy &touched) {
  const Touched &own = touched.find(phase)->second;
  Operation *place = nullptr;
  for (Operation *before = phase->getPrevNode(); before; before = before->getPrevNode()) {
    auto other = dyn_cast<PhaseOp>(before);
    if (other ? bool(other.getBinds()) : !isa<LoopOp, BranchOp>(before))
      break;
    if (own.conflictsWith(touched.find(before)->second))
      break;
    if (!other)
      place = before;
  }
  return place;
}

int64_t moveAheadIn(Block &block) {
  SmallVector<PhaseOp> conditions = findConditions(block);
  llvm::erase_if(conditions, [](PhaseOp phase) { return !isSmall(phase); });
  if (conditions.empty())
    return 0;
  TouchedBy touched;
  for (Operation &op : block)
    touched.try_emplace(&op, &op);
  int64_t moved = 0;
  for (PhaseOp phase : conditions)
    if (Operation *place = findPlace(phase, touched)) {
      phase->moveBefore(place);
      ++moved;
    }
  return moved;
}

} // namespace

int64_t task::moveConditionsAhead(ProgramOp program) {
  int64_t moved = 0;
  program->walk([&](Operation *op) {
    if (isa<ProgramOp, LoopOp, BranchOp>(op))
      for (Region &region : op->getRegions())
        moved += moveAheadIn(region.front());
  });
  return moved;
}
