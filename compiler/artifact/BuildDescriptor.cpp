#include "compiler/artifact/BuildDescriptor.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/sym/Substitute.h"
#include "compiler/expressions/Element.h"
#include "compiler/task/Meetings.h"
#include "compiler/task/RunTimeSizes.h"
#include "compiler/task/SizeSlots.h"
#include "compiler/task/ValueMemory.h"
#include "runtime/artifact/abi.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// Indices of the weights of all entries.
class WeightTable {
public:
  explicit WeightTable(std::vector<runtime::Weight> &weights) : weights(weights) {}

  int64_t of(BufferOp buffer) { return of(*buffer.getName(), buffer); }
  /// The weight `name`, in the layout of `buffer`.
  int64_t of(StringRef name, BufferOp buffer) {
    auto [found, isNew] = indices.try_emplace(name, weights.size());
    if (isNew) {
      runtime::Weight weight;
      weight.name = name.str();
      weight.dtype = artifact::dtypeOf(cast<graph::TensorType>(buffer.getBuffer().getType()).getElementType());
      // Packed weights are padded, so their storage is described as one row of elements.
      weight.bytes = *buffer.getBytes().asConstant();
      weight.shape = {weight.bytes * 8 / runtime::toDLPack(weight.dtype).bits};
      weights.push_back(std::move(weight));
    }
    return found->second;
  }

private:
  std::vector<runtime::Weight> &weights;
  llvm::StringMap<int64_t> indices;
};

/// Indices of the states of all entries.
class StateTable {
public:
  StateTable(std::vector<runtime::StateInfo> &states, WeightTable &weights) : states(states), weights(weights) {}

  int64_t of(BufferOp buffer) {
    auto [found, isNew] = indices.try_emplace(*buffer.getName(), states.size());
    if (isNew) {
      auto type = cast<graph::TensorType>(buffer.getBuffer().getType());
      runtime::StateInfo state;
      state.name = buffer.getName()->str();
      state.dtype = artifact::dtypeOf(type.getElementType());
      SmallVector<int64_t> stored = *type.getStaticShape();
      if (auto panels = buffer->getAttrOfType<DenseI64ArrayAttr>(panelsAttr)) {
        state.panelAxis = panels[0];
        state.panelWidth = panels[1];
        state.shape = {0, 0};
        state.shape[state.panelAxis] = stored[0] * stored[2];
        state.shape[1 - state.panelAxis] = stored[1];
      } else {
        llvm::append_range(state.shape, stored);
      }
      state.bytes = *buffer.getBytes().asConstant();
      states.push_back(std::move(state));
    }
    // Only some entries name the first value.
    if (std::optional<StringRef> initial = buffer.getInitial())
      states[found->second].initial = weights.of(*initial, buffer);
    return found->second;
  }

private:
  std::vector<runtime::StateInfo> &states;
  WeightTable &weights;
  llvm::StringMap<int64_t> indices;
};

runtime::TensorInfo describeTensor(BufferOp buffer, int64_t index, const SizeSlots &slots) {
  auto type = cast<graph::TensorType>(buffer.getBuffer().getType());
  runtime::TensorInfo info;
  info.name = buffer.getName()->str();
  info.dtype = artifact::dtypeOf(type.getElementType());
  info.buffer = index;
  for (sym::Expr extent : type.getShape()) {
    info.shape.push_back(extent.str());
    info.dimSlots.push_back(slots.of(extent));
  }
  return info;
}

runtime::Symbol describeSymbol(SymbolAttr attr, const SizeSlots &slots) {
  runtime::Symbol symbol;
  symbol.name = attr.getName().str();
  symbol.lower = attr.getLower();
  symbol.upper = attr.getUpper();
  symbol.multipleOf = attr.getMultipleOf();
  if (attr.getSource() == SymbolSource::runtime) {
    symbol.source = runtime::SymbolSource::RunTime;
    if (auto bound = dyn_cast_or_null<sym::ExprAttr>(attr.getBound()))
      symbol.bound = slots.of(bound.getExpr());
    return symbol;
  }
  static_assert(graph::floatSymbolBits == runtime::floatSymbolBits, "what compiler and runtime read of floats");
  symbol.source =
      attr.getSource() == SymbolSource::dim ? runtime::SymbolSource::InputDim : runtime::SymbolSource::InputElement;
  symbol.input = attr.getTensor();
  symbol.index = attr.getIndex();
  symbol.scale = attr.getScale();
  return symbol;
}

/// Views count as their buffers.
DenseMap<Value, int64_t> numberBuffers(ProgramOp program) {
  DenseMap<Value, int64_t> buffers;
  for (auto [index, buffer] : llvm::enumerate(program.getBuffers()))
    buffers[buffer.getBuffer()] = index;
  for (ViewOp view : program.getViews())
    buffers[view.getView()] = buffers.lookup(view.getBuffer());
  return buffers;
}

/// The service calls, in the numbering of the compiled `run`.
std::vector<runtime::ServiceCall> describeServices(ProgramOp program, const SizeSlots &slots) {
  DenseMap<Value, int64_t> buffers = numberBuffers(program);
  std::vector<runtime::ServiceCall> calls;
  for (PhaseOp phase : program.getPhases()) {
    for (SpaceOp space : phase.getSpaces()) {
      if (!space.getService())
        continue;
      runtime::ServiceCall call;
      call.name = space.getProgram().str();
      call.version = *space.getService();
      for (auto [number, operand] : llvm::enumerate(space->getOperands())) {
        auto type = cast<graph::TensorType>(cast<TypeAttr>((*space.getViews())[number]).getValue());
        runtime::ServiceTensor tensor;
        tensor.dtype = artifact::dtypeOf(type.getElementType());
        tensor.buffer = buffers.lookup(operand);
        for (sym::Expr extent : type.getShape())
          tensor.dimSlots.push_back(slots.of(extent));
        (number < space.getInputs().size() ? call.inputs : call.outputs).push_back(std::move(tensor));
      }
      calls.push_back(std::move(call));
    }
  }
  return calls;
}

/// Whether the workers are about equally far where the phase begins: behind what is no phase, or at the beginning of a
/// loop's body or a branch's side.
bool beginsTogether(PhaseOp op) {
  Operation *before = op->getPrevNode();
  return before ? isa<LoopOp, BranchOp>(before) : !isa<ProgramOp>(op->getParentOp());
}

/// A window of a phase; of ~number: of the iteration before.
runtime::Window describeWindow(PhaseOp op, PhaseOp before, int64_t number, const SizeSlots &slots) {
  auto describe = [&](const OperandTouch &touched, PhaseOp phase) {
    runtime::Blocks blocks;
    SmallVector<SpaceOp, 8> spaces = phase.getSpaces();
    blocks.space = llvm::find(spaces, touched.space) - spaces.begin();
    if (auto [elements, tiles] = touched.getBlocks(); elements) {
      blocks.elements = slots.of(elements);
      blocks.tiles = slots.of(tiles);
    }
    return blocks;
  };
  runtime::Window window;
  window.phase = number;
  std::optional<SmallVector<Meeting, 2>> meetings =
      number < 0 ? findMeetingsAgain(op, before) : findMeetings(op, before);
  assert(meetings && "windows are of phases whose touches are known");
  for (const Meeting &meeting : *meetings)
    window.meetings.push_back({describe(meeting.later, op), describe(meeting.earlier, before)});
  return window;
}

std::vector<runtime::Phase> describePhases(ProgramOp program, const SizeSlots &slots) {
  DenseMap<Value, int64_t> buffers = numberBuffers(program);
  std::vector<runtime::Phase> phases;
  SmallVector<PhaseOp, 8> ops = program.getPhases();
  for (PhaseOp op : ops) {
    runtime::Phase &phase = phases.emplace_back();
    phase.label = op.getLabel().str();
    llvm::append_range(phase.awaits, op.getAwaitedTiles());
    for (int64_t before : op.getAllAfter())
      phase.awaitsAll = std::max(phase.awaitsAll, before);
    for (int64_t before : op.getAwaitedWindows())
      phase.windows.push_back(describeWindow(op, ops[before], before, slots));
    for (int64_t before : op.getWindowsAgain())
      phase.windows.push_back(describeWindow(op, ops[before], ~before, slots));
    phase.begin = beginsTogether(op) ? runtime::Phase::Begin::Together : runtime::Phase::Begin::Apart;
    llvm::SmallSetVector<int64_t, 8> touched;
    for (SpaceOp space : op.getSpaces()) {
      phase.spaces.push_back({slots.of(space.getTiles().getExpr()), slots.of(space.getTime().getExpr()),
                              static_cast<int64_t>(space.getDeal().value_or(0)),
                              space.needsWorker0() ? runtime::Space::Dealing::Evenly
                              : op.getClaimed()    ? runtime::Space::Dealing::Claimed
                                                   : runtime::Space::Dealing::ByTime});
      phase.program += (phase.program.empty() ? "" : ", ") + space.getProgram().str();
      for (Value operand : space->getOperands())
        touched.insert(buffers.lookup(operand));
    }
    phase.buffers.assign(touched.begin(), touched.end());
  }
  return phases;
}

/// By symbols that a run determines, and that are defined by these: the last phase that binds them.
DenseMap<StringAttr, int64_t> findLastBinders(ProgramOp program) {
  DenseMap<StringAttr, int64_t> binders;
  for (auto [number, phase] : llvm::enumerate(program.getPhases())) {
    if (!phase.getBinds())
      continue;
    llvm::SmallDenseSet<StringAttr> bound = {phase.getBindsAttr()};
    sym::addDefined(program.getDefinitionsAttr(), bound);
    for (StringAttr symbol : bound)
      binders[symbol] = number;
  }
  return binders;
}

/// Sizes that must be equal: [actual, expected, text that names the actual one].
runtime::Assertion describeAssertion(ArrayAttr attr, const DenseMap<StringAttr, int64_t> &binders,
                                     const SizeSlots &slots) {
  sym::Expr left = cast<sym::ExprAttr>(attr[0]).getExpr(), right = cast<sym::ExprAttr>(attr[1]).getExpr();
  llvm::SetVector<StringAttr> used;
  left.collectSymbols(used);
  right.collectSymbols(used);
  runtime::Assertion assertion;
  assertion.left = slots.of(left);
  assertion.right = slots.of(right);
  for (StringAttr symbol : used)
    if (auto binder = binders.find(symbol); binder != binders.end())
      assertion.after = std::max(assertion.after, binder->second);
  assertion.text = cast<StringAttr>(attr[2]).str();
  return assertion;
}

runtime::Entry describeEntry(ProgramOp program, WeightTable &weights, StateTable &states) {
  SizeSlots slots(program);
  runtime::Entry entry;
  entry.name = program.getSymName().str();
  entry.slotCount = slots.count();
  entry.scratchSlot = slots.of(slots.getScratch());
  RunTimeSizes runTimeSizes(program.getSymbols().getValue(), program.getDefinitionsAttr());
  for (PhaseOp phase : program.getPhases())
    for (SpaceOp space : phase.getSpaces())
      if (runTimeSizes.isUnlimited(space.getScratch().getExpr()))
        entry.scratchGrows = 1;
  auto describeCount = [&](sym::Expr count, std::string &text, int64_t &slot) {
    if (count.isInvalid())
      return;
    sym::Expr readable = slots.getReadable(count);
    text = readable.isInvalid() ? "" : readable.str();
    slot = slots.of(count);
  };
  describeCount(slots.getOperations(), entry.operations, entry.operationsSlot);
  describeCount(slots.getPadding(), entry.padding, entry.paddingSlot);
  for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
    entry.symbols.push_back(describeSymbol(symbol, slots));

  for (auto [index, op] : llvm::enumerate(program.getBuffers())) {
    runtime::Buffer buffer;
    buffer.bytesSlot = slots.of(op.getBytes());
    buffer.slices = op.getSlices().value_or(0);
    switch (op.getKind()) {
    case BufferKind::input:
      buffer.kind = runtime::BufferKind::Input;
      entry.inputs.push_back(describeTensor(op, index, slots));
      break;
    case BufferKind::output:
      buffer.kind = runtime::BufferKind::Output;
      entry.outputs.push_back(describeTensor(op, index, slots));
      break;
    case BufferKind::weight:
      buffer.kind = runtime::BufferKind::Weight;
      buffer.weight = weights.of(op);
      break;
    case BufferKind::state:
      buffer.kind = runtime::BufferKind::State;
      buffer.state = states.of(op);
      break;
    case BufferKind::arena:
      buffer.kind = runtime::BufferKind::Arena;
      buffer.first = op.getFirst().value_or(0);
      buffer.freed = op.getFreed().value_or(program.getPhases().size());
      buffer.released = op.getReleasedOrFreed().value_or(program.getPhases().size());
      break;
    case BufferKind::growing:
      buffer.kind = runtime::BufferKind::Growing;
      break;
    }
    entry.buffers.push_back(buffer);
  }
  entry.services = describeServices(program, slots);
  entry.phases = describePhases(program, slots);
  for (const runtime::Phase &phase : entry.phases)
    for (const runtime::Space &space : phase.spaces)
      entry.dealCount = std::max(entry.dealCount, space.deal + 1);
  if (auto assertions = program.getAssertions()) {
    DenseMap<StringAttr, int64_t> binders = findLastBinders(program);
    for (auto attr : assertions->getAsRange<ArrayAttr>())
      entry.assertions.push_back(describeAssertion(attr, binders, slots));
  }
  return entry;
}

} // namespace

runtime::DType artifact::dtypeOf(Type elementType) {
  std::optional<runtime::DType> dtype = runtime::dtypeFromName(expressions::typeName(elementType));
  assert(dtype && "the verifier of !graph.tensor lets no other element type pass");
  return *dtype;
}

runtime::Descriptor artifact::buildDescriptor(ArrayRef<ProgramOp> entries) {
  runtime::Descriptor descriptor;
  descriptor.abi = FREESTONE_ABI_VERSION;
  WeightTable weights(descriptor.weights);
  StateTable states(descriptor.states, weights);
  for (ProgramOp entry : entries)
    descriptor.entries.push_back(describeEntry(entry, weights, states));
  descriptor.segments = {"main"};
  return descriptor;
}
