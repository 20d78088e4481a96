#include "compiler/pipe/PlaceOperations.h"

#include "compiler/step/TrainingStep.h"
#include <set>

using namespace mlir;
using namespace freestone;
using namespace freestone::pipe;

namespace {

/// Operations that belong to a part.
auto getWork(func::FuncOp function, FreeOperations &free) {
  return llvm::make_filter_range(function.getBody().front().without_terminator(),
                                 [&](Operation &op) { return !free.isFree(&op); });
}

} // namespace

LogicalResult PlacedOperations::place() {
  findForward();
  if (failed(verify()))
    return failure();
  for (int64_t stage : stages)
    stageCount = std::max(stageCount, stage + 1);
  for (auto [number, node] : llvm::enumerate(nodes))
    places[node] = {PassKind::Forward, static_cast<int64_t>(number), stageOf(number)};
  findReaders();
  findTargets();
  placeGradients();
  placeLeaves();
  splitGradients();
  return success();
}

void PlacedOperations::findForward() {
  Operation *terminator = function.getBody().front().getTerminator();
  DenseSet<Operation *> forLoss, forGradients;
  for (OpOperand &result : terminator->getOpOperands()) {
    std::optional<State> state = getReturnedState(function, result.getOperandNumber());
    bool isLoss = state && state->role == step::lossRole, isGradient = state && state->role == step::gradientRole;
    if (!isLoss && !isGradient)
      continue;
    for (Value source : free.getSources(result.get()))
      if (Operation *op = source.getDefiningOp())
        (isLoss ? forLoss : forGradients).insert(op);
  }
  for (Operation &op : llvm::reverse(function.getBody().front().without_terminator()))
    for (DenseSet<Operation *> *needed : {&forLoss, &forGradients})
      if (needed->contains(&op))
        for (Value source : free.getSources(&op))
          if (Operation *producer = source.getDefiningOp())
            needed->insert(producer);
  for (Operation &op : getWork(function, free))
    if (forLoss.contains(&op) || !forGradients.contains(&op))
      nodes.push_back(&op);
}

LogicalResult PlacedOperations::verify() {
  if (stages.empty())
    return success();
  if (stages.size() != nodes.size())
    return function.emitError() << "the stages are given for " << stages.size() << " operations, but there are "
                                << nodes.size() << " in the forward pass";
  DenseMap<Operation *, int64_t> stageOfNode;
  for (auto [node, stage] : llvm::zip_equal(nodes, stages))
    stageOfNode[node] = stage;
  for (Operation *node : nodes)
    for (Value source : free.getSources(node))
      if (Operation *producer = source.getDefiningOp();
          producer && stageOfNode.lookup(producer) > stageOfNode.lookup(node))
        return node->emitError() << "is on stage " << stageOfNode.lookup(node) << ", but reads what stage "
                                 << stageOfNode.lookup(producer) << " makes";
  return success();
}

void PlacedOperations::findReaders() {
  for (auto [number, node] : llvm::enumerate(nodes))
    for (Value source : free.getSources(node))
      if (std::optional<State> state = getState(function, source); state && state->parameter >= 0)
        readers[state->parameter].push_back(number);
}

/// Finds for each operation the weights whose gradients need it.
void PlacedOperations::findTargets() {
  auto add = [&](Operation *op, int64_t target) {
    auto [entry, isNew] = targets.try_emplace(op, target);
    if (!isNew && entry->second != target)
      entry->second = -1;
  };
  Operation *terminator = function.getBody().front().getTerminator();
  for (OpOperand &result : terminator->getOpOperands()) {
    std::optional<State> state = getReturnedState(function, result.getOperandNumber());
    if (state && state->role == step::gradientRole)
      for (Value source : free.getSources(result.get()))
        if (Operation *op = source.getDefiningOp())
          add(op, state->parameter);
  }
  for (Operation &op : llvm::reverse(function.getBody().front().without_terminator())) {
    auto target = targets.find(&op);
    if (target == targets.end() || places.contains(&op))
      continue;
    int64_t parameter = target->second;
    for (Value source : free.getSources(&op))
      if (Operation *producer = source.getDefiningOp())
        add(producer, parameter);
  }
}

/// Places an operation whose operands are placed. Its node is -1 if they tell nothing.
Place PlacedOperations::placeGradient(Operation *op) {
  constexpr int64_t unknown = std::numeric_limits<int64_t>::max();
  int64_t lastNode = unknown, lastStage = unknown, node = -1, activation = -1;
  SetVector<Value> sources = free.getSources(op);
  for (Value source : sources)
    if (auto place = places.find(source.getDefiningOp());
        place != places.end() && place->second.pass != PassKind::Forward) {
      lastNode = std::min(lastNode, place->second.node);
      lastStage = std::min(lastStage, place->second.stage);
    }
  auto considerReader = [&](int64_t parameter) {
    auto found = readers.find(parameter);
    if (found == readers.end())
      return;
    ArrayRef<int64_t> nodesOf = found->second;
    auto later = llvm::find_if(nodesOf, [&](int64_t reader) { return reader > lastNode; });
    node = std::max(node, later == nodesOf.begin() ? nodesOf.front() : *std::prev(later));
  };
  auto target = targets.find(op);
  bool isOfOneParameter = target != targets.end() && target->second >= 0;
  if (isOfOneParameter)
    considerReader(target->second);
  for (Value source : sources) {
    if (std::optional<State> state = getState(function, source)) {
      auto readersOf = readers.find(state->parameter);
      // Sums of gradients are where the weight is read first.
      if (state->role == step::gradientRole && readersOf != readers.end()) {
        node = readersOf->second.front();
        break;
      }
      considerReader(state->parameter);
      continue;
    }
    auto place = places.find(source.getDefiningOp());
    bool isActivation = place != places.end() && place->second.pass == PassKind::Forward && !isSmall(source);
    if (isActivation && !isOfOneParameter)
      activation = std::max(activation, place->second.node);
  }
  // Activations travel with a micro-batch; a weight that two stages read, after every update.
  if (node < 0)
    node = activation;
  if (lastNode != unknown)
    node = node < 0 ? lastNode : std::min(node, lastNode);
  if (node < 0)
    return {PassKind::WeightGradient, -1, -1};
  return {PassKind::WeightGradient, node, std::min(lastStage, stageOf(node))};
}

void PlacedOperations::placeGradients() {
  for (Operation &op : getWork(function, free))
    if (!places.contains(&op))
      places[&op] = placeGradient(&op);
}

/// What reads nothing that is placed, such as a tensor of zeros, is made on the last stage that reads it: gradients go
/// to earlier ones.
void PlacedOperations::placeLeaves() {
  for (Operation &op : llvm::reverse(function.getBody().front().without_terminator())) {
    auto own = places.find(&op);
    if (own == places.end())
      continue;
    for (Value source : free.getSources(&op)) {
      auto leaf = places.find(source.getDefiningOp());
      if (leaf != places.end() && leaf->second.node < 0 && leaf->second.stage < own->second.stage)
        leaf->second.stage = own->second.stage;
    }
  }
}

/// Of each stage's gradients, those that other stages need are the gradients of inputs.
void PlacedOperations::splitGradients() {
  for (Operation &op : llvm::reverse(function.getBody().front().without_terminator())) {
    auto own = places.find(&op);
    if (own == places.end() || own->second.pass == PassKind::Forward)
      continue;
    for (Value source : free.getSources(&op)) {
      auto place = places.find(source.getDefiningOp());
      if (place == places.end() || place->second.pass == PassKind::Forward)
        continue;
      bool isNeededElsewhere = place->second.stage != own->second.stage || own->second.pass == PassKind::InputGradient;
      if (isNeededElsewhere)
        place->second.pass = PassKind::InputGradient;
    }
  }
}

StateStages PlacedOperations::getStateStages() {
  StateStages result;
  llvm::StringMap<std::set<int64_t>> stagesOf;
  for (const auto &[op, place] : places)
    for (Value source : free.getSources(op))
      if (std::optional<State> state = getState(function, source))
        stagesOf[state->name].insert(place.stage);
  Operation *terminator = function.getBody().front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    std::optional<State> state = getReturnedState(function, operand.getOperandNumber());
    if (!state)
      continue;
    for (Value source : free.getSources(operand.get()))
      if (auto place = places.find(source.getDefiningOp()); place != places.end())
        result.homes[state->name] = place->second.stage;
  }
  for (const auto &entry : stagesOf)
    if (!result.homes.contains(entry.first()))
      llvm::append_range(result.readers[entry.first()], entry.second);
  return result;
}
