#include "compiler/pipe/Passes.h"
#include "compiler/pipe/PlaceEvaluation.h"
#include "compiler/pipe/PlaceUpdate.h"
#include "compiler/pipe/RecomputeStages.h"
#include "compiler/tile/Counters.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <set>

namespace freestone::pipe {
#define GEN_PASS_DEF_CUTSTAGES
#include "compiler/pipe/Passes.h.inc"
} // namespace freestone::pipe

using namespace mlir;
using namespace freestone;
using namespace freestone::pipe;

namespace {

std::string nameOf(int64_t stage, StringRef entry) { return ("stage_" + Twine(stage) + "_" + entry).str(); }

class CutStages : public pipe::impl::CutStagesBase<CutStages> {
public:
  using CutStagesBase::CutStagesBase;

  void runOnOperation() override;

private:
  LogicalResult cutMicroBatch(func::FuncOp function);
  LogicalResult cutUpdate(func::FuncOp function);
  void cutEvaluation(func::FuncOp function);
  void cut(const Cut &cut, FreeOperations &free);
  llvm::json::Object describe() const;

  StateStages states;
  int64_t stageCount = 1;
  ValueNames names;
  SmallVector<func::FuncOp> functions;
  std::vector<std::string> symbols;
};

void CutStages::cut(const Cut &cut, FreeOperations &free) {
  tile::moveCounters(cut.source, getOperation());
  llvm::append_range(functions, cutFunction(cut, free, names));
  names.forgetValues();
  cut.source->erase();
}

LogicalResult CutStages::cutMicroBatch(func::FuncOp function) {
  FreeOperations free(function);
  PlacedOperations placed(function, free, stages);
  if (failed(placed.place()))
    return failure();
  stageCount = placed.getStageCount();
  states = placed.getStateStages();
  Cut cut(function);
  // Forward passes in the order of stages, then the gradients in the opposite one.
  constexpr unsigned afterForward = 3;
  auto partOf = [&](const Place &place) -> unsigned {
    if (place.pass == PassKind::Forward)
      return place.stage;
    bool isSecond = split && place.pass == PassKind::WeightGradient;
    return stageCount + afterForward * (stageCount - 1 - place.stage) +
           (place.pass == PassKind::Recompute ? 0 : 1 + isSecond);
  };
  for (int64_t stage = 0; stage < stageCount; ++stage)
    cut.parts.push_back(nameOf(stage, "forward"));
  for (int64_t stage = stageCount; stage-- > 0;)
    for (StringRef entry : {"recompute", split ? "input_gradient" : "backward", "weight_gradient"})
      cut.parts.push_back(nameOf(stage, entry));
  DenseMap<Operation *, Place> places = copyForwardPasses(function, free, placed, recompute);
  places.insert(placed.getPlaces().begin(), placed.getPlaces().end());
  Builder builder(&getContext());
  for (const auto &[op, place] : places) {
    cut.partOf[op] = partOf(place);
    op->setAttr("pipe.node", builder.getI64IntegerAttr(place.node));
    op->setAttr("pipe.pass", builder.getI64IntegerAttr(static_cast<int64_t>(place.pass)));
  }
  for (Value result : function.getBody().front().getTerminator()->getOperands()) {
    SmallVector<unsigned, 2> &parts = cut.returnedBy.emplace_back();
    for (Value source : free.getSources(result))
      if (auto part = cut.partOf.find(source.getDefiningOp()); part != cut.partOf.end())
        parts = {parts.empty() ? part->second : std::max(parts.front(), part->second)};
  }
  this->cut(cut, free);
  return success();
}

LogicalResult CutStages::cutUpdate(func::FuncOp function) {
  FreeOperations free(function, /*fromComputed=*/true);
  FailureOr<DenseMap<Operation *, UpdatePlace>> places = placeUpdate(function, free, states);
  if (failed(places))
    return failure();
  Cut cut(function);
  for (StringRef entry : {"norms", "update"})
    for (int64_t stage = 0; stage < stageCount; ++stage)
      cut.parts.push_back(nameOf(stage, entry));
  for (const auto &[op, place] : *places)
    cut.partOf[op] = place.isBefore ? place.stage : stageCount + place.stage;
  for (OpOperand &result : function.getBody().front().getTerminator()->getOpOperands()) {
    SmallVector<unsigned, 2> &parts = cut.returnedBy.emplace_back();
    std::optional<State> state = getReturnedState(function, result.getOperandNumber());
    for (int64_t stage = 0; stage < stageCount; ++stage)
      if (isReturnedEverywhere(function, result) || states.homes.lookup(state->name) == stage)
        parts.push_back(stageCount + stage);
  }
  this->cut(cut, free);
  return success();
}

void CutStages::cutEvaluation(func::FuncOp function) {
  FreeOperations free(function);
  DenseMap<Operation *, int64_t> places = placeEvaluation(function, free, states);
  Cut cut(function);
  for (int64_t stage = 0; stage < stageCount; ++stage)
    cut.parts.push_back(nameOf(stage, "evaluate"));
  for (const auto &[op, stage] : places)
    cut.partOf[op] = stage;
  unsigned last = stageCount - 1;
  cut.returnedBy.assign(function.getNumResults(), {last});
  this->cut(cut, free);
}

/// Of "stage_1_forward": "1", "forward".
std::pair<StringRef, StringRef> splitName(func::FuncOp function) {
  return function.getSymName().drop_front(StringRef("stage_").size()).split('_');
}

int64_t stageOf(func::FuncOp function) {
  int64_t stage = 0;
  (void)splitName(function).first.getAsInteger(10, stage);
  return stage;
}

/// [1, "forward"]
llvm::json::Array describePart(func::FuncOp function) {
  return llvm::json::Array{stageOf(function), splitName(function).second};
}

llvm::json::Object CutStages::describe() const {
  llvm::json::Object values;
  std::map<std::string, std::pair<llvm::json::Array, llvm::json::Array>> ways;
  auto isValue = [](StringAttr name) { return name && name.getValue().starts_with("pipe/"); };
  for (func::FuncOp function : ArrayRef(functions)) {
    for (unsigned index = 0; index < function.getNumResults(); ++index)
      if (auto name = function.getResultAttrOfType<StringAttr>(index, "graph.name"); isValue(name))
        ways[name.str()].first = describePart(function);
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      if (auto name = function.getArgAttrOfType<StringAttr>(index, "graph.name"); isValue(name))
        ways[name.str()].second.push_back(describePart(function));
  }
  for (auto &[name, way] : ways)
    values[name] = llvm::json::Object{{"from", std::move(way.first)}, {"to", std::move(way.second)}};
  std::map<std::string, std::set<int64_t>> holders; ///< of states: the stages that have them
  for (func::FuncOp function : ArrayRef(functions))
    for (BlockArgument argument : function.getArguments())
      if (std::optional<State> state = getState(function, argument))
        holders[state->name.str()].insert(stageOf(function));
  llvm::json::Array shared;
  for (const auto &[state, stages] : holders)
    if (auto home = states.homes.find(state); home != states.homes.end() && stages.size() > 1)
      shared.push_back(llvm::json::Object{
          {"state", state}, {"home", home->second}, {"stages", llvm::json::Array(llvm::to_vector(stages))}});
  return llvm::json::Object{{"stages", stageCount},
                            {"symbols", llvm::json::Array(symbols)},
                            {"values", std::move(values)},
                            {"shared", std::move(shared)}};
}

void CutStages::runOnOperation() {
  ModuleOp module = getOperation();
  auto main = module.lookupSymbol<func::FuncOp>("main"), update = module.lookupSymbol<func::FuncOp>("update"),
       evaluate = module.lookupSymbol<func::FuncOp>("evaluate");
  if (!main || !update || !evaluate) {
    module.emitError("is no training step whose update is apart: it has not @main, @update and @evaluate");
    return signalPassFailure();
  }
  if (main->hasAttr("graph.value_symbols")) {
    main.emitError("a size depends on data, which stages of a pipeline can't share; pad to a known size");
    return signalPassFailure();
  }
  for (StringRef symbol : getInputSymbols(main))
    symbols.push_back(symbol.str());
  if (failed(cutMicroBatch(main)) || failed(cutUpdate(update)))
    return signalPassFailure();
  cutEvaluation(evaluate);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(describe());
  module->setAttr("pipe.description", StringAttr::get(&getContext(), text));
}

} // namespace
