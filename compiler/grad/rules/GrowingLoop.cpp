// The gradient of a loop in which sizes follow the number of the iteration: a loop of as many iterations in the
// opposite order, which computes each of them again from the carried values with which it began, and from its costly
// values. The sizes within it follow its own number: iteration t has those of iteration trips - 1 - t.
#include "compiler/dialect/sym/Substitute.h"
#include "compiler/grad/BoundSymbols.h"
#include "compiler/grad/CapturedPart.h"
#include "compiler/grad/Differentiate.h"
#include "compiler/grad/GrowingStates.h"
#include "compiler/grad/Rule.h"
#include "compiler/grad/ScanStates.h"
#include "compiler/grad/Sweep.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace freestone::grad {

namespace {

class LoopGradient {
public:
  LoopGradient(graph::WhileOp op, Backward &backward)
      : op(op), backward(backward), trips(op.getTrips()->getExpr()), trip(*op.getTrip()) {}

  LogicalResult build();

private:
  Tensor zeros(Type like) { return backward.builder.splat(0, cast<graph::TensorType>(like)); }
  void declareTrip();
  void collectInputs();
  SmallVector<Value> cloneIteration(Block &block);
  LogicalResult buildBody();
  void yield(Block &block, ArrayRef<Value> gradients, unsigned sums);
  void finish(ValueRange results);

  graph::WhileOp op;
  Backward &backward;
  Expr trips;
  sym::ExprAttr trip;
  /// The symbol of the number of the backward iteration, and what the number of the forward one is in it.
  Expr turned, number;
  /// Carried values with gradients, and collected ones, by number; what the iterations take from outside.
  SmallVector<unsigned> carried, collected;
  SmallVector<CapturedPart> captured;
  SmallVector<Value> initial;
  /// Holds the body until the types of all results are known.
  graph::WhileOp unfinished;
  /// Of the clone of the body: the carried values with which it begins, and those costly values that are known.
  SmallVector<Value> begun;
  SmallVector<std::pair<Value, Value>> costly;
  /// Of what the body yields behind the carried values.
  SmallVector<Value> yielded;
};

void LoopGradient::declareTrip() {
  auto function = op->getParentOfType<func::FuncOp>();
  auto symbols = function->getAttrOfType<DictionaryAttr>("graph.symbols");
  auto bounds = symbols ? symbols.getAs<sym::SymbolBoundsAttr>(*trip.getExpr().asSymbol()) : sym::SymbolBoundsAttr();
  if (!bounds)
    bounds = sym::SymbolBoundsAttr::get(op.getContext(), sym::SymbolBounds{sym::Interval::size(), 1});
  turned = declareSymbol(function, "turned", bounds);
  number = trips - 1 - turned;
}

void LoopGradient::collectInputs() {
  size_t states = op.getCarried().size();
  for (unsigned index = 0; index < states; ++index)
    if (isDifferentiable(op.getCarriedArgs()[index])) {
      carried.push_back(index);
      Tensor gradient = backward.gradient(index);
      initial.push_back((gradient ? gradient : zeros(op.getResult(index).getType())).value());
    }
  for (unsigned index = states, given = getNumGiven(op); index < given; ++index)
    if (backward.gradient(index))
      collected.push_back(index);
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op.getBody(), used);
  for (Value value : used)
    if (backward.wants(value))
      captured.push_back({value, {}, {}});
}

/// Computes an iteration again, of the size that it had. Returns what its body yields.
SmallVector<Value> LoopGradient::cloneIteration(Block &block) {
  GraphBuilder builder(op.getLoc(), block.getTerminator());
  Block &body = op.getBody().front();
  SmallVector<Tensor> restored = restoreIteration(builder, op, number);
  IRMapping mapping;
  mapping.map(body.getArgument(0), builder.integer(number).value());
  for (auto [argument, tensor] : llvm::zip(op.getCarriedArgs(), restored))
    mapping.map(argument, begun.emplace_back(tensor.value()));
  auto names = renameSymbols(op->getParentOfType<func::FuncOp>(), findBoundSymbols(op));
  names[StringAttr::get(op.getContext(), *trip.getExpr().asSymbol())] = number;
  for (Operation &inner : body.without_terminator())
    applyNames(builder.clone(inner, mapping), names);
  for (auto [value, tensor] : llvm::zip_equal(getCostly(body), ArrayRef(restored).drop_front(begun.size())))
    costly.push_back({mapping.lookup(value), tensor.value()});
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

LogicalResult LoopGradient::buildBody() {
  Location location = op.getLoc();
  unfinished = graph::WhileOp::create(backward.builder, TypeRange(), Value(), Value(), ValueRange(), sym::ExprAttr(),
                                      sym::ExprAttr());
  OpBuilder begin(op.getContext());
  Block &block = *begin.createBlock(&unfinished.getBody());
  block.addArgument(graph::TensorType::get({}, begin.getI64Type()), location);
  graph::YieldOp::create(begin, location, ValueRange());
  SmallVector<Value> outputs = cloneIteration(block);
  GraphBuilder builder(location, block.getTerminator());

  SmallVector<Seed> seeds;
  SmallVector<Value> wanted;
  for (unsigned index : carried) {
    seeds.push_back({outputs[1 + index], block.addArgument(outputs[1 + index].getType(), location)});
    wanted.push_back(begun[index]);
  }
  unsigned sums = block.getNumArguments();
  for (const CapturedPart &each : captured) {
    block.addArgument(each.value.getType(), location);
    wanted.push_back(each.value);
  }
  for (unsigned index : collected) {
    Value output = outputs[1 + index];
    Tensor part = slice(Tensor(builder, backward.gradient(index).value()), 0, number, builder.size(1));
    seeds.push_back({output, reshape(part, graph::getShape(output)).value()});
  }
  if (failed(expandPaths(block, seeds, wanted)))
    return failure();
  FailureOr<SmallVector<Value>> found = sweep(block, seeds, wanted);
  if (failed(found))
    return failure();
  for (auto [again, known] : costly)
    again.replaceAllUsesWith(known);
  yield(block, *found, sums);
  return success();
}

/// Ends the body with the gradients of what it begins with, and parts of those of captured values, or their sums.
void LoopGradient::yield(Block &block, ArrayRef<Value> gradients, unsigned sums) {
  GraphBuilder builder(op.getLoc(), block.getTerminator());
  SmallVector<Value> next = {builder.scalar(1, builder.getI1Type()).value()};
  for (auto [index, gradient] : llvm::zip(carried, gradients))
    next.push_back(gradient ? gradient : builder.splat(0, cast<graph::TensorType>(begun[index].getType())).value());
  auto hasOneSize = [&](Value value) {
    return llvm::none_of(graph::getShape(value), [&](Expr size) {
      llvm::SetVector<StringAttr> symbols;
      size.collectSymbols(symbols);
      return symbols.contains(StringAttr::get(op.getContext(), *turned.asSymbol()));
    });
  };
  for (auto [index, each] : llvm::enumerate(captured)) {
    Value part = gradients[carried.size() + index], sum = block.getArgument(sums + index);
    if (part)
      each.findContraction(part, block);
    if (each.contraction && hasOneSize(each.contraction.getLhs()) && hasOneSize(each.contraction.getRhs())) {
      yielded.push_back(each.contraction.getLhs());
      yielded.push_back(each.contraction.getRhs());
      continue;
    }
    each.contraction = {};
    next.push_back(part ? (Tensor(builder, sum) + Tensor(builder, part)).value() : sum);
    initial.push_back(zeros(each.value.getType()).value());
  }
  for (int index = captured.size(); index-- > 0;)
    if (captured[index].contraction)
      block.eraseArgument(sums + index);
  llvm::append_range(next, yielded);
  block.getTerminator()->setOperands(next);
}

void LoopGradient::finish(ValueRange results) {
  auto next = results.begin();
  for (unsigned index : carried)
    backward.add(op.getCarried()[index], backward.tensor(*next++));
  for (const CapturedPart &each : captured)
    if (!each.contraction)
      backward.add(each.value, backward.tensor(*next++));
  for (const CapturedPart &each : captured)
    if (each.contraction) {
      Tensor lhs = backward.tensor(*next++), rhs = backward.tensor(*next++);
      backward.add(each.value, each.contractAll(lhs, rhs));
    }
}

LogicalResult LoopGradient::build() {
  declareTrip();
  collectInputs();
  if (failed(buildBody()))
    return failure();
  SmallVector<Type> types;
  for (unsigned index : carried)
    types.push_back(op.getCarried()[index].getType());
  for (Value sum : ArrayRef(initial).drop_front(carried.size()))
    types.push_back(sum.getType());
  for (Value value : yielded) {
    Shape shape = {trips};
    llvm::append_range(shape, graph::getShape(value));
    types.push_back(cast<graph::TensorType>(value.getType()).withShape(shape));
  }
  Value most = backward.builder.integer(trips).value();
  auto loop = graph::WhileOp::create(backward.builder, types, most, Value(), initial, turned.attr(), trips.attr());
  loop.getBody().takeBody(unfinished.getBody());
  unfinished.erase();
  finish(loop.getResults());
  return success();
}

LogicalResult differentiateLoop(graph::WhileOp op, Backward &backward) { return LoopGradient(op, backward).build(); }

} // namespace

void addGrowingLoopRules(RuleTable &table) { table.add<graph::WhileOp, differentiateLoop>(); }

} // namespace freestone::grad
