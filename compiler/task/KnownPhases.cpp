#include "compiler/task/KnownPhases.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

KnownPhases::KnownPhases(ProgramOp program, std::function<bool(SpaceOp, SpaceOp)> areDealtAlike)
    : areDealtAlike(std::move(areDealtAlike)), phases(program.getPhases()), knownAt(phases.size()) {
  for (Iterations *each : {static_cast<Iterations *>(&known), &known.passed})
    *each = {llvm::BitVector(phases.size()), llvm::BitVector(phases.size())};
}

/// Whether all workers with tiles of a phase have some of the other.
bool KnownPhases::isWithin(int64_t phase, int64_t other) const {
  PhaseOp one = phases[phase], two = phases[other];
  auto others = two.getSpaces();
  return llvm::all_of(one.getSpaces(), [&](SpaceOp space) {
    return llvm::any_of(others, [&](SpaceOp around) { return areDealtAlike(space, around); });
  });
}

void KnownPhases::awaitAll(int64_t phase) {
  for (Iterations *each : {static_cast<Iterations *>(&known), &known.passed}) {
    each->here.set(0, phase + 1);
    if (body.contains(phase))
      each->before.set(body.first, body.end);
  }
}

void KnownPhases::awaitAgain(int64_t phase) {
  known.before.set(body.first, phase + 1);
  known.passed.before.set(body.first, phase + 1);
}

void KnownPhases::awaitTiles(Operation *op, int64_t phase) {
  PhaseOp awaited = phases[phase];
  bool isSurely = awaited->getBlock()->findAncestorOpInBlock(*op) != nullptr;
  if (isSurely) {
    known.here |= knownAt[phase].here;
    known.passed.here |= knownAt[phase].passed.here;
  }
  auto addWithin = [&](llvm::BitVector &done, int64_t first, int64_t end) {
    for (int64_t before = first; before < end; ++before)
      if (!done.test(before) && isWithin(before, phase))
        done.set(before);
  };
  addWithin(known.here, 0, phase);
  known.here.set(phase);
  if (!body.contains(phase))
    return;
  if (isSurely) {
    known.before |= knownAt[phase].before;
    known.passed.before |= knownAt[phase].passed.before;
  }
  addWithin(known.before, body.first, body.end);
}

void KnownPhases::await(PhaseOp phase) {
  for (int64_t before : phase.getAwaitedTiles())
    awaitTiles(phase, before);
  for (int64_t before : phase.getAllAfter())
    awaitAll(before);
  for (int64_t before : phase.getAwaitedAgain())
    awaitAgain(before);
}

int64_t KnownPhases::enter(PhaseOp phase) {
  assert(phases[next] == phase && "a walk in the order of the text");
  knownAt[next] = known;
  return next++;
}

void KnownPhases::passLoop(LoopOp loop, llvm::function_ref<void()> pass, llvm::function_ref<void()> passAgain) {
  Body around = body;
  Known outside = known;
  body = {next, next + static_cast<int64_t>(loop.getPhases().size())};
  known.before.reset();
  known.passed.before.reset();
  pass();
  Known again = outside;
  again.before = known.here;
  again.passed.before = known.passed.here;
  for (llvm::BitVector *before : {&again.before, &again.passed.before})
    before->reset(0, body.first);
  goBack(body.first, std::move(again));
  for (int64_t phase : loop.getAwaitedAgain())
    awaitAgain(phase);
  llvm::BitVector atBegin = known.before;
  passAgain();
  auto first = loop.getBody().front().empty() ? PhaseOp() : dyn_cast<PhaseOp>(loop.getBody().front().front());
  beforeBody[loop] = first ? knownAt[body.first].before : atBegin;
  // Whoever leaves the loop has waited for the same phases of its last iteration.
  for (int64_t phase : loop.getAwaitedAgain())
    for (llvm::BitVector *here : {&known.here, &known.passed.here})
      here->set(body.first, phase + 1);
  known.before = std::move(outside.before);
  known.passed.before = std::move(outside.passed.before);
  body = around;
}

void KnownPhases::pass(Block &block, Visit visit, VisitLoop visitLoop) {
  for (Operation &op : block) {
    if (auto phase = dyn_cast<PhaseOp>(op)) {
      await(phase);
      visit(phase);
      enter(phase);
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      for (int64_t before : loop.getAwaited())
        awaitAll(before);
      if (visitLoop)
        visitLoop(loop);
      Block &inner = loop.getBody().front();
      passLoop(loop, [&] { pass(inner, [](PhaseOp) {}); }, [&] { pass(inner, visit); });
    } else if (auto branch = dyn_cast<BranchOp>(op)) {
      for (int64_t before : branch.getAllAfter())
        awaitAll(before);
      Known around = known;
      for (Region *side : {&branch.getThenBody(), &branch.getElseBody()}) {
        pass(side->front(), visit, visitLoop);
        forget(around);
      }
    }
  }
}

std::vector<KnownPhases::Known> KnownPhases::getAtPhases(ProgramOp program) {
  KnownPhases known(program, [](SpaceOp one, SpaceOp other) { return one.isDealtAs(other); });
  known.pass(program.getBody().front(), [](PhaseOp) {});
  return std::move(known.knownAt);
}
