// The gradient of a scan: a scan of its steps in the opposite order, which computes each of them again from the carried
// values with which it began, and from its costly values.
#include "compiler/grad/BoundSymbols.h"
#include "compiler/grad/CapturedPart.h"
#include "compiler/grad/Differentiate.h"
#include "compiler/grad/Rule.h"
#include "compiler/grad/ScanStates.h"
#include "compiler/grad/Sweep.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace freestone::grad {

namespace {

class ScanGradient {
public:
  ScanGradient(graph::ScanOp op, Backward &backward) : op(op), backward(backward), states(op.getCarried().size()) {}

  LogicalResult build();

private:
  /// Of the same type, where sizes could be written otherwise.
  Tensor reversed(Tensor x) { return reverse(x, {0}); }
  Tensor zeros(Value like) { return backward.builder.splat(0, cast<graph::TensorType>(like.getType())); }
  /// The results but for those that are kept for this gradient.
  size_t getNumGiven() { return op->getNumResults() - states - getCostly(op.getBody().front()).size(); }
  void collectInputs();
  LogicalResult buildBody();
  void finish();

  graph::ScanOp op;
  Backward &backward;
  size_t states;
  /// Carried and scanned values with gradients, by number, and what the steps take from outside.
  SmallVector<unsigned> carried, scanned, collected;
  SmallVector<CapturedPart> captured;
  SmallVector<Value> initial, sequences;
  /// Holds the body until the types of all results are known.
  graph::ScanOp unfinished;
  /// Of what the body yields behind the carried values.
  SmallVector<Value> yielded;
  SmallVector<Value> results;
};

/// Turns along the steps: gradients of what was collected, the states that were kept, and what was scanned.
void ScanGradient::collectInputs() {
  size_t kept = getNumGiven(), costly = op->getNumResults() - kept - states;
  for (unsigned index = 0; index < states; ++index)
    if (isDifferentiable(op.getCarriedArgs()[index])) {
      carried.push_back(index);
      Tensor gradient = backward.gradient(index);
      initial.push_back((gradient ? gradient : zeros(op.getResult(index))).value());
    }
  for (unsigned index = 0; index < op.getScanned().size(); ++index)
    if (backward.wants(op.getScanned()[index]))
      scanned.push_back(index);
  for (unsigned index = states; index < kept; ++index)
    if (Tensor gradient = backward.gradient(index)) {
      collected.push_back(index);
      sequences.push_back(reversed(gradient).value());
    }
  for (unsigned index = 0; index < costly; ++index)
    sequences.push_back(reversed(backward.result(kept + states + index)).value());
  for (unsigned index = 0; index < states; ++index)
    sequences.push_back(reversed(backward.result(kept + index)).value());
  for (Value whole : op.getScanned())
    sequences.push_back(reversed(backward.tensor(whole)).value());
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op.getBody(), used);
  for (Value value : used)
    if (backward.wants(value))
      captured.push_back({value, {}, {}});
}

LogicalResult ScanGradient::buildBody() {
  auto names = renameSymbols(op->getParentOfType<func::FuncOp>(), findBoundSymbols(op));
  unfinished = graph::ScanOp::create(backward.builder, TypeRange(), ValueRange(), sequences);
  IRMapping mapping;
  op.getBody().cloneInto(&unfinished.getBody(), mapping);
  applyNames(unfinished, names);
  Block &block = unfinished.getBody().front();
  Operation *end = block.getTerminator();
  SmallVector<Value> outputs(end->getOperands()), wanted;
  SmallVector<BlockArgument> own(block.getArguments());
  // The new arguments come first: carried gradients, sums of parts, gradients of what is collected.
  SmallVector<Seed> seeds;
  unsigned position = 0;
  for (unsigned index : carried)
    seeds.push_back({outputs[index], block.insertArgument(position++, outputs[index].getType(), op.getLoc())});
  unsigned sums = position;
  for (const CapturedPart &each : captured)
    block.insertArgument(position++, each.value.getType(), op.getLoc());
  for (unsigned index : collected)
    seeds.push_back({outputs[index], block.insertArgument(position++, outputs[index].getType(), op.getLoc())});
  SmallVector<std::pair<Value, Value>> costly;
  for (Value value : getCostly(block))
    costly.push_back({value, block.insertArgument(position++, value.getType(), op.getLoc())});
  for (unsigned index : carried)
    wanted.push_back(own[index]);
  for (unsigned index : scanned)
    wanted.push_back(own[states + index]);
  for (const CapturedPart &each : captured)
    wanted.push_back(each.value);
  if (failed(expandPaths(block, seeds, wanted)))
    return failure();
  FailureOr<SmallVector<Value>> found = sweep(block, seeds, wanted);
  if (failed(found))
    return failure();

  for (auto [again, known] : costly)
    again.replaceAllUsesWith(known);

  GraphBuilder builder(op.getLoc(), end);
  auto gradientOf = [&](unsigned number) {
    Value gradient = (*found)[number];
    return gradient ? gradient : builder.splat(0, cast<graph::TensorType>(wanted[number].getType())).value();
  };
  SmallVector<Value> next, rest;
  for (unsigned number = 0; number < carried.size(); ++number)
    next.push_back(gradientOf(number));
  for (unsigned number = 0; number < scanned.size(); ++number)
    rest.push_back(gradientOf(carried.size() + number));
  for (auto [number, each] : llvm::enumerate(captured)) {
    Value part = (*found)[carried.size() + scanned.size() + number], sum = block.getArgument(sums + number);
    if (part)
      each.findContraction(part, block);
    if (each.contraction) {
      rest.push_back(each.contraction.getLhs());
      rest.push_back(each.contraction.getRhs());
    } else {
      next.push_back(part ? (Tensor(builder, sum) + Tensor(builder, part)).value() : sum);
      initial.push_back(zeros(each.value).value());
    }
  }
  for (int number = captured.size(); number-- > 0;)
    if (captured[number].contraction)
      block.eraseArgument(sums + number);
  yielded = rest;
  llvm::append_range(next, rest);
  end->setOperands(next);
  return success();
}

void ScanGradient::finish() {
  auto next = results.begin();
  for (unsigned index : carried)
    backward.add(op.getCarried()[index], backward.tensor(*next++));
  for (const CapturedPart &each : captured)
    if (!each.contraction)
      backward.add(each.value, backward.tensor(*next++));
  for (unsigned index : scanned)
    backward.add(op.getScanned()[index], reversed(backward.tensor(*next++)));
  for (const CapturedPart &each : captured)
    if (each.contraction) {
      Tensor lhs = backward.tensor(*next++), rhs = backward.tensor(*next++);
      backward.add(each.value, each.contractAll(lhs, rhs));
    }
}

LogicalResult ScanGradient::build() {
  collectInputs();
  if (failed(buildBody()))
    return failure();
  SmallVector<Type> types = llvm::map_to_vector(initial, [](Value value) { return value.getType(); });
  Expr steps = graph::getShape(op.getScanned().front())[0];
  for (Value value : yielded) {
    auto type = cast<graph::TensorType>(value.getType());
    Shape shape = {steps};
    llvm::append_range(shape, type.getShape());
    types.push_back(type.withShape(shape));
  }
  auto turned = graph::ScanOp::create(backward.builder, types, initial, sequences);
  turned.getBody().takeBody(unfinished.getBody());
  unfinished.erase();
  llvm::append_range(results, turned.getResults());
  finish();
  return success();
}

LogicalResult differentiateScan(graph::ScanOp op, Backward &backward) { return ScanGradient(op, backward).build(); }

} // namespace

void addScanRules(RuleTable &table) { table.add<graph::ScanOp, differentiateScan>(); }

} // namespace freestone::grad
