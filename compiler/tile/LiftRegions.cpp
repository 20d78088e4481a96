#include "compiler/tile/Passes.h"

#include "compiler/dialect/tile/ReversedLoops.h"
#include "compiler/expressions/Expressions.h"
#include "compiler/expressions/Reversed.h"
#include "compiler/tile/Aliases.h"
#include "compiler/tile/AppendCarried.h"
#include "compiler/tile/Counters.h"
#include "compiler/tile/RegionSizes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace freestone::tile {
#define GEN_PASS_DEF_LIFTREGIONS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using expressions::GraphBuilder;
using expressions::Tensor;
using sym::Expr;

namespace {

/// Lifts the regions of one function.
class Lifter {
public:
  Lifter(func::FuncOp function, SymbolTable &functions, bool appends, bool reverses, bool keepsStates)
      : function(function), functions(functions), appends(appends), reverses(reverses), keepsStates(keepsStates) {}

  /// Adds the bodies to `lifted`.
  LogicalResult run();
  SmallVector<func::FuncOp> lifted;
  int64_t appended = 0, reversed = 0, keptStates = 0;

private:
  LogicalResult lift(graph::IfOp op);
  LogicalResult lift(graph::ScanOp op);
  LogicalResult lift(graph::WhileOp op);
  bool isFree(Value value);
  bool staysInPlace(Value value);
  SmallVector<int64_t> takeReversed(graph::ScanOp op);
  DenseI64ArrayAttr leaveOutStates(graph::ScanOp op, ArrayRef<int64_t> collectedAs);
  void hoistInvariants(Operation *loop);
  Value makeAgain(OpBuilder &builder, Value value, IRMapping &mapping);
  SmallVector<Value> captureOnly(MutableArrayRef<Region> regions);
  FlatSymbolRefAttr makeBody(Region &region, ArrayRef<Value> captured);

  func::FuncOp function;
  SymbolTable &functions;
  bool appends, reverses, keepsStates;
  /// Of the operation that is lifted.
  DenseMap<Value, bool> knownFree;
};

LogicalResult requireTypes(Operation *op, TypeRange actual, TypeRange expected) {
  if (llvm::equal(actual, expected))
    return success();
  return op->emitError("the size of what it carries depends on data; pad to a known size");
}

/// Whether a value is made anew at no cost: of constants, sizes, and weights, whose work moves to @init.
bool Lifter::isFree(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<graph::ConstantOp, graph::WeightOp, graph::SizesOp>(op))
    return true;
  if (auto known = knownFree.find(value); known != knownFree.end())
    return known->second;
  bool isMade = op && op->getNumOperands() > 0 && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
                !isa<graph::SymbolBinderInterface>(op) &&
                llvm::all_of(op->getOperands(), [&](Value operand) { return isFree(operand); });
  return knownFree[value] = isMade;
}

/// What does not depend on the iteration is computed once, before the loop.
void Lifter::hoistInvariants(Operation *loop) {
  auto isOutside = [&](Value value, Region *region) { return !region->isAncestor(value.getParentRegion()); };
  llvm::SmallDenseSet<StringAttr> changing = getChangingSymbols(loop);
  auto shouldMove = [&](Operation *op, Region *) {
    return isMemoryEffectFree(op) && !usesSymbols(op, changing) &&
           !llvm::all_of(op->getResults(), [&](Value result) { return isFree(result); });
  };
  moveLoopInvariantCode(SmallVector<Region *>(llvm::make_pointer_range(loop->getRegions())), isOutside, shouldMove,
                        [&](Operation *op, Region *) { op->moveBefore(loop); });
}

/// Makes a free value within a region.
Value Lifter::makeAgain(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    makeAgain(builder, operand, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// Whether a value repeats another one for maps of elements alone, which read that one instead.
static bool isRepetition(Value value) {
  return value.getDefiningOp<graph::BroadcastOp>() && llvm::all_of(value.getUsers(), [](Operation *user) {
           return isa<graph::UnaryOp, graph::BinaryOp, graph::CompareOp, graph::SelectOp>(user);
         });
}

/// The values that regions take from outside. What is free is made within, and so are repetitions.
SmallVector<Value> Lifter::captureOnly(MutableArrayRef<Region> regions) {
  for (Region &region : regions) {
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(region, used);
    OpBuilder builder(&region.front(), region.front().begin());
    IRMapping mapping;
    for (Value value : used) {
      if (isFree(value)) {
        replaceAllUsesInRegionWith(value, makeAgain(builder, value, mapping), region);
      } else if (isRepetition(value)) {
        Operation *repetition = value.getDefiningOp();
        replaceAllUsesInRegionWith(value, builder.clone(*repetition)->getResult(0), region);
        if (repetition->use_empty())
          repetition->erase();
      }
    }
  }
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(regions, captured);
  return captured.takeVector();
}

/// Moves a region to a function, with further arguments for what it captures.
FlatSymbolRefAttr Lifter::makeBody(Region &region, ArrayRef<Value> captured) {
  for (Value value : captured)
    replaceAllUsesInRegionWith(value, region.addArgument(value.getType(), value.getLoc()), region);
  Operation *yield = region.front().getTerminator();
  OpBuilder builder(yield);
  auto type = builder.getFunctionType(region.getArgumentTypes(), yield->getOperandTypes());
  func::ReturnOp::create(builder, yield->getLoc(), yield->getOperands());
  yield->erase();
  auto body = func::FuncOp::create(region.getLoc(), (function.getSymName() + "_body").str(), type);
  body.setPrivate();
  if (Attribute symbols = function->getAttr("graph.symbols"))
    body->setAttr("graph.symbols", symbols);
  body.getBody().takeBody(region);
  functions.insert(body, std::next(function->getIterator()));
  lifted.push_back(body);
  return FlatSymbolRefAttr::get(body.getSymNameAttr());
}

/// The value of a symbol in the types of a result, as far as values of these types say.
static Expr findSize(StringAttr symbol, TypeRange results, ValueRange values) {
  for (auto [type, value] : llvm::zip(results, values))
    for (auto [size, actual] : llvm::zip_equal(cast<graph::TensorType>(type).getShape(), graph::getShape(value)))
      if (size.asSymbol() == symbol.getValue())
        return actual;
  return {};
}

/// Sizes that differ between both sides are further results, which bind their symbols.
LogicalResult Lifter::lift(graph::IfOp op) {
  SymbolLimits symbols = getBoundSymbols(op);
  for (Region &region : op->getRegions()) {
    Operation *yield = region.front().getTerminator();
    GraphBuilder end(op.getLoc(), yield);
    SmallVector<Value> yielded(yield->getOperands());
    for (auto [symbol, limit] : symbols)
      yielded.push_back(end.integer(findSize(symbol, op->getResultTypes(), yield->getOperands())).value());
    yield->setOperands(yielded);
  }
  SmallVector<Value> captured = captureOnly(op->getRegions());
  FlatSymbolRefAttr left = makeBody(op.getThenRegion(), captured), right = makeBody(op.getElseRegion(), captured);
  OpBuilder builder(op);
  SmallVector<Type> types(op->getResultTypes());
  types.append(symbols.size(), graph::TensorType::get({}, builder.getI64Type()));
  auto branch = BranchOp::create(builder, op.getLoc(), types, op.getCondition(), left, right, captured);
  for (auto [entry, size] : llvm::zip_equal(symbols, branch.getResults().take_back(symbols.size())))
    bindSymbol(builder, op.getLoc(), entry.first, size, entry.second);
  op->replaceAllUsesWith(branch.getResults().take_front(op->getNumResults()));
  op->erase();
  return success();
}

/// Lets a region yield once what is carried and collected: for each of the carried values, of which the first is
/// yielded at `first`, the number of the collected value that it is. Those lie beside the value before the loop, so
/// that all have one size.
static SmallVector<int64_t> yieldOnce(Operation *yield, unsigned first, ValueRange carried) {
  SmallVector<Value> values(yield->getOperands()), kept(ArrayRef(values).take_front(first));
  ArrayRef<Value> collected = ArrayRef(values).drop_front(first + carried.size());
  SmallVector<int64_t> collectedAs;
  for (auto [before, value] : llvm::zip_equal(carried, ArrayRef(values).slice(first, carried.size()))) {
    const Value *found = llvm::find(collected, value);
    bool isFree = found != collected.end() && before.getType() == value.getType() &&
                  !llvm::is_contained(collectedAs, found - collected.begin());
    collectedAs.push_back(isFree ? found - collected.begin() : -1);
    if (!isFree)
      kept.push_back(value);
  }
  llvm::append_range(kept, collected);
  yield->setOperands(kept);
  return collectedAs;
}

/// Tells the body of a loop which of its results replaces which argument; not those that are collected, since these lie
/// beside each other.
static void markCarried(func::FuncOp body, LoopOp loop) {
  for (unsigned index = 0; index < loop.getCarried().size(); ++index) {
    unsigned next = loop.getNextCarried(index);
    if (loop.getCollectedAs(index) || loop.getCollectedBeforeAs(index) ||
        body.getArgumentTypes()[index] != body.getResultTypes()[next])
      continue;
    auto number = IntegerAttr::get(IntegerType::get(loop.getContext(), 64), index);
    body.setArgAttr(index, carriedAttr, number);
    body.setResultAttr(next, carriedAttr, number);
  }
}

/// Whether a value lies where it is before the first phase of a run: not within a loop, whose values follow it, nor
/// where a loop or a branch has put it in the end.
bool Lifter::staysInPlace(Value value) {
  if (function.isPrivate())
    return false;
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getOperand();
  if (auto loop = value.getDefiningOp<LoopOp>())
    return loop.getTrips() && cast<OpResult>(value).getResultNumber() >= loop.getCarried().size();
  return !isa_and_nonnull<BranchOp>(value.getDefiningOp());
}

/// Lets a scan go along tensors from their last slice, where these are reversed for it. Returns their numbers.
SmallVector<int64_t> Lifter::takeReversed(graph::ScanOp op) {
  SmallVector<int64_t> numbers;
  for (OpOperand &scanned : op.getScannedMutable()) {
    Value whole = reverses ? expressions::getReversed(scanned.get()) : Value();
    if (!whole || !staysInPlace(whole))
      continue;
    Operation *slice = scanned.get().getDefiningOp();
    scanned.set(whole);
    if (slice->use_empty())
      slice->erase();
    numbers.push_back(scanned.getOperandNumber() - op.getCarried().size());
  }
  reversed += numbers.size();
  return numbers;
}

/// Lets the body of a scan no longer yield, as collected, carried values as it finds them: these lie beside the next
/// ones. Returns the number of the carried value for each of the collected ones, or -1.
DenseI64ArrayAttr Lifter::leaveOutStates(graph::ScanOp op, ArrayRef<int64_t> collectedAs) {
  Block &block = op.getBody().front();
  Operation *yield = block.getTerminator();
  SmallVector<Value> yielded(yield->getOperands());
  size_t first = yielded.size() - op.getNumCollected();
  SmallVector<Value> kept(ArrayRef(yielded).take_front(first));
  SmallVector<int64_t> numbers;
  for (auto [index, value] : llvm::enumerate(ArrayRef(yielded).drop_front(first))) {
    auto argument = dyn_cast<BlockArgument>(value);
    bool isState = keepsStates && argument && argument.getOwner() == &block &&
                   argument.getArgNumber() < op.getCarried().size() &&
                   !llvm::is_contained(numbers, argument.getArgNumber()) && !llvm::is_contained(collectedAs, index);
    numbers.push_back(isState ? int64_t(argument.getArgNumber()) : -1);
    if (!isState)
      kept.push_back(value);
  }
  if (kept.size() == yielded.size())
    return {};
  yield->setOperands(kept);
  keptStates += yielded.size() - kept.size();
  return DenseI64ArrayAttr::get(op.getContext(), numbers);
}

/// Lets a scan no longer go along tensors whose slices the body does not read, such as the numbers of iterations.
static void leaveOutUnread(graph::ScanOp op) {
  Block &block = op.getBody().front();
  for (size_t index = op.getScanned().size(); index-- > 0;) {
    size_t argument = op.getCarried().size() + index;
    if (!block.getArgument(argument).use_empty())
      continue;
    block.eraseArgument(argument);
    Operation *whole = op.getScanned()[index].getDefiningOp();
    op.getScannedMutable().erase(index);
    if (whole && !isa<LoopOp, BranchOp>(whole) && isOpTriviallyDead(whole))
      whole->erase();
  }
}

LogicalResult Lifter::lift(graph::ScanOp op) {
  size_t states = op.getCarried().size();
  Block &block = op.getBody().front();
  TypeRange passed = TypeRange(block.getArgumentTypes()).take_front(states);
  if (failed(requireTypes(op, op.getCarried().getTypes(), passed)) ||
      failed(requireTypes(op, TypeRange(block.getTerminator()->getOperandTypes()).take_front(states), passed)))
    return failure();
  hoistInvariants(op);
  SmallVector<int64_t> collectedAs = yieldOnce(block.getTerminator(), 0, op.getCarried());
  DenseI64ArrayAttr collectedBefore = leaveOutStates(op, collectedAs);
  SmallVector<Value> captured = captureOnly(op->getRegions());
  Expr trips = graph::getShape(op.getScanned().front())[0];
  leaveOutUnread(op);
  SmallVector<int64_t> turned = takeReversed(op);
  OpBuilder builder(op);
  auto loop = LoopOp::create(builder, op.getLoc(), op.getResultTypes(), makeBody(op.getBody(), captured), trips.attr(),
                             sym::ExprAttr(), Value(), op.getCarried(), op.getScanned(), captured,
                             builder.getDenseI64ArrayAttr(collectedAs), collectedBefore);
  if (!turned.empty())
    loop->setAttr(reversedAttr, builder.getDenseI64ArrayAttr(turned));
  markCarried(lifted.back(), loop);
  op->replaceAllUsesWith(loop);
  op->erase();
  return success();
}

/// The constant that an integer or bool scalar is.
std::optional<int64_t> getConstant(Value scalar) {
  DenseIntElementsAttr value;
  if (!matchPattern(scalar, m_Constant(&value)))
    return std::nullopt;
  APInt number = value.getSplatValue<APInt>();
  return number.getBitWidth() == 1 ? number.getZExtValue() : number.getSExtValue();
}

bool isTrue(Value scalar) { return !scalar || getConstant(scalar) == 1; }

/// Lets a loop carry sizes of what it carries: each iteration binds their symbols. `carried` and `next` are what the
/// loop and the end of its body have.
static void carrySizes(graph::WhileOp op, ArrayRef<CarriedSize> sizes, SmallVectorImpl<Value> &carried,
                       SmallVectorImpl<Value> &next) {
  Block &block = op.getBody().front();
  GraphBuilder outside(op.getLoc(), op), inside(op.getLoc(), block.getTerminator());
  OpBuilder begin(&block, block.begin());
  for (auto [index, size] : llvm::enumerate(sizes)) {
    Value first = outside.integer(size.first).value();
    carried.insert(carried.begin() + index, first);
    next.insert(next.begin() + 1 + index, inside.integer(size.next).value());
    Value argument = block.insertArgument(1 + index, first.getType(), op.getLoc());
    bindSymbol(begin, op.getLoc(), size.within, argument, size.limit);
  }
}

/// Loops count their iterations only where the body asks for the number, sizes follow it, the limit is no size, or as
/// many values are collected: as many of those that fit the limit are what they give.
LogicalResult Lifter::lift(graph::WhileOp op) {
  if (appends)
    appended += appendCarried(op);
  Block &block = op.getBody().front();
  Operation *yield = block.getTerminator();
  size_t states = op.getCarried().size();
  std::optional<sym::ExprAttr> trip = op.getTrip();
  hoistInvariants(op);
  Value limit = op.getMaxTrip();
  std::optional<Expr> trips = op.getLimit();
  bool isLimited = limit && !trips, isOpen = !isTrue(op.getCondition()) || !isTrue(yield->getOperand(0)) || isLimited;
  bool countsCollected = llvm::any_of(op.getResults().drop_front(states), [&](Value collected) {
    return !trips || graph::getShape(collected)[0] != *trips;
  });
  if (!isOpen && !trips)
    return op.emitError("it never ends; give it a number of iterations, or a condition that becomes false");
  if (countsCollected && !trips && !trip)
    return op.emitOpError("collects values without a limit, and needs a symbol for the number of the iteration");
  GraphBuilder outside(op.getLoc(), op), inside(op.getLoc(), yield);
  SmallVector<Value> carried(op.getCarried()), next(yield->getOperands());
  SmallVector<CarriedSize> sizes = getCarriedSizes(op);
  carrySizes(op, sizes, carried, next);
  BlockArgument number = block.getArgument(0);
  bool counts = isLimited || countsCollected || trip || !number.use_empty();
  if (counts) {
    Type i64 = outside.getI64Type();
    Value zero = outside.integer(0).value();
    Tensor later = Tensor(inside, number) + inside.scalar(1, i64);
    if (isLimited) {
      Tensor most = Tensor(outside, limit), isBelow = Tensor(outside, zero) < most;
      Tensor first = op.getCondition() ? Tensor(outside, op.getCondition()) & isBelow : isBelow;
      op.getConditionMutable().assign(first.value());
      next[0] = (Tensor(inside, next[0]) & (later < Tensor(inside, limit))).value();
    }
    carried.insert(carried.begin(), zero);
    next.insert(next.begin() + 1, later.value());
  } else {
    block.eraseArgument(0);
  }
  if (trip) {
    OpBuilder begin(&block, block.begin());
    bindSymbol(begin, op.getLoc(), StringAttr::get(op.getContext(), *trip->getExpr().asSymbol()), number,
               trips.value_or(Expr()));
  }
  if (isOpen && !op.getCondition())
    op.getConditionMutable().assign(outside.scalar(1, outside.getI1Type()).value());
  if (!isOpen)
    next.erase(next.begin());
  std::optional<Expr> knownTrips = getKnownTrips(op);
  yield->setOperands(next);
  SmallVector<int64_t> collectedAs = yieldOnce(yield, isOpen ? 1 : 0, carried);

  size_t added = carried.size() - states;
  SmallVector<Type> types(ValueRange(carried).take_front(added).getTypes());
  llvm::append_range(types, op.getResults().take_front(states).getTypes());
  for (Value collected : op.getResults().drop_front(states)) {
    auto type = cast<graph::TensorType>(collected.getType());
    SmallVector<Expr> shape(type.getShape());
    if (countsCollected && trips)
      shape[0] = *trips;
    types.push_back(type.withShape(shape));
  }
  SmallVector<Value> captured = captureOnly(op->getRegions());
  OpBuilder builder(op);
  // A slice more than the iteration makes, so that no phase needs to come behind the one that binds its number.
  sym::ExprAttr slices = countsCollected && !trips ? (trip->getExpr() + 2).attr() : sym::ExprAttr();
  auto loop = LoopOp::create(builder, op.getLoc(), types, makeBody(op.getBody(), captured),
                             trips ? trips->attr() : sym::ExprAttr(), slices, isOpen ? op.getCondition() : Value(),
                             carried, ValueRange(), captured, builder.getDenseI64ArrayAttr(collectedAs),
                             DenseI64ArrayAttr());
  markCarried(lifted.back(), loop);
  for (auto [index, size] : llvm::enumerate(sizes))
    if (size.behind)
      bindSymbol(builder, op.getLoc(), size.behind, loop.getResult(counts + index), size.limit);
  SmallVector<Value> results(loop.getResults().drop_front(added));
  if (trip && !knownTrips) {
    Expr made = op.getTrips()->getExpr();
    bindSymbol(builder, op.getLoc(), builder.getStringAttr(*made.asSymbol()), loop.getResult(0),
               trips.value_or(Expr()));
    for (Value &whole : MutableArrayRef(results).drop_front(countsCollected && trips ? states : results.size()))
      whole = slice(Tensor(outside, whole), 0, outside.size(0), made).value();
  } else if (countsCollected) {
    Tensor isCollected = iota(outside, {*trips}, 0, outside.getI64Type()) < Tensor(outside, loop.getResult(0));
    for (auto [result, whole] : llvm::drop_begin(llvm::zip_equal(op.getResults(), results), states))
      whole = graph::CompressOp::create(outside, whole, isCollected.value(), /*axis=*/0, graph::getShape(result)[0]);
  }
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

/// What is hoisted out of a loop may be a loop itself, which then stands before it.
LogicalResult Lifter::run() {
  Block &block = function.getBody().front();
  auto hasRegions = [](Operation &op) { return isa<graph::IfOp, graph::ScanOp, graph::WhileOp>(op); };
  for (auto found = llvm::find_if(block, hasRegions); found != block.end(); found = llvm::find_if(block, hasRegions)) {
    knownFree.clear();
    if (failed(TypeSwitch<Operation *, LogicalResult>(&*found).Case<graph::IfOp, graph::ScanOp, graph::WhileOp>(
            [&](auto op) { return lift(op); })))
      return failure();
  }
  return success();
}

class LiftRegions : public tile::impl::LiftRegionsBase<LiftRegions> {
public:
  using LiftRegionsBase::LiftRegionsBase;

  void runOnOperation() override {
    SymbolTable functions(getOperation());
    SmallVector<func::FuncOp> waiting(getOperation().getOps<func::FuncOp>());
    while (!waiting.empty()) {
      func::FuncOp function = waiting.pop_back_val();
      if (function.isExternal())
        continue;
      Lifter lifter(function, functions, append, reverse, keepStates);
      if (failed(lifter.run()))
        return signalPassFailure();
      count(getOperation(), "bodies", lifter.lifted.size());
      count(getOperation(), "appended", lifter.appended);
      count(getOperation(), "reversed", lifter.reversed);
      count(getOperation(), "kept_states", lifter.keptStates);
      llvm::append_range(waiting, lifter.lifted);
    }
  }
};

} // namespace
