#include "compiler/pipe/PlaceUpdate.h"

#include "compiler/step/TrainingStep.h"
#include "compiler/task/ValueMemory.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::pipe;

bool pipe::isReturnedEverywhere(func::FuncOp update, OpOperand &result) {
  std::optional<State> state = getReturnedState(update, result.getOperandNumber());
  return !state || state->role == step::stepRole;
}

namespace {

class UpdatePlacer {
public:
  UpdatePlacer(func::FuncOp update, FreeOperations &free, StateStages &states)
      : update(update), block(update.getBody().front()), free(free), states(states) {}

  LogicalResult run();
  DenseMap<Operation *, UpdatePlace> places;

private:
  void copySmallSums();
  void collectStates();
  bool placeOnce();
  LogicalResult placeBeforeExchange();
  std::optional<int64_t> findStage(Operation *op);

  func::FuncOp update;
  Block &block;
  FreeOperations &free;
  StateStages &states;
  SmallVector<Operation *> work;
  /// The states that an operation reads or replaces.
  DenseMap<Operation *, SmallVector<StringRef>> statesOf;
};

/// Small sums, such as that of the loss, are known to the stage that keeps them: a copy is what others get.
void UpdatePlacer::copySmallSums() {
  OpBuilder builder(&block, block.begin());
  for (BlockArgument argument : block.getArguments()) {
    std::optional<State> state = getState(update, argument);
    if (!state || state->role != step::lossRole)
      continue;
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : argument.getUses())
      if (use.getOwner() != block.getTerminator())
        uses.push_back(&use);
    if (uses.empty())
      continue;
    Value copy = task::copyValue(builder, argument);
    for (OpOperand *use : uses)
      use->set(copy);
    places[copy.getDefiningOp()] = {states.homes.lookup(state->name), true};
    free.keep(copy.getDefiningOp());
  }
}

void UpdatePlacer::collectStates() {
  for (Operation &op : block.without_terminator()) {
    if (free.isFree(&op) || places.contains(&op))
      continue;
    work.push_back(&op);
    for (Value source : free.getSources(&op))
      if (std::optional<State> state = getState(update, source); state && state->role != step::stepRole)
        statesOf[&op].push_back(state->name);
  }
  for (OpOperand &result : block.getTerminator()->getOpOperands()) {
    std::optional<State> state = getReturnedState(update, result.getOperandNumber());
    if (state && state->role != step::stepRole)
      for (Value source : free.getSources(result.get()))
        if (Operation *op = source.getDefiningOp())
          statesOf[op].push_back(state->name);
  }
}

std::optional<int64_t> UpdatePlacer::findStage(Operation *op) {
  for (StringRef state : statesOf[op])
    if (auto home = states.homes.find(state); home != states.homes.end())
      return home->second;
  for (Value source : free.getSources(op))
    if (auto place = places.find(source.getDefiningOp()); place != places.end() && !isSmall(source))
      return place->second.stage;
  return std::nullopt;
}

/// Returns whether anything new was found.
bool UpdatePlacer::placeOnce() {
  bool isChanged = false;
  for (Operation *op : work) {
    if (!places.contains(op)) {
      std::optional<int64_t> stage = findStage(op);
      if (!stage)
        continue;
      places[op] = {*stage, false};
      isChanged = true;
    }
    for (StringRef state : statesOf[op])
      isChanged |= states.homes.try_emplace(state, places[op].stage).second;
  }
  return isChanged;
}

/// What other stages need, and what that follows from, comes before the exchange.
LogicalResult UpdatePlacer::placeBeforeExchange() {
  SmallVector<Operation *> needed;
  auto need = [&](Value source, std::optional<int64_t> stage) {
    auto place = places.find(source.getDefiningOp());
    if (place != places.end() && place->second.stage != stage && !place->second.isBefore) {
      place->second.isBefore = true;
      needed.push_back(place->first);
    }
  };
  for (Operation *op : work)
    for (Value source : free.getSources(op))
      need(source, places[op].stage);
  for (OpOperand &result : block.getTerminator()->getOpOperands())
    if (isReturnedEverywhere(update, result))
      for (Value source : free.getSources(result.get()))
        need(source, std::nullopt);
  while (!needed.empty()) {
    Operation *op = needed.pop_back_val();
    for (Value source : free.getSources(op)) {
      auto place = places.find(source.getDefiningOp());
      if (place == places.end())
        continue;
      if (place->second.stage != places[op].stage)
        return op->emitError("the update of one stage needs what others have exchanged before, twice");
      need(source, std::nullopt);
    }
  }
  return success();
}

LogicalResult UpdatePlacer::run() {
  copySmallSums();
  collectStates();
  while (placeOnce())
    ;
  for (Operation *op : work) {
    places.try_emplace(op, UpdatePlace{});
    for (StringRef state : statesOf[op])
      if (states.homes.lookup(state) != places[op].stage)
        return op->emitError() << "updates states of several stages at once, such as '" << state << "'";
  }
  return placeBeforeExchange();
}

} // namespace

FailureOr<DenseMap<Operation *, UpdatePlace>> pipe::placeUpdate(func::FuncOp update, FreeOperations &free,
                                                                StateStages &states) {
  UpdatePlacer placer(update, free, states);
  if (failed(placer.run()))
    return failure();
  return std::move(placer.places);
}
