#include "compiler/task/BufferOwners.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

static Operation *findLoop(Operation *op) {
  auto loop = op->getParentOfType<LoopOp>();
  return loop ? loop.getOperation() : nullptr;
}

static bool isIn(Operation *loop, Operation *other) { return !loop || (other && loop->isAncestor(other)); }

DenseMap<Value, Operation *> task::findOwners(ProgramOp program) {
  DenseMap<Value, Operation *> owners;
  auto restrict = [&](Value operand, Operation *loop) {
    auto [known, isNew] = owners.try_emplace(findBuffer(operand).getBuffer(), loop);
    while (!isIn(known->second, loop))
      known->second = findLoop(known->second);
  };
  for (PhaseOp phase : program.getPhases())
    for (SpaceOp space : phase.getSpaces())
      for (Value operand : space->getOperands())
        restrict(operand, findLoop(phase));
  // What follows a loop's iterations lives around it; so does what it reads before each.
  SmallVector<ViewOp, 8> views = program.getViews();
  program.walk([&](LoopOp loop) {
    for (ViewOp view : views)
      if (view.getLoop() == loop.getNumber())
        restrict(view.getSource(), findLoop(loop));
    if (Value condition = loop.getCondition())
      restrict(condition, findLoop(loop));
  });
  return owners;
}
