#include "compiler/tile/Cost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

int64_t getOperationCost(Operation &op) {
  if (isa<arith::ConstantOp, arith::IndexCastOp, IndexOp, SizeOp, YieldOp, CheckOp>(op))
    return 0;
  if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, math::SqrtOp>(
          op))
    return 10;
  if (isa<math::AbsFOp, math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp, math::FmaOp>(op))
    return 1;
  if (isa<math::MathDialect>(op.getDialect()))
    return 20;
  if (isa<RandomBitsOp>(op))
    return 60;
  if (isa<LookupOp>(op))
    return 6;
  return 1;
}

int64_t getBodyCost(ComputeOp op) {
  int64_t cost = 0;
  for (Operation &inner : *op.getBody())
    cost += getOperationCost(inner);
  return cost;
}

int64_t getChainCost(ArrayRef<ComputeOp> computes) {
  llvm::DenseMap<Value, int64_t> costs;
  int64_t longest = 0;
  for (ComputeOp compute : computes) {
    for (auto [input, argument] : llvm::zip_equal(compute.getInputs(), compute.getInputArgs()))
      costs[argument] = costs.lookup(input);
    for (Operation &op : *compute.getBody()) {
      int64_t before = 0;
      for (Value operand : op.getOperands())
        before = std::max(before, costs.lookup(operand));
      longest = std::max(longest, before + getOperationCost(op));
      for (Value result : op.getResults())
        costs[result] = before + getOperationCost(op);
    }
    OperandRange yielded = compute.getBody()->getTerminator()->getOperands();
    if (!compute.getNumReductions())
      for (auto [result, value] : llvm::zip_equal(compute.getResults(), yielded))
        costs[result] = costs.lookup(value);
  }
  return longest;
}

Expr getNumPoints(ArrayRef<Expr> extents, MLIRContext *context) {
  Expr points = Expr::constant(context, 1);
  for (Expr extent : extents)
    points = points * extent;
  return points;
}

bool widensStored(ComputeOp op) {
  auto isStored = [](Type type) { return graph::isStorageOnly(cast<graph::TensorType>(type).getElementType()); };
  auto isNarrow = [&](Value input) {
    auto view = input.getDefiningOp<ViewOp>();
    return isStored(input.getType()) || (view && isStored(view.getTensor().getType()));
  };
  return llvm::any_of(op.getInputs(), isNarrow) && llvm::none_of(op.getResultTypes(), isStored);
}

bool isWeightOnly(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (isa<graph::WeightOp, graph::ConstantOp>(op))
      return true;
    if (auto compute = dyn_cast<ComputeOp>(op))
      return isWeightOnly(compute);
    if (!isa<graph::ReshapeOp, PackOp>(op))
      return false;
    tensor = op->getOperand(0);
  }
  return false;
}

bool isWeightOnly(ComputeOp op) {
  if (!llvm::all_of(op.getExtents(), [](Expr extent) { return extent.isConstant(); }))
    return false;
  // What a model stores in few bits stays so, in the file and in memory: it is widened in every run.
  if (widensStored(op))
    return false;
  for (Operation &inner : *op.getBody())
    if (isa<CheckOp>(inner) || (isa<SizeOp>(inner) && !cast<SizeOp>(inner).getSize().getExpr().isConstant()))
      return false;
  return llvm::all_of(op.getOperands(), [](Value operand) { return isWeightOnly(operand); });
}

TypicalSizes::TypicalSizes(Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    function = op->getParentOfType<func::FuncOp>();
  auto symbols = function ? function->getAttrOfType<DictionaryAttr>("graph.symbols") : DictionaryAttr();
  if (!symbols)
    return;
  for (NamedAttribute symbol : symbols)
    if (auto known = dyn_cast<sym::SymbolBoundsAttr>(symbol.getValue())) {
      sym::Interval range = known.getBounds().range;
      int64_t least = std::max<int64_t>(range.lo, 0);
      if (!known.getHint() && least <= typicalSize && range.hi == sym::Interval::size().hi)
        continue;
      sizes[symbol.getName()] = known.getHint().value_or(std::clamp(typicalSize, least, std::max(range.hi, least)));
    }
}

std::optional<int64_t> TypicalSizes::evaluate(Expr size, int64_t unknown) const {
  return evaluate(size, [&](StringRef) { return unknown; });
}

std::optional<int64_t> TypicalSizes::evaluate(Expr size, llvm::function_ref<int64_t(StringRef)> unknown) const {
  return size.evaluate([&](StringRef symbol) -> std::optional<int64_t> {
    auto known = sizes.find(symbol);
    return known == sizes.end() ? unknown(symbol) : known->second;
  });
}

int64_t TypicalSizes::getBytes(graph::TensorType type) const {
  int64_t bytes = getStorageType(type.getElementType()).getIntOrFloatBitWidth() / 8;
  return evaluate(getStorageElements(type)).value_or(std::numeric_limits<int32_t>::max()) * bytes;
}

int64_t countTypicalCalls(func::FuncOp function) {
  if (!function.isPrivate())
    return 1;
  int64_t calls = 0;
  auto add = [&](Operation *caller, int64_t times) {
    calls += times * countTypicalCalls(caller->getParentOfType<func::FuncOp>());
  };
  function->getParentOp()->walk([&](Operation *op) {
    if (auto loop = dyn_cast<LoopOp>(op); loop && loop.getBody() == function.getSymName())
      add(loop, loop.getTrips() ? TypicalSizes(loop).evaluate(loop.getTrips()->getExpr()).value_or(1) : 1);
    if (auto branch = dyn_cast<BranchOp>(op))
      if (branch.getThenBody() == function.getSymName() || branch.getElseBody() == function.getSymName())
        add(branch, 1);
  });
  return calls;
}

} // namespace freestone::tile
