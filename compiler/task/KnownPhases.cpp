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
