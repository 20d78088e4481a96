#include "compiler/task/Execution.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

/// Enough for every pair of slices that rotate.
static constexpr int64_t mostTrips = 3;

Execution::Execution(ProgramOp program, Valuation valueOf, int64_t way) : valueOf(valueOf), way(way) {
  for (auto [number, phase] : llvm::enumerate(program.getPhases()))
    numbers[phase] = number;
  int64_t loops = 0;
  program.walk([&](LoopOp loop) { loops = std::max<int64_t>(loops, loop.getNumber() + 1); });
  trips.assign(loops, 0);
  begins.assign(loops, -1);
  addBlock(program.getBody().front());
}

void Execution::addBlock(Block &block) {
  for (Operation &op : block) {
    if (isa<PhaseOp>(op)) {
      addStep(&op, numbers.lookup(&op));
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      addLoop(loop);
    } else if (auto branch = dyn_cast<BranchOp>(op)) {
      addStep(branch);
      addBlock((decided++ + way) % 2 ? branch.getElseBody().front() : branch.getThenBody().front());
    }
  }
}

/// Each iteration, and leaving the loop, begins with a step of the loop.
void Execution::addLoop(LoopOp loop) {
  std::optional<sym::ExprAttr> size = loop.getTrips();
  int64_t count = std::min(size ? size->getExpr().evaluate(valueOf).value_or(0) : mostTrips, mostTrips);
  if (loop.getCondition() && (decided++ + way) % 2)
    count = 0;
  int64_t &trip = trips[loop.getNumber()], &begin = begins[loop.getNumber()];
  for (trip = 0; trip < count; ++trip) {
    begin = steps.size();
    addStep(loop);
    addBlock(loop.getBody().front());
  }
  begin = -1;
  addStep(loop);
}

int64_t Execution::getLatest(int64_t phase, int64_t step) const {
  while (--step >= 0 && steps[step].phase != phase)
    ;
  return step;
}

/// The last step complete where all workers have published a number of the phase. Behind a branch, these are the phases
/// of the side that was taken.
int64_t Execution::getComplete(int64_t phase, int64_t step) const {
  while (--step >= 0 && (steps[step].phase < 0 || steps[step].phase > phase))
    ;
  return step;
}

SmallVector<int64_t> Execution::getKnown() const {
  SmallVector<int64_t> known;
  int64_t horizon = -1;
  for (auto [index, step] : llvm::enumerate(steps)) {
    int64_t number = index;
    auto await = [&](ArrayRef<int64_t> phases) {
      for (int64_t phase : phases)
        horizon = std::max(horizon, getComplete(phase, number));
    };
    if (auto phase = dyn_cast<PhaseOp>(step.op))
      await(phase.getAllAfter());
    else if (auto branch = dyn_cast<BranchOp>(step.op))
      await(branch.getAllAfter());
    else
      horizon = number - 1;
    known.push_back(horizon);
  }
  return known;
}

std::string Execution::describe(int64_t index) const {
  const Step &step = steps[index];
  if (auto phase = dyn_cast<PhaseOp>(step.op))
    return "phase " + std::to_string(step.phase) + " '" + phase.getLabel().str() + "'";
  if (auto loop = dyn_cast<LoopOp>(step.op))
    return "the loop '" + loop.getLabel().str() + "'";
  return "the branch '" + cast<BranchOp>(step.op).getLabel().str() + "'";
}
