#include "compiler/pipe/PlaceEvaluation.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::pipe;

/// The first stage from `least` on that has a state; `least` if none has.
static int64_t findStage(const StateStages &states, StringRef state, int64_t least) {
  SmallVector<int64_t> stages(states.readers.lookup(state));
  if (auto home = states.homes.find(state); home != states.homes.end())
    stages.push_back(home->second);
  llvm::sort(stages);
  auto found = llvm::find_if(stages, [&](int64_t stage) { return stage >= least; });
  return found == stages.end() ? least : *found;
}

DenseMap<Operation *, int64_t> pipe::placeEvaluation(func::FuncOp evaluation, FreeOperations &free,
                                                     const StateStages &states) {
  DenseMap<Operation *, int64_t> stages;
  for (Operation &op : evaluation.getBody().front().without_terminator()) {
    if (free.isFree(&op))
      continue;
    int64_t stage = 0;
    for (Value source : free.getSources(&op))
      if (auto producer = stages.find(source.getDefiningOp()); producer != stages.end())
        stage = std::max(stage, producer->second);
    for (Value source : free.getSources(&op))
      if (std::optional<State> state = getState(evaluation, source))
        stage = findStage(states, state->name, stage);
    stages[&op] = stage;
  }
  return stages;
}
