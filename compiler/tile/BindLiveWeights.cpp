#include "compiler/tile/Passes.h"

#include "compiler/tile/Counters.h"
#include "compiler/tile/HoistWeights.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

namespace freestone::tile {
#define GEN_PASS_DEF_BINDLIVEWEIGHTS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

namespace {

constexpr StringRef stateAttr = "graph.state";

class BindLiveWeights : public tile::impl::BindLiveWeightsBase<BindLiveWeights> {
public:
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      takeAsInputs(function);
    if (auto init = getOperation().lookupSymbol<func::FuncOp>(initName))
      splitInit(init);
    for (auto function : getOperation().getOps<func::FuncOp>())
      takeAsStates(function);
  }

private:
  void takeAsInputs(func::FuncOp function);
  void splitInit(func::FuncOp init);
  void takeAsStates(func::FuncOp function);

  /// The states that @pack makes, as it stores them, by name.
  DenseMap<Attribute, Type> kept;
};

/// The results of a function that depend on live weights.
BitVector findLiveResults(func::FuncOp init) {
  DenseSet<Value> live;
  for (BlockArgument argument : init.getArguments())
    if (init.getArgAttr(argument.getArgNumber(), inputAttr))
      live.insert(argument);
  auto isLive = [&](Value value) { return live.contains(value); };
  init.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getBlock() == &init.getBody().front() && llvm::any_of(op->getOperands(), isLive))
      live.insert(op->result_begin(), op->result_end());
  });
  BitVector results;
  for (Value result : init.getBody().front().getTerminator()->getOperands())
    results.push_back(isLive(result));
  return results;
}

/// Erases results, and all that is made for them alone.
void eraseResults(func::FuncOp function, const BitVector &results) {
  Block &block = function.getBody().front();
  block.getTerminator()->eraseOperands(results);
  (void)function.eraseResults(results);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    unused[argument.getArgNumber()] = argument.use_empty();
  (void)function.eraseArguments(unused);
}

void BindLiveWeights::takeAsInputs(func::FuncOp function) {
  DenseMap<Attribute, Value> inputs;
  for (auto weight : llvm::make_early_inc_range(function.getOps<graph::WeightOp>())) {
    if (!weight.getLive())
      continue;
    Value &input = inputs[weight.getNameAttr()];
    if (!input) {
      unsigned index = function.getNumArguments();
      NamedAttribute name(StringAttr::get(&getContext(), inputAttr), weight.getNameAttr());
      (void)function.insertArgument(index, weight.getType(), DictionaryAttr::get(&getContext(), name), weight.getLoc());
      input = function.getArgument(index);
    }
    weight.replaceAllUsesWith(input);
    weight.erase();
  }
}

/// Moves what depends on live weights from @init to @pack.
void BindLiveWeights::splitInit(func::FuncOp init) {
  BitVector live = findLiveResults(init);
  if (live.none())
    return;
  func::FuncOp pack = init.clone();
  pack.setSymName(packName);
  getOperation().insert(std::next(init->getIterator()), pack);
  eraseResults(init, live);
  if (init.getNumResults() == 0)
    init.erase();
  BitVector others = live;
  eraseResults(pack, others.flip());
  for (auto [index, type] : llvm::enumerate(pack.getResultTypes())) {
    Attribute name = pack.removeResultAttr(index, StringAttr::get(&getContext(), weightAttr));
    pack.setResultAttr(index, stateAttr, name);
    kept[name] = type;
    count(getOperation(), "kept_weights", 1);
  }
}

void BindLiveWeights::takeAsStates(func::FuncOp function) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    Attribute name = function.getArgAttr(index, weightAttr);
    auto state = name ? kept.find(name) : kept.end();
    if (state == kept.end())
      continue;
    function.removeArgAttr(index, weightAttr);
    function.setArgAttr(index, stateAttr, name);
    Type type = argument.getType();
    if (type == state->second)
      continue;
    argument.setType(state->second);
    auto view = ViewOp::create(builder, argument.getLoc(), type, argument);
    argument.replaceAllUsesExcept(view, view);
  }
  function.setFunctionType(
      builder.getFunctionType(function.getBody().front().getArgumentTypes(), function.getResultTypes()));
}

} // namespace
