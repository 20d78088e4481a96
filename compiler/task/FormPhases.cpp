#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/plan/ContractionTree.h"
#include "compiler/task/EntrySymbols.h"
#include "compiler/task/Operations.h"
#include "compiler/task/Passes.h"
#include "compiler/task/PhaseFormer.h"
#include "compiler/task/TileTimes.h"
#include "compiler/task/ValueMemory.h"
#include "compiler/task/VerifySizes.h"
#include "compiler/task/VerifyState.h"
#include "compiler/tile/Counters.h"
#include "compiler/tile/HoistWeights.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace freestone::task {
#define GEN_PASS_DEF_FORMPHASES
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

std::string task::getNodeName(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    // A program fused from several nodes is named by the last, whose result it computes.
    for (Location part : llvm::reverse(fused.getLocations()))
      if (std::string name = getNodeName(part); !name.empty())
        return name;
  }
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return getNodeName(call.getCallee());
  return "";
}

/// The nodes of a program, in order: one of them has found what its message says.
static std::string quoteNodes(Location location, StringRef otherwise) {
  llvm::SetVector<StringRef> names;
  location->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names.insert(name.getName());
    return WalkResult::advance();
  });
  if (names.empty())
    names.insert(otherwise);
  return (names.size() == 1 ? "node '" : "nodes '") + llvm::join(names, "', '") + "'";
}

LogicalResult PhaseFormer::form() {
  builder.setInsertionPoint(function);
  FailureOr<EntrySymbols> symbols = collectEntrySymbols(function);
  if (failed(symbols))
    return failure();
  runTimeSizes = RunTimeSizes(symbols->bound, symbols->definitions);
  namedSizes = NamedSizes(symbols->bound, symbols->definitions, nameSizes);
  program = ProgramOp::create(builder, function.getLoc(), function.getSymNameAttr(),
                              builder.getArrayAttr(symbols->bound), symbols->definitions, entryAssertions(function));
  Block *block = builder.createBlock(&program.getBody());
  builder.setInsertionPointToEnd(block);
  if (failed(formArguments()) || failed(formOutputs()))
    return failure();
  if (failed(formBlock(function.getBody().front())))
    return failure();
  setRuntimeSymbols();
  if (ArrayAttr definitions = namedSizes.getDefinitions())
    program.setDefinitionsAttr(definitions);
  return verifySizes(program);
}

BufferOp PhaseFormer::addBuffer(BufferKind kind, StringRef name, Type type, Location location) {
  OpBuilder::InsertionGuard guard(builder);
  setToDeclarations();
  if (kind == BufferKind::arena)
    type = runTimeSizes.getGreatest(type);
  IntegerAttr slices;
  // A size may be limited by one that has no limit.
  if (runTimeSizes.isUnlimited(runTimeSizes.getGreatest(type))) {
    slices = builder.getI64IntegerAttr(1);
    kind = kind == BufferKind::arena ? BufferKind::growing : kind;
  }
  StringAttr nameAttr = name.empty() ? StringAttr() : builder.getStringAttr(name);
  auto buffer = BufferOp::create(builder, location, type, kind, nameAttr, slices, IntegerAttr(), IntegerAttr(),
                                 IntegerAttr(), ElementsAttr(), StringAttr());
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
  for (auto branch : block.getOps<tile::BranchOp>())
    placeKept(branch);
  for (Operation &op : block.without_terminator())
    if (failed(formOp(op)))
      return failure();
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

SmallVector<Attribute> PhaseFormer::accesses(ArrayAttr planned, sym::Substitution &sizes) {
  SmallVector<Attribute> result;
  for (Attribute access : planned) {
    if (auto elements = dyn_cast<sym::ExprAttr>(access))
      access = sizes.in(elements.getExpr()).attr();
    else if (auto block = dyn_cast<tile::SharedBlockAttr>(access))
      access = tile::SharedBlockAttr::getAccess(sizes.in(block.getElements()), sizes.in(block.getTiles()));
    result.push_back(access);
  }
  return result;
}

PhaseFormer::Bound PhaseFormer::bindPlan(tile::ProgramOp callee, sym::Substitution::Replacement values) {
  sym::Substitution sizes(values);
  Operations operations = countOperations(callee);
  // Without an estimate, tiles are dealt evenly.
  sym::Expr time = sizes.in(estimateTime(callee, device));
  if (time.isInvalid())
    time = sym::Expr::constant(builder.getContext(), 0);
  tile::PlanAttr plan = callee.getPlanAttr();
  return {sizes.in(plan.getTiles()).attr(),
          time.attr(),
          runTimeSizes.getGreatest(plan.getScratch(), values).attr(),
          sizes.in(operations.executed).attr(),
          sizes.in(operations.padding).attr(),
          builder.getArrayAttr(accesses(plan.getReads(), sizes)),
          builder.getArrayAttr(accesses(plan.getWrites(), sizes))};
}

/// Asserts within a body that two sizes are equal: the phase binds the actual one to a symbol of its own, which the run
/// compares then.
StringAttr PhaseFormer::addAssertion(ArrayAttr asserted) {
  SmallVector<Attribute> symbols(program.getSymbols().getValue()), assertions;
  if (std::optional<ArrayAttr> before = program.getAssertions())
    llvm::append_range(assertions, *before);
  std::string name = ("%asserted" + Twine(assertions.size())).str();
  symbols.push_back(SymbolAttr::get(builder.getContext(), name, SymbolSource::runtime, /*tensor=*/-1, /*index=*/0,
                                    /*scale=*/1, std::numeric_limits<int64_t>::min(),
                                    std::numeric_limits<int64_t>::max(), /*multipleOf=*/1, /*bound=*/nullptr));
  sym::Expr actual = cast<sym::ExprAttr>(asserted[0]).getExpr(), expected = cast<sym::ExprAttr>(asserted[1]).getExpr();
  ArrayAttr described = describeAssertion(actual, expected, cast<StringAttr>(asserted[2]).getValue());
  sym::ExprAttr bound = sym::Expr::symbol(builder.getContext(), name).attr();
  assertions.push_back(builder.getArrayAttr({bound, described[1], described[2]}));
  program.setSymbolsAttr(builder.getArrayAttr(symbols));
  program.setAssertionsAttr(builder.getArrayAttr(assertions));
  return builder.getStringAttr(name);
}

LogicalResult PhaseFormer::formCall(tile::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<tile::ProgramOp>(call, call.getCalleeAttr());
  if (!callee || !callee.getPlan())
    return call.emitError("calls @") << call.getCallee() << ", which is not a planned tile.program";
  llvm::StringMap<sym::Expr> values;
  SmallVector<Attribute> sizeAttrs;
  for (auto [symbol, size] : llvm::zip_equal(callee.getSymbols(), call.getSizes())) {
    sym::Expr named = values[symbol.getValue()] = namedSizes.getName(size);
    if (named != size)
      runTimeSizes.define(*named.asSymbol(), size);
    sizeAttrs.push_back(named.attr());
  }
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

  std::string label = getNodeName(call.getLoc());
  if (label.empty())
    label = call.getCallee().str();
  SmallVector<int64_t> siteNumbers;
  callee.walk([&](tile::CheckOp check) {
    sites.push_back(builder.getStringAttr(quoteNodes(call.getLoc(), label) + ": " + check.getMessage()));
    siteNumbers.push_back(sites.size());
  });

  StringAttr binds = call->getAttrOfType<StringAttr>("binds");
  if (auto asserted = call->getAttrOfType<ArrayAttr>(tile::assertsAttr))
    binds = addAssertion(asserted);
  if (binds)
    counts[binds] = results.front();
  OpBuilder::InsertionGuard guard(builder);
  DenseI64ArrayAttr none = builder.getDenseI64ArrayAttr({}), absent;
  auto phase = PhaseOp::create(builder, call.getLoc(), builder.getStringAttr(label), none, absent, absent, none, absent,
                               absent, absent, binds, UnitAttr());
  builder.createBlock(&phase.getBody());
  ArrayAttr sizesAttr = builder.getArrayAttr(sizeAttrs);
  Bound &bound = plans[{callee, sizesAttr}];
  if (!bound.tiles)
    bound = bindPlan(callee, sizes);
  SpaceOp::create(builder, call.getLoc(), call.getCalleeAttr(), inputs, results, sizesAttr, bound.tiles, IntegerAttr(),
                  bound.time, bound.scratch, bound.reads, bound.writes, builder.getDenseI64ArrayAttr(siteNumbers),
                  bound.operations, bound.padding, IntegerAttr(), ArrayAttr(),
                  tile::ContractionTree::alternate(callee.getPlan()->getTiling()) ? builder.getUnitAttr() : UnitAttr());
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

  std::string label = getNodeName(library.getLoc());
  if (label.empty())
    label = library.getName().str();
  OpBuilder::InsertionGuard guard(builder);
  DenseI64ArrayAttr none = builder.getDenseI64ArrayAttr({}), absent;
  auto phase = PhaseOp::create(builder, library.getLoc(), builder.getStringAttr(label), none, absent, absent, none,
                               absent, absent, absent, StringAttr(), UnitAttr());
  builder.createBlock(&phase.getBody());
  sym::Expr zero = sym::Expr::constant(builder.getContext(), 0);
  auto unknown = [&](size_t count) {
    return builder.getArrayAttr(SmallVector<Attribute>(count, builder.getUnitAttr()));
  };
  SpaceOp::create(builder, library.getLoc(), FlatSymbolRefAttr::get(library.getNameAttr()), inputs, results,
                  builder.getArrayAttr({}), (zero + 1).attr(), IntegerAttr(), zero.attr(), zero.attr(),
                  unknown(inputs.size()), unknown(results.size()), none, zero.attr(), zero.attr(),
                  library.getVersionAttr(), builder.getArrayAttr(views), UnitAttr());
  ++phases;
  return success();
}

/// Lets symbols bound by phases refer to the buffers of their values, now that all buffers exist. What no size needs is no
/// symbol, and then bound by no phase.
void PhaseFormer::setRuntimeSymbols() {
  if (counts.empty())
    return;
  DenseMap<Value, int64_t> numbers;
  for (auto [number, buffer] : llvm::enumerate(program.getBuffers()))
    numbers[buffer.getBuffer()] = number;
  SmallVector<Attribute> symbols;
  llvm::SmallDenseSet<StringAttr> names;
  for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>()) {
    names.insert(builder.getStringAttr(symbol.getName()));
    Value count = counts.lookup(builder.getStringAttr(symbol.getName()));
    symbols.push_back(!count ? symbol
                             : SymbolAttr::get(builder.getContext(), symbol.getName(), symbol.getSource(),
                                               numbers.lookup(count), symbol.getIndex(), symbol.getScale(),
                                               symbol.getLower(), symbol.getUpper(), symbol.getMultipleOf(),
                                               symbol.getBound()));
  }
  program.setSymbolsAttr(builder.getArrayAttr(symbols));
  for (PhaseOp phase : program.getPhases())
    if (StringAttr bound = phase.getBindsAttr(); bound && !names.contains(bound))
      phase.removeBindsAttr();
}

namespace {

/// Whether loops and branches call the function, rather than the runtime.
bool isBody(func::FuncOp function) { return function.isPrivate(); }

class FormPhases : public task::impl::FormPhasesBase<FormPhases> {
public:
  using FormPhasesBase::FormPhasesBase;

  void runOnOperation() override {
    FailureOr<DeviceDescription> device = DeviceDescription::getFor(getOperation(), target);
    if (failed(device))
      return signalPassFailure();
    if (failed(verifyState(getOperation())))
      return signalPassFailure();
    SmallVector<Attribute> sites;
    ConstantNames constants;
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (isBody(function))
        continue;
      PhaseFormer former(function, *device, sites, constants, nameSizes, overwrite);
      if (failed(former.form()))
        return signalPassFailure();
      phases += former.phaseCount();
      tile::count(getOperation(), "named_sizes", former.namedSizeCount());
      tile::count(getOperation(), "overwritten", former.overwrittenCount());
    }
    for (func::FuncOp function : functions)
      function.erase();
    getOperation()->setAttr("task.sites", ArrayAttr::get(&getContext(), sites));
  }
};

} // namespace
