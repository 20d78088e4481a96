#include "compiler/task/Execution.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

Execution::Execution(ProgramOp program, Valuation valueOf, const Decisions &decisions)
    : valueOf(valueOf), decisions(decisions), phases(program.getPhases()) {
  for (auto [number, phase] : llvm::enumerate(phases))
    numbers[phase] = number;
  program.walk([&](Operation *op) {
    if (!isa<LoopOp, BranchOp>(op))
      return;
    op->walk([&](PhaseOp phase) {
      int64_t number = numbers.lookup(phase);
      within.try_emplace(op, Phases{number, number}).first->second.last = number;
    });
  });
  int64_t followed = 0;
  program.walk([&](LoopOp loop) { followed = std::max<int64_t>(followed, loop.getNumber() + 1); });
  program.walk([&](TurnOp turn) { followed = std::max<int64_t>(followed, turn.getNumber() + 1); });
  trips.assign(followed, 0);
  begins.assign(followed, -1);
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
      addBlock(decisions.take(branch, trips) ? branch.getThenBody().front() : branch.getElseBody().front());
    } else if (auto turn = dyn_cast<TurnOp>(op)) {
      ++trips[turn.getNumber()];
    }
  }
}

/// Each iteration, and leaving the loop, begins with a step of the loop.
void Execution::addLoop(LoopOp loop) {
  std::optional<sym::ExprAttr> size = loop.getTrips();
  std::optional<int64_t> known = size ? size->getExpr().evaluate(valueOf) : std::nullopt;
  int64_t count = known ? Decisions::countIterations(*known) : Decisions::unknownTrips;
  if (decisions.isDecided(loop) && !decisions.take(loop, trips))
    count = 0;
  else if ((loop.getCondition() || !known) && count > 0 && decisions.endsEarly(loop, trips))
    --count;
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

/// Whether a step is complete where all workers have published a number of the phase, executed or not. Who publishes
/// one of a phase within a loop or branch has decided that, in this iteration, whose numbers are greater than all
/// before; one of a later phase, has left it.
bool Execution::isPassed(const Step &step, int64_t phase) const {
  if (step.phase >= 0)
    return step.phase <= phase;
  auto found = within.find(step.op);
  if (found == within.end())
    return false;
  auto loop = dyn_cast<LoopOp>(step.op);
  bool isLeft = loop && step.begins[loop.getNumber()] < 0 && step.trips[loop.getNumber()] > 0;
  return isLeft ? found->second.last < phase : found->second.first <= phase;
}

/// The last step complete where all workers have published a number of the phase.
int64_t Execution::getComplete(int64_t phase, int64_t step) const {
  while (--step >= 0 && !isPassed(steps[step], phase))
    ;
  return step;
}

int64_t Execution::getBegin(int64_t step) const {
  auto own = dyn_cast<LoopOp>(steps[step].op);
  auto loop = own ? own : steps[step].op->getParentOfType<LoopOp>();
  if (!loop || steps[step].trips[loop.getNumber()] == 0)
    return -1;
  return own ? step : steps[step].begins[loop.getNumber()];
}

/// Whether all workers with tiles of one phase have some of the other.
static bool isWithin(Operation *one, PhaseOp other) {
  auto phase = dyn_cast<PhaseOp>(one);
  auto around = other.getSpaces();
  return phase && llvm::all_of(phase.getSpaces(), [&](SpaceOp space) {
           return llvm::any_of(around, [&](SpaceOp each) { return space.isDealtAs(each); });
         });
}

std::vector<llvm::BitVector> Execution::getKnown(const llvm::BitVector &wide) const {
  std::vector<llvm::BitVector> known;
  llvm::BitVector done(steps.size());
  for (auto [index, step] : llvm::enumerate(steps)) {
    int64_t number = index;
    auto awaitAll = [&](ArrayRef<int64_t> awaited) {
      for (int64_t phase : awaited)
        done.set(0, getComplete(phase, number) + 1);
    };
    auto awaitTiles = [&](ArrayRef<int64_t> awaited) {
      for (int64_t phase : awaited) {
        // Worker 0 is among those that have published the number.
        int64_t before = getComplete(phase, number);
        if (before < 0)
          continue;
        done |= known[before];
        for (int64_t other = 0; other <= before; ++other)
          if (isWithin(steps[other].op, phases[phase]))
            done.set(other);
        if (int64_t latest = getLatest(phase, number); latest >= 0)
          done.set(latest);
      }
    };
    auto awaitAgain = [&](ArrayRef<int64_t> awaited) {
      int64_t begin = getBegin(number);
      for (int64_t phase : begin < 0 ? ArrayRef<int64_t>() : awaited)
        done.set(0, getComplete(phase, begin) + 1);
    };
    if (auto phase = dyn_cast<PhaseOp>(step.op)) {
      awaitAll(phase.getAllAfter());
      awaitAgain(phase.getAwaitedAgain());
      awaitTiles(phase.getAwaitedTiles());
      if (step.phase < static_cast<int64_t>(wide.size()) && wide.test(step.phase))
        awaitAll(phase.getAwaitedWindows());
    } else if (auto branch = dyn_cast<BranchOp>(step.op)) {
      awaitAll(branch.getAllAfter());
    } else {
      auto loop = cast<LoopOp>(step.op);
      if (step.trips[loop.getNumber()] == 0)
        awaitAll(loop.getAwaited());
      awaitAgain(loop.getAwaitedAgain());
    }
    known.push_back(done);
  }
  return known;
}

std::vector<llvm::BitVector> Execution::getEarlier(std::vector<llvm::BitVector> earlier) const {
  for (auto [index, step] : llvm::enumerate(steps)) {
    auto phase = dyn_cast<PhaseOp>(step.op);
    if (!phase)
      continue;
    auto comeAfter = [&](int64_t before) {
      earlier[index] |= earlier[before];
      earlier[index].set(before);
    };
    for (ArrayRef<int64_t> edges : {phase.getSameAfter(), phase.getAwaitedWindows()})
      for (int64_t number : edges)
        if (int64_t before = getLatest(number, index); before >= 0)
          comeAfter(before);
    // All iterations before, up to the step that began the loop. Windows of this iteration tell of them too.
    for (int64_t before = getBegin(index); before >= 0; --before) {
      auto begun = dyn_cast<LoopOp>(steps[before].op);
      if (llvm::any_of(ArrayRef{phase.getSameAgain(), phase.getWindowsAgain(), phase.getAwaitedWindows()},
                       [&](ArrayRef<int64_t> edges) { return llvm::is_contained(edges, steps[before].phase); }))
        comeAfter(before);
      else if (begun && begun == phase->getParentOfType<LoopOp>() && steps[before].trips[begun.getNumber()] == 0)
        break;
    }
  }
  return earlier;
}

std::string Execution::describe(int64_t index) const {
  const Step &step = steps[index];
  if (auto phase = dyn_cast<PhaseOp>(step.op))
    return "phase " + std::to_string(step.phase) + " '" + phase.getLabel().str() + "'";
  if (auto loop = dyn_cast<LoopOp>(step.op))
    return "the loop '" + loop.getLabel().str() + "'";
  return "the branch '" + cast<BranchOp>(step.op).getLabel().str() + "'";
}
