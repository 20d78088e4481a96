// The invariants of a descriptor, by which the runtime can trust its indices.
#include "runtime/artifact/Descriptor.h"
#include "runtime/artifact/abi.h"
#include <algorithm>
#include <set>

using namespace freestone::runtime;

namespace {

/// Records the first fault; later checks are no-ops.
class Rules {
public:
  explicit Rules(const Descriptor &descriptor) : descriptor(descriptor) {}

  Status check();

private:
  void checkWeight(const Weight &weight);
  void checkState(const StateInfo &state);
  void checkBytes(DType dtype, const std::vector<int64_t> &shape, int64_t bytes);
  void checkEntry(const Entry &entry);
  void checkSymbol(const Entry &entry, size_t position);
  void checkTensor(const Entry &entry, const TensorInfo &tensor, BufferKind kind, std::vector<int> &uses);
  void checkStacks(const Entry &entry, const std::vector<TensorInfo> &tensors);
  void checkBuffer(const Entry &entry, size_t position);
  void checkService(const Entry &entry, const ServiceCall &call);
  /// What the spaces of a deal have in common.
  struct Deal {
    int64_t tiles = -1; ///< slot of their number; -1: no space yet
    bool isClaimed = false;
  };
  void checkPhase(const Entry &entry, size_t number, std::span<Deal> deals);
  void checkWindow(const Entry &entry, size_t number, const Window &window);

  void require(bool condition, const std::string &message) {
    if (!condition && fault.empty())
      fault = subject + message;
  }
  void requireSlot(const Entry &entry, int64_t slot, const std::string &of) {
    require(slot >= 0 && slot < entry.slotCount, of + " is not one of its sizes");
  }
  template <typename Named> void requireDistinct(const std::vector<Named> &items, const std::string &what) {
    std::set<std::string> names;
    for (const Named &item : items)
      require(names.insert(item.name).second, "has two " + what + " named '" + item.name + "'");
  }

  const Descriptor &descriptor;
  std::string subject, fault;
};

/// Far above any real program; bounds the tables that the runtime allocates.
constexpr int64_t maxSlots = int64_t(1) << 24;
constexpr int64_t maxSlices = 2;

} // namespace

Status Rules::check() {
  subject = "it ";
  require(descriptor.version == descriptorVersion, "has another version");
  require(!descriptor.entries.empty(), "has no entry");
  requireDistinct(descriptor.entries, "entries");
  requireDistinct(descriptor.weights, "weights");
  requireDistinct(descriptor.states, "states");
  require(descriptor.findEntry("main"), "has no entry 'main'");
  require(descriptor.segments == std::vector<std::string>{"main"},
          "is cut into segments that this runtime does not know");
  for (const Weight &weight : descriptor.weights)
    checkWeight(weight);
  for (const StateInfo &state : descriptor.states)
    checkState(state);
  for (const Entry &entry : descriptor.entries)
    checkEntry(entry);
  return fault.empty() ? Status() : Status(Code::BadArtifact, "the artifact's descriptor is wrong: " + fault);
}

void Rules::checkWeight(const Weight &weight) {
  subject = "weight '" + weight.name + "' ";
  checkBytes(weight.dtype, weight.shape, weight.bytes);
  require(weight.fileOffset == -1 || (weight.fileOffset >= 0 && weight.fileOffset % 64 == 0),
          "is not aligned in the file");
}

void Rules::checkState(const StateInfo &state) {
  subject = "state '" + state.name + "' ";
  checkBytes(state.dtype, state.shape, state.bytes);
  require(state.shape.size() <= 1024, "has too many dimensions");
  if (state.panelWidth != 0) {
    bool isMatrix = state.shape.size() == 2 && (state.panelAxis == 0 || state.panelAxis == 1) && state.panelWidth > 0;
    require(isMatrix && state.shape[state.panelAxis] % state.panelWidth == 0, "lies in panels that it does not fill");
  }
  if (state.initial == -1)
    return;
  bool hasWeight = state.initial >= 0 && state.initial < static_cast<int64_t>(descriptor.weights.size());
  require(hasWeight, "begins as a weight that does not exist");
  if (hasWeight)
    require(descriptor.weights[state.initial].bytes == state.bytes, "begins as a weight of another size");
}

void Rules::checkBytes(DType dtype, const std::vector<int64_t> &shape, int64_t bytes) {
  for (int64_t dim : shape)
    require(dim >= 0, "has a negative dimension");
  require(countBytes(dtype, shape) == bytes, "has another number of bytes than its shape");
}

void Rules::checkEntry(const Entry &entry) {
  subject = "entry '" + entry.name + "' ";
  require(entry.slotCount >= 0 && entry.slotCount <= maxSlots, "has too many sizes");
  require(static_cast<int64_t>(entry.symbols.size()) <= entry.slotCount, "has fewer sizes than symbols");
  requireSlot(entry, entry.scratchSlot, "the size of its scratch");
  for (int64_t slot : {entry.operationsSlot, entry.paddingSlot})
    if (slot != -1)
      requireSlot(entry, slot, "the number of its operations");
  requireDistinct(entry.symbols, "symbols");
  requireDistinct(entry.inputs, "inputs");
  requireDistinct(entry.outputs, "outputs");
  for (size_t i = 0; i < entry.symbols.size(); ++i)
    checkSymbol(entry, i);

  std::vector<int> uses(entry.buffers.size(), 0);
  for (const TensorInfo &input : entry.inputs)
    checkTensor(entry, input, BufferKind::Input, uses);
  for (const TensorInfo &output : entry.outputs)
    checkTensor(entry, output, BufferKind::Output, uses);
  checkStacks(entry, entry.inputs);
  checkStacks(entry, entry.outputs);
  subject = "entry '" + entry.name + "' ";
  std::vector<bool> isBound(descriptor.states.size(), false);
  for (size_t i = 0; i < entry.buffers.size(); ++i) {
    int64_t state = entry.buffers[i].state;
    if (entry.buffers[i].kind == BufferKind::State && state >= 0 && state < static_cast<int64_t>(isBound.size())) {
      require(!isBound[state], "has two buffers of state '" + descriptor.states[state].name + "'");
      isBound[state] = true;
    }
    bool isTensor = entry.buffers[i].kind == BufferKind::Input || entry.buffers[i].kind == BufferKind::Output;
    require(!isTensor || uses[i] == 1,
            "has buffer " + std::to_string(i) + ", which is not exactly one input or output");
    checkBuffer(entry, i);
  }
  for (const ServiceCall &call : entry.services)
    checkService(entry, call);
  int64_t spaces = 0;
  for (const Phase &phase : entry.phases)
    spaces += phase.spaces.size();
  require(entry.dealCount >= 0 && entry.dealCount <= spaces, "has deals of no spaces");
  std::vector<Deal> deals(std::clamp<int64_t>(entry.dealCount, 0, spaces));
  for (size_t number = 0; number < entry.phases.size(); ++number)
    checkPhase(entry, number, deals);
  subject = "entry '" + entry.name + "' ";
  for (const Assertion &assertion : entry.assertions) {
    requireSlot(entry, assertion.left, "an assertion's left side");
    requireSlot(entry, assertion.right, "an assertion's right side");
    require(assertion.after >= -1 && assertion.after < static_cast<int64_t>(entry.phases.size()),
            "has an assertion after a phase that does not exist");
  }
}

void Rules::checkSymbol(const Entry &entry, size_t position) {
  const Symbol &symbol = entry.symbols[position];
  subject = "symbol '" + symbol.name + "' of entry '" + entry.name + "' ";
  require(symbol.lower <= symbol.upper, "has no value between its bounds");
  require(symbol.multipleOf >= 1, "is a multiple of less than 1");
  require(symbol.scale >= 1, "has a scale of less than 1");
  require(symbol.scale == 1 || symbol.source == SymbolSource::InputDim, "has a scale, but is no dimension");
  int64_t product = 0;
  require(!__builtin_mul_overflow(symbol.scale, symbol.multipleOf, &product) &&
              !__builtin_mul_overflow(symbol.scale, symbol.lower, &product),
          "has a scale with which no dimension fits 64 bits");
  if (symbol.source == SymbolSource::RunTime) {
    if (symbol.bound != -1)
      requireSlot(entry, symbol.bound, "its upper bound");
    return;
  }
  bool hasInput = symbol.input >= 0 && symbol.input < static_cast<int64_t>(entry.inputs.size());
  require(hasInput, "is bound by an input that does not exist");
  require(symbol.index >= 0, "is bound by a negative index");
  if (!hasInput)
    return;
  const TensorInfo &input = entry.inputs[symbol.input];
  if (symbol.source == SymbolSource::InputDim)
    require(symbol.index < static_cast<int64_t>(input.dimSlots.size()), "is bound by a dimension that does not exist");
  else
    require(input.dtype != DType::i1, "is bound by an element of an input that holds no numbers");
}

void Rules::checkTensor(const Entry &entry, const TensorInfo &tensor, BufferKind kind, std::vector<int> &uses) {
  subject = "'" + tensor.name + "' of entry '" + entry.name + "' ";
  require(tensor.kind != ValueKind::String, "is a value of a kind that this runtime does not know");
  require(tensor.shape.size() == tensor.dimSlots.size(), "has another rank in its text than in its sizes");
  require(tensor.dimSlots.size() <= 1024, "has too many dimensions");
  for (int64_t slot : tensor.dimSlots)
    requireSlot(entry, slot, "a dimension");
  bool hasBuffer = tensor.buffer >= 0 && tensor.buffer < static_cast<int64_t>(entry.buffers.size());
  require(hasBuffer && entry.buffers[tensor.buffer].kind == kind, "has no buffer of its kind");
  if (hasBuffer)
    ++uses[tensor.buffer];
}

/// Stacks and their parts refer to each other, one to one.
void Rules::checkStacks(const Entry &entry, const std::vector<TensorInfo> &tensors) {
  size_t values = countValues(tensors);
  std::vector<int> uses(tensors.size(), 0);
  auto checkPart = [&](int64_t part, DType dtype, size_t rank) {
    bool isPart = part >= static_cast<int64_t>(values) && part < static_cast<int64_t>(tensors.size());
    require(isPart && tensors[part].dtype == dtype && tensors[part].dimSlots.size() == rank && uses[part]++ == 0,
            "has no part of its own where it needs one");
  };
  for (const TensorInfo &tensor : tensors) {
    subject = "'" + tensor.name + "' of entry '" + entry.name + "' ";
    int64_t rank = static_cast<int64_t>(tensor.dimSlots.size()) - tensor.isStack();
    require(rank >= 0, "is a stack without a length");
    require(tensor.isStack() || (tensor.openAxes.empty() && tensor.sizes == -1 && tensor.presence == -1),
            "is no stack, but has its properties");
    bool areOpen = tensor.lacking >= 0 && tensor.lacking <= static_cast<int64_t>(tensor.openAxes.size()) &&
                   (tensor.lacking == 0 || tensor.openAxes[tensor.lacking - 1] == tensor.lacking - 1);
    require(areOpen, "lacks dimensions that are not open");
    for (size_t i = 0; i < tensor.openAxes.size(); ++i)
      require(tensor.openAxes[i] >= (i ? tensor.openAxes[i - 1] + 1 : 0) && tensor.openAxes[i] < rank,
              "is open along a dimension that it does not have");
    require(tensor.openNames.size() == tensor.openAxes.size(), "has open dimensions without names");
    if (!tensor.openAxes.empty())
      checkPart(tensor.sizes, DType::i64, 2);
    if (tensor.kind == ValueKind::OptionalSequence)
      checkPart(tensor.presence, DType::i1, 0);
  }
  for (size_t i = 0; i < tensors.size(); ++i)
    require((tensors[i].kind == ValueKind::Part) == (i >= values) && uses[i] == (i >= values),
            "has parts that belong to nothing, or not behind everything else");
}

void Rules::checkService(const Entry &entry, const ServiceCall &call) {
  subject = "a call of the service '" + call.name + "' of entry '" + entry.name + "' ";
  for (const auto *tensors : {&call.inputs, &call.outputs}) {
    for (const ServiceTensor &tensor : *tensors) {
      bool hasBuffer = tensor.buffer >= 0 && tensor.buffer < static_cast<int64_t>(entry.buffers.size());
      require(hasBuffer, "has no buffer for an operand");
      if (hasBuffer && tensors == &call.outputs)
        require(entry.buffers[tensor.buffer].kind != BufferKind::Input &&
                    entry.buffers[tensor.buffer].kind != BufferKind::Weight,
                "writes what is read only");
      require(tensor.dimSlots.size() <= 1024, "has too many dimensions");
      for (int64_t slot : tensor.dimSlots)
        requireSlot(entry, slot, "a dimension of an operand");
    }
  }
}

/// `deals` are those of earlier spaces.
void Rules::checkPhase(const Entry &entry, size_t number, std::span<Deal> deals) {
  const Phase &phase = entry.phases[number];
  subject = "phase '" + phase.label + "' of entry '" + entry.name + "' ";
  for (int64_t buffer : phase.buffers)
    require(buffer >= 0 && buffer < static_cast<int64_t>(entry.buffers.size()), "touches a buffer that does not exist");
  for (int64_t before : phase.awaits)
    require(before >= 0 && before < static_cast<int64_t>(number), "waits for a phase that does not come before it");
  require(phase.awaitsAll >= -1 && phase.awaitsAll < static_cast<int64_t>(number),
          "waits for a phase that does not come before it");
  for (const Window &window : phase.windows)
    checkWindow(entry, number, window);
  for (const Space &space : phase.spaces) {
    requireSlot(entry, space.tilesSlot, "a number of tiles");
    requireSlot(entry, space.timeSlot, "a time");
    bool isDeal = space.deal >= 0 && space.deal < static_cast<int64_t>(deals.size());
    require(isDeal, "has a deal that does not exist");
    if (!isDeal)
      continue;
    Deal &deal = deals[space.deal];
    bool isShared = deal.tiles >= 0;
    require(!isShared || deal.tiles == space.tilesSlot, "shares a deal with another number of tiles");
    deal.isClaimed |= space.dealing == Space::Dealing::Claimed;
    require(!isShared || !deal.isClaimed, "shares a deal whose tiles are claimed");
    deal.tiles = space.tilesSlot;
  }
}

/// Windows follow from the tiles of a run as they are dealt before it.
void Rules::checkWindow(const Entry &entry, size_t number, const Window &window) {
  bool isAgain = window.phase < 0;
  int64_t before = isAgain ? ~window.phase : window.phase;
  bool isEarlier = before < static_cast<int64_t>(isAgain ? entry.phases.size() : number);
  require(isEarlier, "waits for a phase that does not come before it");
  require(std::ranges::find(entry.symbols, SymbolSource::RunTime, &Symbol::source) == entry.symbols.end(),
          "waits for tiles that a run deals anew");
  if (!isEarlier)
    return;
  auto checkBlocks = [&](const Blocks &blocks, const Phase &phase) {
    require(blocks.space >= 0 && blocks.space < static_cast<int64_t>(phase.spaces.size()),
            "waits for tiles of a space that does not exist");
    if (blocks.elements == -1)
      return require(blocks.tiles == -1, "waits for tiles that share no block");
    requireSlot(entry, blocks.elements, "a block of elements");
    requireSlot(entry, blocks.tiles, "a number of tiles that share a block");
  };
  for (const Meeting &meeting : window.meetings) {
    checkBlocks(meeting.later, entry.phases[number]);
    checkBlocks(meeting.earlier, entry.phases[before]);
  }
}

void Rules::checkBuffer(const Entry &entry, size_t position) {
  const Buffer &buffer = entry.buffers[position];
  subject = "buffer " + std::to_string(position) + " of entry '" + entry.name + "' ";
  requireSlot(entry, buffer.bytesSlot, "its size");
  int64_t phases = entry.phases.size();
  switch (buffer.kind) {
  case BufferKind::Input:
    return;
  case BufferKind::Output:
    return require(buffer.slices == 0 || buffer.slices == 1, "is an output of several slices");
  case BufferKind::Growing:
    return require(buffer.slices >= 1 && buffer.slices <= maxSlices, "grows, but has no slice or too many");
  case BufferKind::Weight:
    return require(buffer.weight >= 0 && buffer.weight < static_cast<int64_t>(descriptor.weights.size()),
                   "is a weight that does not exist");
  case BufferKind::State:
    return require(buffer.state >= 0 && buffer.state < static_cast<int64_t>(descriptor.states.size()),
                   "is a state that does not exist");
  case BufferKind::Alias:
    require(buffer.base >= 0 && buffer.base < static_cast<int64_t>(position),
            "is part of a buffer that does not come before it");
    return requireSlot(entry, buffer.offsetSlot, "its offset");
  case BufferKind::Arena:
    require(buffer.alignment > 0 && buffer.alignment <= 4096 && (buffer.alignment & (buffer.alignment - 1)) == 0,
            "has an alignment that is no power of two up to 4096");
    return require(buffer.first >= 0 && buffer.first <= buffer.freed && buffer.freed <= buffer.released &&
                       buffer.released <= phases,
                   "has a live range outside of the phases");
  }
}

size_t freestone::runtime::countValues(const std::vector<TensorInfo> &tensors) {
  return std::ranges::find(tensors, ValueKind::Part, &TensorInfo::kind) - tensors.begin();
}

const Entry *Descriptor::findEntry(const std::string &name) const {
  auto found = std::ranges::find(entries, name, &Entry::name);
  return found == entries.end() ? nullptr : &*found;
}

bool Descriptor::makes(const Weight &weight) const {
  const Entry *init = findEntry("init");
  return init && std::ranges::find(init->outputs, weight.name, &TensorInfo::name) != init->outputs.end();
}

Status freestone::runtime::validate(const Descriptor &descriptor) { return Rules(descriptor).check(); }
