#include "compiler/task/KnownPhases.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

KnownPhases::KnownPhases(ProgramOp program, std::function<bool(SpaceOp, SpaceOp)> areDealtAlike)
    : areDealtAlike(std::move(areDealtAlike)), known(program.getPhases().size()) {}

/// Whether all workers with tiles of a phase have some of the other.
bool KnownPhases::isWithin(int64_t phase, int64_t other) const {
  PhaseOp one = phases[phase], two = phases[other];
  auto others = two.getSpaces();
  return llvm::all_of(one.getSpaces(), [&](SpaceOp space) {
    return llvm::any_of(others, [&](SpaceOp around) { return areDealtAlike(space, around); });
  });
}

void KnownPhases::awaitTiles(Operation *op, int64_t phase) {
  if (phases[phase]->getBlock()->findAncestorOpInBlock(*op))
    known |= knownAt[phase];
  for (int64_t before = known.find_first_unset(); before >= 0 && before < phase; before = known.find_next_unset(before))
    if (isWithin(before, phase))
      known.set(before);
  known.set(phase);
}

int64_t KnownPhases::enter(PhaseOp phase) {
  phases.push_back(phase);
  knownAt.push_back(known);
  return phases.size() - 1;
}

/// Walks through the phases of a block, and adds what is known at each.
static void collectKnown(Block &block, KnownPhases &known, SmallVector<llvm::BitVector> &atPhases) {
  for (Operation &op : block) {
    if (auto phase = dyn_cast<PhaseOp>(op)) {
      for (int64_t before : phase.getAwaitedTiles())
        known.awaitTiles(phase, before);
      for (int64_t before : phase.getAllAfter())
        known.awaitAll(before);
      atPhases.push_back(known.get());
      known.enter(phase);
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      known.meet();
      collectKnown(loop.getBody().front(), known, atPhases);
      known.meet();
    } else if (auto branch = dyn_cast<BranchOp>(op)) {
      for (int64_t before : branch.getAllAfter())
        known.awaitAll(before);
      llvm::BitVector around = known.get();
      for (Region *side : {&branch.getThenBody(), &branch.getElseBody()}) {
        collectKnown(side->front(), known, atPhases);
        known.forget(around);
      }
    }
  }
}

SmallVector<llvm::BitVector> KnownPhases::getAtPhases(ProgramOp program) {
  KnownPhases known(program, [](SpaceOp one, SpaceOp other) { return one.isDealtAs(other); });
  SmallVector<llvm::BitVector> atPhases;
  collectKnown(program.getBody().front(), known, atPhases);
  return atPhases;
}
