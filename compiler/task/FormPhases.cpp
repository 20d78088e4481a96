#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/task/EntrySymbols.h"
#include "compiler/task/Operations.h"
#include "compiler/task/Passes.h"
#include "compiler/task/ValueMemory.h"
#include "compiler/task/VerifyState.h"
#include "compiler/tile/HoistWeights.h"

#include "mlir/IR/Builders.h"

namespace freestone::task {
#define GEN_PASS_DEF_FORMPHASES
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// The user's name of an operation: the ONNX node's, where the location has one.
std::string nodeName(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    // A program fused from several nodes is named by the last, whose result it computes.
    for (Location part : llvm::reverse(fused.getLocations()))
      if (std::string name = nodeName(part); !name.empty())
        return name;
  }
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return nodeName(call.getCallee());
  return "";
}

/// Constants are named by value and type: a splat stands for tensors of many shapes.
using ConstantNames = DenseMap<std::pair<Attribute, Type>, StringAttr>;

/// Builds the task program of one function.
class PhaseFormer {
public:
  PhaseFormer(func::FuncOp function, SmallVectorImpl<Attribute> &sites, ConstantNames &constants)
      : function(function), builder(function.getContext()), sites(sites), constants(constants) {}

  LogicalResult form();
  int64_t phaseCount() const { return phases; }

private:
  LogicalResult formArguments();
  LogicalResult formOutputs();
  LogicalResult formBlock(Block &block);
  LogicalResult formOp(Operation &op);
  LogicalResult formLoop(tile::LoopOp loop);
  LogicalResult formBranch(tile::BranchOp branch);
  LogicalResult formCall(tile::CallOp call);
  LogicalResult formLibrary(tile::LibraryOp library);
  FailureOr<Block *> enterBody(FlatSymbolRefAttr name, ValueRange captured);
  void placeCarried(tile::LoopOp loop);
  void setToDeclarations();
  void setRuntimeSymbols();
  FailureOr<Value> bufferOf(Value value);
  BufferOp addBuffer(BufferKind kind, StringRef name, Type type, Location location);
  Value addView(Value source, Type type, int64_t loop, int64_t shift, int64_t rotate, Location location);
  Value addTail(Value source, Type type, Type slice, Location location);
  SmallVector<Attribute> accesses(ArrayAttr planned, llvm::function_ref<std::optional<sym::Expr>(StringRef)> sizes);

  /// The bounds of a program's plan, in the sizes of a call.
  struct Bound {
    sym::ExprAttr tiles, scratch, operations, padding;
    ArrayAttr reads, writes;
  };
  Bound bindPlan(tile::ProgramOp callee, llvm::function_ref<std::optional<sym::Expr>(StringRef)> sizes);

  func::FuncOp function;
  OpBuilder builder;
  SmallVectorImpl<Attribute> &sites;
  ConstantNames &constants;
  ProgramOp program;
  /// Cached, since many calls of a program have the same sizes.
  DenseMap<std::pair<Operation *, ArrayAttr>, Bound> plans;
  /// The memory of a loop: views of what an iteration reads and writes, one for each carried value, the condition first,
  /// and of what it collects.
  struct LoopMemory {
    int64_t number;
    SmallVector<Value> read, written, collected;
  };
  DenseMap<Operation *, LoopMemory> loops;
  DenseMap<Value, Value> buffers;
  DenseMap<StringAttr, Value> states;
  DenseMap<StringAttr, Value> counts;
  Operation *lastDeclared = nullptr;
  /// The loops and branches around what is formed.
  int64_t depth = 0;
  int64_t phases = 0;
};

LogicalResult PhaseFormer::form() {
  builder.setInsertionPoint(function);
  FailureOr<EntrySymbols> symbols = collectEntrySymbols(function);
  if (failed(symbols))
    return failure();
  program = ProgramOp::create(builder, function.getLoc(), function.getSymNameAttr(),
                              builder.getArrayAttr(symbols->bound), symbols->definitions, entryAssertions(function));
  Block *block = builder.createBlock(&program.getBody());
  builder.setInsertionPointToEnd(block);
  if (failed(formArguments()) || failed(formOutputs()))
    return failure();
  if (failed(formBlock(function.getBody().front())))
    return failure();
  setRuntimeSymbols();
  return success();
}

BufferOp PhaseFormer::addBuffer(BufferKind kind, StringRef name, Type type, Location location) {
  OpBuilder::InsertionGuard guard(builder);
  setToDeclarations();
  StringAttr nameAttr = name.empty() ? StringAttr() : builder.getStringAttr(name);
  auto buffer = BufferOp::create(builder, location, type, kind, nameAttr, IntegerAttr(), IntegerAttr(), ElementsAttr(),
                                 StringAttr());
  lastDeclared = buffer;
  return buffer;
}

/// Buffers and views are declared before the phases.
void PhaseFormer::setToDeclarations() {
  if (lastDeclared)
    builder.setInsertionPointAfter(lastDeclared);
  else
    builder.setInsertionPointToStart(&program.getBody().front());
}

static sym::ExprAttr getBytes(Type type) {
  auto tensor = cast<graph::TensorType>(type);
  unsigned bits = tile::getStorageType(tensor.getElementType()).getIntOrFloatBitWidth();
  return (tile::getStorageElements(tensor) * (bits / 8)).attr();
}

/// A slice of this type that follows a loop.
Value PhaseFormer::addView(Value source, Type type, int64_t loop, int64_t shift, int64_t rotate, Location location) {
  OpBuilder::InsertionGuard guard(builder);
  setToDeclarations();
  auto view = ViewOp::create(builder, location, type, source, builder.getI64IntegerAttr(loop), shift, rotate,
                             getBytes(type));
  lastDeclared = view;
  return view;
}

/// All slices but the first.
Value PhaseFormer::addTail(Value source, Type type, Type slice, Location location) {
  OpBuilder::InsertionGuard guard(builder);
  setToDeclarations();
  auto view = ViewOp::create(builder, location, type, source, IntegerAttr(), /*shift=*/1, /*rotate=*/0, getBytes(slice));
  lastDeclared = view;
  return view;
}

LogicalResult PhaseFormer::formArguments() {
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (auto state = function.getArgAttrOfType<StringAttr>(index, stateAttr)) {
      BufferOp buffer = addBuffer(BufferKind::state, state, argument.getType(), argument.getLoc());
      if (auto initial = function.getArgAttrOfType<StringAttr>(index, initialAttr))
        buffer.setInitialAttr(initial);
      if (Attribute panels = function.getArgAttr(index, panelsAttr))
        buffer->setAttr(panelsAttr, panels);
      buffers[argument] = states[state] = buffer;
      continue;
    }
    auto weight = function.getArgAttrOfType<StringAttr>(index, "graph.weight");
    auto input = function.getArgAttrOfType<StringAttr>(index, "graph.name");
    if (!weight && !input)
      return function.emitOpError("argument ") << index << " has no graph.name, graph.weight or graph.state";
    // Weights that are stored for `main` are inputs of `init`.
    bool stored = weight && function.getSymName() != tile::initName;
    buffers[argument] =
        stored ? addBuffer(BufferKind::weight, weight, argument.getType(), argument.getLoc())
               : addBuffer(BufferKind::input, weight ? weight : input, argument.getType(), argument.getLoc());
  }
  return success();
}

LogicalResult PhaseFormer::formOutputs() {
  for (OpOperand &result : function.getBody().front().getTerminator()->getOpOperands()) {
    unsigned index = result.getOperandNumber();
    Value memory = getMemory(result.get());
    if (auto state = function.getResultAttrOfType<StringAttr>(index, stateAttr)) {
      bool isUpdated = memory != tile::getAliased(result.get());
      if (isUpdated && buffers.contains(memory) && buffers.lookup(memory) == states.lookup(state))
        continue;
      if (!isComputed(memory) || buffers.contains(memory))
        return function.emitOpError("returns state '")
               << state.getValue() << "', which is not computed for it alone; run task-update-state";
      Value &buffer = states[state];
      if (!buffer)
        buffer = addBuffer(BufferKind::state, state, result.get().getType(), result.get().getLoc());
      buffers[memory] = buffer;
      continue;
    }
    auto name = function.getResultAttrOfType<StringAttr>(index, "graph.name");
    if (!name)
      name = function.getResultAttrOfType<StringAttr>(index, "graph.weight");
    StringRef text = name ? name.getValue() : StringRef("output");
    buffers[memory] = addBuffer(BufferKind::output, text, result.get().getType(), result.get().getLoc());
  }
  return success();
}

LogicalResult PhaseFormer::formBlock(Block &block) {
  // First values of loops are computed where their iterations read them.
  for (auto loop : block.getOps<tile::LoopOp>())
    placeCarried(loop);
  for (Operation &op : block.without_terminator())
    if (failed(formOp(op)))
      return failure();
  return success();
}

static Type stack(Type slice, sym::Expr count) {
  auto type = cast<graph::TensorType>(slice);
  SmallVector<sym::Expr> shape = {count};
  llvm::append_range(shape, type.getShape());
  return type.withShape(shape);
}

/// Carried values have two slices of memory in turns. Those that are collected have a slice of what is collected, whose
/// memory begins with the first value.
void PhaseFormer::placeCarried(tile::LoopOp loop) {
  Location location = loop.getLoc();
  LoopMemory memory{static_cast<int64_t>(loops.size()), {}, {}, {}};
  size_t states = loop.getCarried().size();
  memory.collected.resize(loop.getNumCollected());
  sym::Expr two = sym::Expr::constant(loop.getContext(), 2);
  auto placeInTurns = [&](Value first) {
    Value buffer = addBuffer(BufferKind::arena, "", stack(first.getType(), two), location);
    buffers[getMemory(first)] = buffer;
    memory.read.push_back(addView(buffer, first.getType(), memory.number, 0, 2, location));
    memory.written.push_back(addView(buffer, first.getType(), memory.number, 1, 2, location));
  };
  if (Value condition = loop.getCondition())
    placeInTurns(condition);
  for (auto [index, first] : llvm::enumerate(loop.getCarried())) {
    std::optional<unsigned> collected = loop.getCollectedAs(index);
    if (!collected) {
      placeInTurns(first);
    } else {
      Type type = first.getType();
      Value buffer = addBuffer(BufferKind::arena, "", stack(type, loop.getTrips()->getExpr() + 1), location);
      buffers[getMemory(first)] = buffer;
      memory.read.push_back(addView(buffer, type, memory.number, 0, 0, location));
      memory.written.push_back(addView(buffer, type, memory.number, 1, 0, location));
      memory.collected[*collected] = memory.written.back();
      Value all = loop.getResult(states + *collected);
      buffers[all] = addTail(buffer, all.getType(), type, location);
    }
    buffers[loop.getResult(index)] = memory.read.back();
  }
  loops[loop] = std::move(memory);
}

/// The block of a body, whose last arguments are the captured values and weights.
FailureOr<Block *> PhaseFormer::enterBody(FlatSymbolRefAttr name, ValueRange captured) {
  auto body = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(program, name);
  unsigned first = body.getNumArguments();
  while (first > 0 && body.getArgAttr(first - 1, "graph.weight"))
    --first;
  for (unsigned index = first; index < body.getNumArguments(); ++index)
    buffers[body.getArgument(index)] =
        addBuffer(BufferKind::weight, body.getArgAttrOfType<StringAttr>(index, "graph.weight"),
                  body.getArgumentTypes()[index], body.getLoc());
  for (auto [argument, value] : llvm::zip_equal(body.getArguments().slice(first - captured.size(), captured.size()), captured)) {
    FailureOr<Value> buffer = bufferOf(value);
    if (failed(buffer))
      return failure();
    buffers[argument] = *buffer;
  }
  return &body.getBody().front();
}

LogicalResult PhaseFormer::formLoop(tile::LoopOp loop) {
  Location location = loop.getLoc();
  LoopMemory memory = loops.lookup(loop);
  FailureOr<Block *> block = enterBody(loop.getBodyAttr(), loop.getCaptured());
  if (failed(block))
    return failure();
  bool isOpen = bool(loop.getCondition());
  size_t states = loop.getCarried().size();
  auto arguments = (*block)->getArguments();
  for (auto [argument, view] : llvm::zip(arguments, ArrayRef(memory.read).drop_front(isOpen)))
    buffers[argument] = view;
  for (auto [argument, scanned] : llvm::zip(arguments.drop_front(states), loop.getScanned())) {
    FailureOr<Value> buffer = bufferOf(scanned);
    if (failed(buffer))
      return failure();
    buffers[argument] = addView(*buffer, argument.getType(), memory.number, 0, 0, location);
  }
  ValueRange returned = (*block)->getTerminator()->getOperands();
  if (isOpen)
    buffers[getMemory(returned[0])] = memory.written.front();
  for (size_t index = 0; index < states; ++index)
    buffers[getMemory(returned[loop.getNextCarried(index)])] = memory.written[index + isOpen];
  for (auto [index, view] : llvm::enumerate(memory.collected)) {
    Value value = returned[loop.getCollectedResult(index)];
    if (!view) {
      FailureOr<Value> buffer = bufferOf(loop.getResult(states + index));
      view = addView(*buffer, value.getType(), memory.number, 0, 0, location);
      buffers[getMemory(value)] = view;
    }
  }
  std::string label = nodeName(location);
  auto formed = LoopOp::create(builder, location, memory.number, label.empty() ? "loop" : label, loop.getTripsAttr(),
                               isOpen ? memory.read.front() : Value());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&formed.getBody());
  ++depth;
  LogicalResult result = formBlock(**block);
  --depth;
  return result;
}

LogicalResult PhaseFormer::formBranch(tile::BranchOp branch) {
  FailureOr<Value> condition = bufferOf(branch.getCondition());
  if (failed(condition))
    return failure();
  SmallVector<Value> results;
  for (Value result : branch.getResults())
    results.push_back(*bufferOf(result));
  std::string label = nodeName(branch.getLoc());
  auto formed = BranchOp::create(builder, branch.getLoc(), label.empty() ? "branch" : label, *condition,
                                 builder.getDenseI64ArrayAttr({}));
  for (auto [name, region] : {std::pair(branch.getThenBodyAttr(), &formed.getThenBody()),
                              std::pair(branch.getElseBodyAttr(), &formed.getElseBody())}) {
    FailureOr<Block *> block = enterBody(name, branch.getCaptured());
    if (failed(block))
      return failure();
    for (auto [value, buffer] : llvm::zip_equal((*block)->getTerminator()->getOperands(), results))
      buffers[getMemory(value)] = buffer;
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(region);
    ++depth;
    LogicalResult result = formBlock(**block);
    --depth;
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult PhaseFormer::formOp(Operation &op) {
  if (tile::isAlias(&op) || isa<graph::ConstantOp, graph::WeightOp>(op))
    return success();
  if (auto loop = dyn_cast<tile::LoopOp>(op))
    return formLoop(loop);
  if (auto branch = dyn_cast<tile::BranchOp>(op))
    return formBranch(branch);
  if (auto call = dyn_cast<tile::CallOp>(op))
    return formCall(call);
  if (auto library = dyn_cast<tile::LibraryOp>(op))
    return formLibrary(library);
  return op.emitError("is not lowered to a program");
}

FailureOr<Value> PhaseFormer::bufferOf(Value value) {
  value = getMemory(value);
  if (Value known = buffers.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (auto weight = dyn_cast_or_null<graph::WeightOp>(op))
    return buffers[value] = addBuffer(BufferKind::weight, weight.getName(), value.getType(), value.getLoc());
  if (auto constant = dyn_cast_or_null<graph::ConstantOp>(op)) {
    if (!cast<graph::TensorType>(value.getType()).getNumElements().isConstant())
      return constant.emitError("is a buffer of a size that is no constant");
    StringAttr &name = constants[{constant.getValueAttr(), value.getType()}];
    if (!name)
      name = builder.getStringAttr("constant " + Twine(constants.size() - 1));
    BufferOp buffer = addBuffer(BufferKind::weight, name, value.getType(), value.getLoc());
    buffer.setValueAttr(cast<ElementsAttr>(constant.getValueAttr()));
    return buffers[value] = buffer;
  }
  return buffers[value] = addBuffer(BufferKind::arena, "", value.getType(), value.getLoc());
}

SmallVector<Attribute> PhaseFormer::accesses(ArrayAttr planned,
                                             llvm::function_ref<std::optional<sym::Expr>(StringRef)> sizes) {
  SmallVector<Attribute> result;
  for (Attribute access : planned) {
    auto elements = dyn_cast<sym::ExprAttr>(access);
    result.push_back(elements ? Attribute(elements.getExpr().substitute(sizes).attr()) : access);
  }
  return result;
}

PhaseFormer::Bound PhaseFormer::bindPlan(tile::ProgramOp callee,
                                         llvm::function_ref<std::optional<sym::Expr>(StringRef)> sizes) {
  Operations operations = countOperations(callee);
  tile::PlanAttr plan = callee.getPlanAttr();
  return {plan.getTiles().substitute(sizes).attr(),
          plan.getScratch().substitute(sizes).attr(),
          operations.executed.substitute(sizes).attr(),
          operations.padding.substitute(sizes).attr(),
          builder.getArrayAttr(accesses(plan.getReads(), sizes)),
          builder.getArrayAttr(accesses(plan.getWrites(), sizes))};
}

LogicalResult PhaseFormer::formCall(tile::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<tile::ProgramOp>(call, call.getCalleeAttr());
  if (!callee || !callee.getPlan())
    return call.emitError("calls @") << call.getCallee() << ", which is not a planned tile.program";
  llvm::StringMap<sym::Expr> values;
  for (auto [symbol, size] : llvm::zip_equal(callee.getSymbols(), call.getSizes()))
    values[symbol.getValue()] = size;
  auto sizes = [&](StringRef name) -> std::optional<sym::Expr> {
    auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };

  SmallVector<Value> inputs, results;
  for (Value input : call.getInputs()) {
    FailureOr<Value> buffer = bufferOf(input);
    if (failed(buffer))
      return failure();
    inputs.push_back(*buffer);
  }
  for (Value result : call.getResults())
    results.push_back(*bufferOf(result));

  std::string label = nodeName(call.getLoc());
  if (label.empty())
    label = call.getCallee().str();
  SmallVector<int64_t> siteNumbers;
  callee.walk([&](tile::CheckOp check) {
    sites.push_back(builder.getStringAttr("node '" + label + "': " + check.getMessage()));
    siteNumbers.push_back(sites.size());
  });

  StringAttr binds;
  if (auto symbol = call->getAttrOfType<StringAttr>("binds")) {
    if (depth > 0)
      return call.emitError("binds the size '")
             << symbol.getValue() << "' within a loop or branch, which can't be compiled; pad to a known size";
    binds = symbol;
    counts[symbol] = results.front();
  }
  OpBuilder::InsertionGuard guard(builder);
  auto phase = PhaseOp::create(builder, call.getLoc(), builder.getStringAttr(label), builder.getDenseI64ArrayAttr({}),
                               builder.getDenseI64ArrayAttr({}), binds);
  builder.createBlock(&phase.getBody());
  SmallVector<Attribute> sizeAttrs;
  for (sym::Expr size : call.getSizes())
    sizeAttrs.push_back(size.attr());
  ArrayAttr sizesAttr = builder.getArrayAttr(sizeAttrs);
  Bound &bound = plans[{callee, sizesAttr}];
  if (!bound.tiles)
    bound = bindPlan(callee, sizes);
  SpaceOp::create(builder, call.getLoc(), call.getCalleeAttr(), inputs, results, sizesAttr, bound.tiles, bound.scratch,
                  bound.reads, bound.writes, builder.getDenseI64ArrayAttr(siteNumbers), bound.operations, bound.padding,
                  IntegerAttr(), ArrayAttr());
  ++phases;
  return success();
}

/// One phase with one tile: the elements that the service accesses are unknown.
LogicalResult PhaseFormer::formLibrary(tile::LibraryOp library) {
  SmallVector<Value> inputs, results;
  SmallVector<Attribute> views;
  for (Value input : library.getInputs()) {
    FailureOr<Value> buffer = bufferOf(input);
    if (failed(buffer))
      return failure();
    inputs.push_back(*buffer);
  }
  for (Value result : library.getResults())
    results.push_back(*bufferOf(result));
  for (Type type : llvm::concat<const Type>(library.getInputs().getTypes(), library.getResultTypes()))
    views.push_back(TypeAttr::get(type));

  std::string label = nodeName(library.getLoc());
  if (label.empty())
    label = library.getName().str();
  OpBuilder::InsertionGuard guard(builder);
  DenseI64ArrayAttr none = builder.getDenseI64ArrayAttr({});
  auto phase = PhaseOp::create(builder, library.getLoc(), builder.getStringAttr(label), none, none, StringAttr());
  builder.createBlock(&phase.getBody());
  sym::Expr zero = sym::Expr::constant(builder.getContext(), 0);
  auto unknown = [&](size_t count) {
    return builder.getArrayAttr(SmallVector<Attribute>(count, builder.getUnitAttr()));
  };
  SpaceOp::create(builder, library.getLoc(), FlatSymbolRefAttr::get(library.getNameAttr()), inputs, results,
                  builder.getArrayAttr({}), (zero + 1).attr(), zero.attr(), unknown(inputs.size()),
                  unknown(results.size()), none, zero.attr(), zero.attr(), library.getVersionAttr(),
                  builder.getArrayAttr(views));
  ++phases;
  return success();
}

/// Lets symbols bound by phases refer to the buffers of their values, now that all buffers exist.
void PhaseFormer::setRuntimeSymbols() {
  if (counts.empty())
    return;
  DenseMap<Value, int64_t> numbers;
  for (auto [number, buffer] : llvm::enumerate(program.getBuffers()))
    numbers[buffer.getBuffer()] = number;
  SmallVector<Attribute> symbols;
  for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>()) {
    Value count = counts.lookup(builder.getStringAttr(symbol.getName()));
    symbols.push_back(!count ? symbol
                             : SymbolAttr::get(builder.getContext(), symbol.getName(), symbol.getSource(),
                                               numbers.lookup(count), symbol.getIndex(), symbol.getLower(),
                                               symbol.getUpper(), symbol.getMultipleOf(), symbol.getBound()));
  }
  program.setSymbolsAttr(builder.getArrayAttr(symbols));
}

/// Whether loops and branches call the function, rather than the runtime.
bool isBody(func::FuncOp function) { return function.isPrivate(); }

class FormPhases : public task::impl::FormPhasesBase<FormPhases> {
public:
  using FormPhasesBase::FormPhasesBase;

  void runOnOperation() override {
    if (failed(verifyState(getOperation())))
      return signalPassFailure();
    SmallVector<Attribute> sites;
    ConstantNames constants;
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (isBody(function))
        continue;
      PhaseFormer former(function, sites, constants);
      if (failed(former.form()))
        return signalPassFailure();
      phases += former.phaseCount();
    }
    for (func::FuncOp function : functions)
      function.erase();
    getOperation()->setAttr("task.sites", ArrayAttr::get(&getContext(), sites));
  }
};

} // namespace
