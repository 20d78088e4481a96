#include "compiler/tile/RowFactors.h"

#include "compiler/plan/BodyDependences.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/tile/RewriteLoops.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Whether a tensor has values of each row that are complete only behind all columns.
static bool isOfRow(const ConnectedForm &form, Value tensor) {
  auto producer = tensor.getDefiningOp<ComputeOp>();
  return llvm::is_contained(form.behind, producer) ||
         (llvm::is_contained(form.inside, producer) && producer.getNumReductions());
}

/// The operations of a body of which a value is made, in order, and the arguments that these read.
static std::pair<SmallVector<Operation *>, SmallVector<BlockArgument>> getSlice(Value value, Block &body) {
  llvm::SmallDenseSet<Value> needed = {value};
  SmallVector<Operation *> operations;
  for (Operation &op : llvm::reverse(body))
    if (llvm::any_of(op.getResults(), [&](Value result) { return needed.contains(result); })) {
      needed.insert_range(op.getOperands());
      operations.push_back(&op);
    }
  std::reverse(operations.begin(), operations.end());
  SmallVector<BlockArgument> arguments;
  for (BlockArgument argument : body.getArguments())
    if (needed.contains(argument))
      arguments.push_back(argument);
  return {operations, arguments};
}

/// Finds the condition under which the rows are 0, if the element is selected by one of values of each row alone.
bool RowFactors::findGuard(const ConnectedForm &form) {
  auto select = rows.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  if (!select)
    return false;
  bool hidesWhereMet = matchPattern(select.getTrueValue(), m_AnyZeroFloat());
  if (!hidesWhereMet && !matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
    return false;
  auto [operations, arguments] = getSlice(select.getCondition(), *rows.getBody());
  if (!llvm::all_of(operations, [](Operation *op) { return isa_and_nonnull<arith::ArithDialect>(op->getDialect()); }))
    return false;
  Guard found{select, hidesWhereMet, {}};
  for (BlockArgument argument : arguments) {
    unsigned input = argument.getArgNumber();
    if (!isOfRow(form, rows.getInputs()[input]) || rows.getFill(input))
      return false;
    found.inputs.push_back(input);
  }
  guard = std::move(found);
  return true;
}

bool RowFactors::findFactors(const ConnectedForm &form) {
  rows = form.sums.front().intermediate.getDefiningOp<ComputeOp>();
  if (rows.getNumReductions() || rows.getNumResults() != 1 || !rows.getReads().empty())
    return false;
  Value element = findGuard(form) ? guard->getElement() : rows.getBody()->getTerminator()->getOperand(0);
  SmallVector<BlockArgument> used = getSlice(element, *rows.getBody()).second;
  for (auto [input, tensor] : llvm::enumerate(rows.getInputs())) {
    if (!isOfRow(form, tensor) || !llvm::is_contained(used, rows.getInputArgs()[input]))
      continue;
    auto isFactor = [&](Dependence dependence) {
      BodyDependences body;
      body.set(rows.getInputArgs()[input], dependence);
      return body.isProportional(element);
    };
    bool divides = isFactor(Dependence::divisor);
    if (rows.getFill(input) || (!divides && !isFactor(Dependence::factor)))
      return false;
    factors.push_back({static_cast<unsigned>(input), divides});
  }
  return !factors.empty();
}

std::optional<RowFactors> RowFactors::find(const ConnectedForm &form) {
  RowFactors found;
  return found.findFactors(form) ? std::optional(std::move(found)) : std::nullopt;
}

/// Replaces products with 1, and quotients by 1, by the other operand.
static void dropOnes(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (!isa<arith::MulFOp, arith::DivFOp>(op))
      continue;
    auto isOne = [&](unsigned operand) { return matchPattern(op.getOperand(operand), m_OneFloat()); };
    if (isOne(1) || (isOne(0) && isa<arith::MulFOp>(op))) {
      op.getResult(0).replaceAllUsesWith(op.getOperand(isOne(1) ? 0 : 1));
      op.erase();
    }
  }
}

/// Lets a compute yield another value, and erases what is needed for none.
static void yieldInstead(Block &body, Value value) {
  body.getTerminator()->setOperand(0, value);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// The rows without their factors and their guard: a compute that is added, or the one of which all else is made.
Value RowFactors::makeUnscaled(Type elementType, SmallVector<ComputeOp> &added) {
  OpBuilder builder(rows);
  ComputeBuilder unscaled(builder, rows.getLoc(), rows.getExtents());
  SmallVector<Expr> loops = unscaled.parallelLoops();
  SmallVector<std::optional<unsigned>> inputs;
  for (auto [input, tensor] : llvm::enumerate(rows.getInputs())) {
    bool isFactor = llvm::any_of(factors, [&](const Factor &factor) { return factor.input == input; });
    bool isLeftOut = isFactor || (guard && llvm::is_contained(guard->inputs, input));
    inputs.push_back(isLeftOut
                         ? std::nullopt
                         : std::optional(unscaled.read(tensor, getIndices(rows, input, loops), rows.getFill(input))));
  }
  FailureOr<ComputeOp> made = unscaled.create(elementType, [&](ComputeBody &body) -> Value {
    SmallVector<Value> elements = llvm::map_to_vector(inputs, [&](std::optional<unsigned> input) -> Value {
      return input ? body.input(*input)
                   : arith::ConstantOp::create(body.builder, body.builder.getF32FloatAttr(1)).getResult();
    });
    return cloneBody(body, rows, elements, {}, {}, loops).front();
  });
  assert(succeeded(made) && "indices that were affine stay so");
  Block &body = *made->getBody();
  if (guard) {
    auto select = body.getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
    yieldInstead(body, guard->hidesWhereMet ? select.getFalseValue() : select.getTrueValue());
  }
  dropOnes(body);
  auto element = dyn_cast<BlockArgument>(body.getTerminator()->getOperand(0));
  if (element && isReadAtParallelLoops(*made, element.getArgNumber()) && !made->getFill(element.getArgNumber())) {
    Value tensor = made->getInputs()[element.getArgNumber()];
    made->erase();
    return tensor;
  }
  added.push_back(*made);
  return made->getResult(0);
}

/// The result, or 0 where the guard, computed of `inputs`, hides it.
Value RowFactors::hide(ImplicitLocOpBuilder &builder, ValueRange inputs, Value zero, Value result) {
  IRMapping mapping;
  for (auto [input, value] : llvm::zip_equal(guard->inputs, inputs))
    mapping.map(rows.getInputArgs()[input], value);
  for (Operation *op : getSlice(guard->select.getCondition(), *rows.getBody()).first)
    builder.clone(*op, mapping);
  Value condition = mapping.lookup(guard->select.getCondition());
  return guard->hidesWhereMet ? arith::SelectOp::create(builder, condition, zero, result)
                              : arith::SelectOp::create(builder, condition, result, zero);
}

SmallVector<ComputeOp> RowFactors::moveBehind(ConnectedForm &form) {
  SmallVector<ComputeOp> added;
  ContractionForm &sum = form.sums.front().form;
  ComputeOp contraction = sum.compute;
  Value unscaled = makeUnscaled(form.products.front().elementType, added);
  unsigned left = llvm::find(contraction.getInputs(), rows.getResult(0)) - contraction.getInputs().begin();
  OpBuilder builder(contraction->getContext());
  builder.setInsertionPointAfter(contraction);
  SmallVector<Expr> at = getIndices(contraction, left), extents = contraction.getExtents();
  ComputeBuilder scaling(builder, rows.getLoc(), ArrayRef(extents).take_front(contraction.getNumParallel()));
  unsigned total = scaling.read(contraction.getResult(0));
  auto read = [&](unsigned input) { return scaling.read(rows.getInputs()[input], getIndices(rows, input, at)); };
  SmallVector<unsigned> inputs = llvm::map_to_vector(factors, [&](const Factor &factor) { return read(factor.input); });
  SmallVector<unsigned> ofGuard = guard ? llvm::map_to_vector(guard->inputs, read) : SmallVector<unsigned>();
  Expr depth = sum.getExtent(sum.k);
  FailureOr<ComputeOp> behind = scaling.create(sum.elementType, [&](ComputeBody &body) -> Value {
    ImplicitLocOpBuilder &inner = body.builder;
    Value result = body.input(total);
    for (auto [factor, input] : llvm::zip_equal(factors, inputs))
      result = factor.divides ? arith::DivFOp::create(inner, result, body.input(input)).getResult()
                              : arith::MulFOp::create(inner, result, body.input(input)).getResult();
    Value zero = arith::ConstantOp::create(inner, inner.getZeroAttr(sum.elementType));
    if (guard)
      result =
          hide(inner, llvm::map_to_vector(ofGuard, [&](unsigned input) { return body.input(input); }), zero, result);
    if (depth.isConstant())
      return result;
    // The sum of nothing is 0, even where the factor is no number.
    Value none = arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, body.size(depth),
                                       arith::ConstantIndexOp::create(inner, 0));
    return arith::SelectOp::create(inner, none, zero, result);
  });
  assert(succeeded(behind) && "indices that were affine stay so");
  contraction.getResult(0).replaceAllUsesExcept(behind->getResult(0), *behind);
  contraction->setOperand(left, unscaled);
  added.push_back(*behind);
  return added;
}
