#include "compiler/interpreter/Interpreter.h"
#include "compiler/dialect/tile/ReversedLoops.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/expressions/Composites.h"
#include "compiler/interpreter/Evaluate.h"
#include "compiler/interpreter/TensorMemory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace freestone::graph;

namespace freestone::interpreter {

namespace {

/// The module's functions, copied and with composites decomposed.
class Functions {
public:
  func::FuncOp prepare(func::FuncOp function) {
    OwningOpRef<func::FuncOp> &copy = copies[function];
    if (!copy) {
      copy = cast<func::FuncOp>(function->clone());
      expressions::decomposeComposites(*copy);
    }
    return *copy;
  }

private:
  DenseMap<Operation *, OwningOpRef<func::FuncOp>> copies;
};

/// One running call of a function.
class Activation {
public:
  Activation(Functions &functions, func::FuncOp original, const WeightStore &weights, LibraryCaller libraries)
      : functions(functions), original(original), function(functions.prepare(original)), weights(weights),
        libraries(libraries) {}

  FailureOr<Tensors> run(ArrayRef<Tensor> inputs);

private:
  LogicalResult bindInputs(ArrayRef<Tensor> inputs);
  /// Requires that the symbols' values are within the function's bounds.
  LogicalResult requireBounds();
  void define();
  /// Runs a block; returns the operands of its terminator.
  FailureOr<Tensors> run(Block &block, ArrayRef<Tensor> arguments);
  /// Runs a region with its own scope of symbols.
  FailureOr<Tensors> runRegion(Region &region, ArrayRef<Tensor> arguments);
  FailureOr<Tensors> evaluate(Operation *op, ArrayRef<Tensor> operands);
  FailureOr<Tensors> evaluate(IfOp op, const Tensor &condition);
  FailureOr<Tensors> evaluate(WhileOp op);
  FailureOr<Tensors> evaluate(ScanOp op);
  FailureOr<Tensors> evaluate(CallOp op, ArrayRef<Tensor> operands);
  FailureOr<Tensors> evaluate(MatchShapeOp op, const Tensor &x);
  FailureOr<Tensors> evaluate(AssertSizesOp op);
  FailureOr<Tensors> evaluate(tile::CallOp op, ArrayRef<Tensor> operands);
  FailureOr<Tensors> evaluate(tile::LibraryOp op, ArrayRef<Tensor> operands);
  FailureOr<Tensors> evaluate(tile::LoopOp op);
  FailureOr<Tensors> evaluate(tile::BranchOp op);
  /// Runs a body, which uses the symbols of this function.
  FailureOr<Tensors> runBody(Operation *op, FlatSymbolRefAttr name, ArrayRef<Tensor> arguments);
  /// Stacks values along a new first dimension.
  FailureOr<Tensor> stack(Operation *op, unsigned result, ArrayRef<Tensor> values);
  Tensors lookup(ValueRange operands) {
    return llvm::to_vector_of<Tensor, 1>(llvm::map_range(operands, [&](Value value) { return values.at(value); }));
  }
  /// Values of a block whose last use is an operation; their memory is released after it.
  ArrayRef<Value> getDeadAfter(Operation *op);

  Functions &functions;
  func::FuncOp original, function;
  const WeightStore &weights;
  LibraryCaller libraries;
  Symbols symbols;
  DenseMap<Value, Tensor> values;
  DenseMap<Block *, DenseMap<Operation *, SmallVector<Value>>> deadAfter;
};

} // namespace

ArrayRef<Value> Activation::getDeadAfter(Operation *op) {
  Block *block = op->getBlock();
  auto [entry, isNew] = deadAfter.try_emplace(block);
  if (isNew) {
    auto add = [&](Value value) {
      Operation *last = nullptr;
      for (Operation *user : value.getUsers())
        if (Operation *inBlock = block->findAncestorOpInBlock(*user); !last || last->isBeforeInBlock(inBlock))
          last = inBlock;
      if (Operation *end = last ? last : value.getDefiningOp())
        entry->second[end].push_back(value);
    };
    llvm::for_each(block->getArguments(), add);
    for (Operation &inner : *block)
      llvm::for_each(inner.getResults(), add);
  }
  return entry->second[op];
}

LogicalResult Activation::bindInputs(ArrayRef<Tensor> inputs) {
  if (inputs.size() != function.getNumArguments())
    return original.emitError("takes ") << function.getNumArguments() << " inputs, not " << inputs.size();
  if (auto sources = function->getAttrOfType<DictionaryAttr>("graph.value_symbols"))
    for (NamedAttribute source : sources) {
      ArrayRef<int64_t> place = cast<DenseI64ArrayAttr>(source.getValue()).asArrayRef();
      const Tensor &input = inputs[place[0]];
      if (place[1] >= input.size())
        return original.emitError("input ")
               << place[0] << " has no element " << place[1] << ", which is the size " << source.getName();
      std::optional<int64_t> value =
          input.isReal() ? graph::toFloatSymbol(input.data<double>()[place[1]]) : input.data<int64_t>()[place[1]];
      if (!value)
        return original.emitError("element ") << place[1] << " of input " << place[0] << " is no size, as 2^-32 and 2^30 bound them";
      symbols.bind(source.getName(), *value);
    }
  auto typeOf = [&](unsigned index) { return dyn_cast<graph::TensorType>(function.getArgumentTypes()[index]); };
  for (auto [index, input] : llvm::enumerate(inputs))
    if (auto type = typeOf(index); type && type.getRank() == input.getRank())
      symbols.bindSizes(type.getShape(), input.getDims());
  define();
  for (auto [index, input] : llvm::enumerate(inputs)) {
    if (!typeOf(index))
      return original.emitError("argument ") << index << " is no graph tensor";
    auto name = function.getArgAttrOfType<StringAttr>(index, "graph.name");
    std::string what = name ? "input '" + name.str() + "'" : "input " + std::to_string(index);
    if (failed(symbols.require(original, what, typeOf(index), input)))
      return failure();
  }
  return success();
}

/// Binds the defined symbols of which all sizes are known.
void Activation::define() {
  if (auto definitions = function->getAttrOfType<ArrayAttr>("graph.definitions"))
    for (auto definition : definitions.getAsRange<ArrayAttr>())
      if (auto name = cast<StringAttr>(definition[0]); !symbols.find(name))
        if (std::optional<int64_t> value = symbols.evaluate(cast<sym::ExprAttr>(definition[1]).getExpr()))
          symbols.bind(name, *value);
}

LogicalResult Activation::requireBounds() {
  auto known = function->getAttrOfType<DictionaryAttr>("graph.symbols");
  if (!known)
    return success();
  for (NamedAttribute symbol : known) {
    sym::SymbolBounds bounds = cast<sym::SymbolBoundsAttr>(symbol.getValue()).getBounds();
    std::optional<int64_t> value = symbols.find(symbol.getName());
    if (value && (!bounds.range.contains(*value) || *value % bounds.multipleOf != 0))
      return original.emitError("the size ")
             << symbol.getName() << " is " << *value << ", outside of " << symbol.getValue();
  }
  return success();
}

FailureOr<Tensors> Activation::run(ArrayRef<Tensor> inputs) {
  if (function.isExternal())
    return original.emitError("has no body to interpret");
  if (failed(bindInputs(inputs)) || failed(requireBounds()))
    return failure();
  return run(function.getBody().front(), inputs);
}

FailureOr<Tensors> Activation::run(Block &block, ArrayRef<Tensor> arguments) {
  for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments)) {
    symbols.bindSizes(getShape(argument), tensor.getDims());
    if (failed(symbols.require(block.getParentOp(), "a value of a region", cast<graph::TensorType>(argument.getType()),
                               tensor)))
      return failure();
    values[argument] = tensor;
  }
  for (Operation &op : block.without_terminator()) {
    FailureOr<Tensors> results = evaluate(&op, lookup(op.getOperands()));
    if (failed(results))
      return failure();
    for (auto [result, tensor] : llvm::zip_equal(op.getResults(), *results)) {
      auto type = cast<graph::TensorType>(result.getType());
      symbols.bindSizes(type.getShape(), tensor.getDims());
      if (isa<SymbolBinderInterface>(op) || op.getNumRegions() > 0)
        define();
      if (failed(symbols.require(&op, "the result", type, tensor)))
        return failure();
      values[result] = std::move(tensor);
    }
    for (Value dead : getDeadAfter(&op))
      values.erase(dead);
  }
  return lookup(block.getTerminator()->getOperands());
}

FailureOr<Tensors> Activation::runRegion(Region &region, ArrayRef<Tensor> arguments) {
  symbols.push();
  FailureOr<Tensors> results = run(region.front(), arguments);
  symbols.pop();
  return results;
}

FailureOr<Tensors> Activation::evaluate(Operation *op, ArrayRef<Tensor> operands) {
  if (auto branch = dyn_cast<IfOp>(op))
    return evaluate(branch, operands[0]);
  if (auto loop = dyn_cast<WhileOp>(op))
    return evaluate(loop);
  if (auto scan = dyn_cast<ScanOp>(op))
    return evaluate(scan);
  if (auto call = dyn_cast<CallOp>(op))
    return evaluate(call, operands);
  if (auto match = dyn_cast<MatchShapeOp>(op))
    return evaluate(match, operands[0]);
  if (auto assertion = dyn_cast<AssertSizesOp>(op))
    return evaluate(assertion);
  if (auto group = dyn_cast<tile::GroupOp>(op))
    return runRegion(group.getRegion(), {});
  if (auto call = dyn_cast<tile::CallOp>(op))
    return evaluate(call, operands);
  if (auto library = dyn_cast<tile::LibraryOp>(op))
    return evaluate(library, operands);
  if (auto loop = dyn_cast<tile::LoopOp>(op))
    return evaluate(loop);
  if (auto branch = dyn_cast<tile::BranchOp>(op))
    return evaluate(branch);
  Context context{operands, symbols, weights};
  for (auto family : {evaluateElementwise, evaluateShape, evaluateSources, evaluateContraction, evaluateReduction,
                      evaluateIndexing, evaluateWindow, evaluateOrdering, evaluateTile})
    if (std::optional<FailureOr<Tensors>> results = family(op, context))
      return *results;
  return op->emitError("is no operator of the graph or tile level that the interpreter runs");
}

FailureOr<Tensors> Activation::evaluate(MatchShapeOp op, const Tensor &x) {
  std::string what = op.getLabel() ? "the value '" + op.getLabel()->str() + "'" : std::string("the value");
  symbols.bindSizes(op.getType().getShape(), x.getDims());
  if (failed(symbols.require(op, what, op.getType(), x)))
    return failure();
  return Tensors{x};
}

FailureOr<Tensors> Activation::evaluate(AssertSizesOp op) {
  FailureOr<int64_t> actual = symbols.getOffset(op, op.getActual().getExpr()),
                     expected = symbols.getOffset(op, op.getExpected().getExpr());
  if (failed(actual) || failed(expected))
    return failure();
  if (*actual != *expected)
    return op.emitError(op.getText()) << ": the size " << op.getActual().getExpr().str() << " is " << *actual
                                      << ", but must be " << *expected;
  return Tensors();
}

FailureOr<Tensors> Activation::evaluate(IfOp op, const Tensor &condition) {
  return runRegion(*condition.data<int64_t>() ? op.getThenRegion() : op.getElseRegion(), {});
}

FailureOr<Tensor> Activation::stack(Operation *op, unsigned result, ArrayRef<Tensor> parts) {
  auto type = cast<graph::TensorType>(op->getResult(result).getType());
  Dims dims = {static_cast<int64_t>(parts.size())};
  // Without iterations, no collected value gives a data-dependent size.
  for (auto [dim, size] : llvm::enumerate(type.getShape().drop_front()))
    dims.push_back(parts.empty() ? symbols.evaluate(size).value_or(0) : parts.front().getDim(dim));
  Tensor stacked(type.getElementType(), dims);
  int64_t offset = 0;
  for (const Tensor &part : parts) {
    if (part.getDims() != parts.front().getDims())
      return op->emitError("collects values of different sizes");
    stacked.visit([&](auto kind) {
      using T = decltype(kind);
      std::copy_n(part.data<T>(), part.size(), stacked.data<T>() + offset);
    });
    offset += part.size();
  }
  return stacked;
}

FailureOr<Tensors> Activation::evaluate(WhileOp op) {
  int64_t limit = op.getMaxTrip() ? *values.at(op.getMaxTrip()).data<int64_t>() : std::numeric_limits<int64_t>::max();
  bool goOn = !op.getCondition() || *values.at(op.getCondition()).data<int64_t>();
  Tensors carried = lookup(op.getCarried());
  SmallVector<Tensors> collected(op.getNumCollected());
  Type i64 = getElementType(op.getBody().getArgument(0));
  auto bind = [&](std::optional<sym::ExprAttr> number, int64_t trip) {
    if (std::optional<StringRef> symbol = number ? number->getExpr().asSymbol() : std::nullopt)
      symbols.bind(*symbol, trip);
  };
  int64_t trip = 0;
  for (; goOn && trip < limit; ++trip) {
    Tensors arguments = {Tensor::scalar(i64, trip)};
    llvm::append_range(arguments, carried);
    symbols.push();
    bind(op.getTrip(), trip);
    FailureOr<Tensors> next = runRegion(op.getBody(), arguments);
    symbols.pop();
    if (failed(next))
      return failure();
    goOn = *next->front().data<int64_t>();
    llvm::copy(ArrayRef(*next).slice(1, carried.size()), carried.begin());
    for (auto [list, value] : llvm::zip_equal(collected, ArrayRef(*next).drop_front(1 + carried.size())))
      list.push_back(value);
  }
  bind(op.getTrips(), trip);
  for (ArrayRef<Tensor> list : collected) {
    FailureOr<Tensor> stacked = stack(op, carried.size(), list);
    if (failed(stacked))
      return failure();
    carried.push_back(*stacked);
  }
  return carried;
}

/// Slice `step` along the first dimension.
static Tensor getSlice(const Tensor &whole, int64_t step) {
  Tensor slice(whole.getElementType(), whole.getDims().drop_front());
  slice.visit([&](auto kind) {
    using T = decltype(kind);
    std::copy_n(whole.data<T>() + step * slice.size(), slice.size(), slice.data<T>());
  });
  return slice;
}

FailureOr<Tensors> Activation::evaluate(ScanOp op) {
  Tensors carried = lookup(op.getCarried()), scanned = lookup(op.getScanned());
  size_t states = carried.size();
  SmallVector<Tensors> collected(op.getNumCollected());
  for (int64_t step = 0, count = scanned.front().getDim(0); step < count; ++step) {
    Tensors arguments = carried;
    for (const Tensor &whole : scanned)
      arguments.push_back(getSlice(whole, step));
    FailureOr<Tensors> next = runRegion(op.getBody(), arguments);
    if (failed(next))
      return failure();
    llvm::copy(ArrayRef(*next).take_front(states), carried.begin());
    for (auto [list, value] : llvm::zip_equal(collected, ArrayRef(*next).drop_front(states)))
      list.push_back(value);
  }
  for (ArrayRef<Tensor> list : collected) {
    FailureOr<Tensor> stacked = stack(op, carried.size(), list);
    if (failed(stacked))
      return failure();
    carried.push_back(*stacked);
  }
  return carried;
}

FailureOr<Tensors> Activation::evaluate(CallOp op, ArrayRef<Tensor> operands) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(original, op.getCalleeAttr());
  if (!callee)
    return op.emitError("calls @") << op.getCallee() << ", which is no function of the graph level";
  return Activation(functions, callee, weights, libraries).run(operands);
}

FailureOr<Tensors> Activation::evaluate(tile::CallOp op, ArrayRef<Tensor> operands) {
  auto program = SymbolTable::lookupNearestSymbolFrom<tile::ProgramOp>(original, op.getCalleeAttr());
  if (!program)
    return op.emitError("calls @") << op.getCallee() << ", which is no tile.program";
  SmallVector<int64_t> sizes;
  for (sym::Expr size : op.getSizes()) {
    FailureOr<int64_t> value = symbols.getOffset(op, size);
    if (failed(value))
      return failure();
    sizes.push_back(*value);
  }
  symbols.push();
  for (auto [symbol, value] : llvm::zip_equal(program.getSymbols(), sizes))
    symbols.bind(symbol, value);
  FailureOr<Tensors> results = run(*program.getBody(), operands);
  symbols.pop();
  return results;
}

FailureOr<Tensors> Activation::evaluate(tile::LibraryOp op, ArrayRef<Tensor> operands) {
  if (!libraries)
    return op.emitError("needs the library service '") << op.getName() << "', which is not there";
  std::vector<HostTensor> inputs, outputs;
  for (const Tensor &operand : operands)
    inputs.push_back(operand.toHost(operand.getElementType()));
  for (Type type : op.getResultTypes()) {
    FailureOr<Dims> dims = symbols.getDims(op, cast<graph::TensorType>(type).getShape());
    if (failed(dims))
      return failure();
    outputs.push_back(HostTensor::allocate(cast<graph::TensorType>(type).getElementType(), *dims));
  }
  if (failed(libraries(op.getName(), op.getVersion(), inputs, outputs)))
    return op.emitError("the library service '") << op.getName() << "' failed";
  Tensors results;
  for (const HostTensor &output : outputs)
    results.push_back(Tensor::fromHost(output));
  return results;
}

FailureOr<Tensors> Activation::runBody(Operation *op, FlatSymbolRefAttr name, ArrayRef<Tensor> arguments) {
  auto body = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(original, name);
  if (!body)
    return op->emitError("calls ") << name << ", which is no function";
  Activation activation(functions, body, weights, libraries);
  activation.symbols = symbols;
  return activation.run(arguments);
}

FailureOr<Tensors> Activation::evaluate(tile::LoopOp op) {
  int64_t trips = std::numeric_limits<int64_t>::max();
  if (std::optional<sym::ExprAttr> size = op.getTrips()) {
    FailureOr<int64_t> value = symbols.getOffset(op, size->getExpr());
    if (failed(value))
      return failure();
    trips = *value;
  }
  bool goesOn = !op.getCondition() || *values.at(op.getCondition()).data<int64_t>();
  Tensors carried = lookup(op.getCarried()), scanned = lookup(op.getScanned()), captured = lookup(op.getCaptured());
  SmallVector<Tensors> collected(op.getNumCollected());
  for (int64_t trip = 0; goesOn && trip < trips; ++trip) {
    Tensors arguments = carried;
    for (auto [number, whole] : llvm::enumerate(scanned))
      arguments.push_back(getSlice(whole, tile::isReversed(op, number) ? trips - 1 - trip : trip));
    llvm::append_range(arguments, captured);
    FailureOr<Tensors> results = runBody(op, op.getBodyAttr(), arguments);
    if (failed(results))
      return failure();
    if (op.getCondition())
      goesOn = *results->front().data<int64_t>();
    for (auto [index, list] : llvm::enumerate(collected)) {
      std::optional<unsigned> before = op.getCarriedBefore(index);
      list.push_back(before ? carried[*before] : (*results)[op.getCollectedResult(index)]);
    }
    for (auto [index, value] : llvm::enumerate(carried))
      value = (*results)[op.getNextCarried(index)];
  }
  for (Tensors &list : collected) {
    // Iterations that are left out leave their slices undefined.
    if (!list.empty())
      list.resize(trips, Tensor(list.front().getElementType(), list.front().getDims()));
    FailureOr<Tensor> stacked = stack(op, carried.size(), list);
    if (failed(stacked))
      return failure();
    carried.push_back(*stacked);
  }
  return carried;
}

FailureOr<Tensors> Activation::evaluate(tile::BranchOp op) {
  bool holds = *values.at(op.getCondition()).data<int64_t>();
  return runBody(op, holds ? op.getThenBodyAttr() : op.getElseBodyAttr(), lookup(op.getCaptured()));
}

FailureOr<std::vector<HostTensor>> interpret(func::FuncOp function, ArrayRef<HostTensor> inputs,
                                             const WeightStore &weights, bool wide, LibraryCaller libraries) {
  KeepTensorMemory keep;
  Tensors arguments;
  for (auto [index, input] : llvm::enumerate(inputs)) {
    if (input.bytes.size() != static_cast<size_t>(countBytes(input.elementType, input.getNumElements())))
      return function.emitError("input ") << index << " has " << input.bytes.size() << " bytes, not those of its sizes";
    arguments.push_back(Tensor::fromHost(input));
  }
  Functions functions;
  FailureOr<Tensors> results = Activation(functions, function, weights, libraries).run(arguments);
  if (failed(results))
    return failure();
  std::vector<HostTensor> outputs;
  for (const Tensor &result : *results)
    outputs.push_back(
        result.toHost(wide && result.isReal() ? Float64Type::get(function.getContext()) : result.getElementType()));
  return outputs;
}

} // namespace freestone::interpreter
