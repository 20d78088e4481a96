// An instance's symbols, which the caller's tensors bind, and the checks of these tensors before a run.
#include "runtime/instance/Instance.h"
#include <bit>
#include <cmath>
#include <cstring>

using namespace freestone::runtime;

/// The value of a symbol; nothing for a float that has none.
static std::optional<int64_t> readElement(const TensorView &view, DType dtype, int64_t index) {
  auto read = [&]<typename T>(T value) {
    std::memcpy(&value, static_cast<const char *>(view.data) + index * sizeof(T), sizeof(T));
    return value;
  };
  auto as = [&](auto type) { return static_cast<int64_t>(read(type)); };
  auto inUnits = [](double number) -> std::optional<int64_t> {
    double units = std::ldexp(number, floatSymbolBits);
    if (!(std::fabs(units) < 0x1p62) || units != std::trunc(units))
      return std::nullopt;
    return static_cast<int64_t>(units);
  };
  switch (dtype) {
  case DType::f16:
    return inUnits(read(_Float16()));
  case DType::bf16:
    return inUnits(std::bit_cast<float>(uint32_t(read(uint16_t())) << 16));
  case DType::f32:
    return inUnits(read(float()));
  case DType::f64:
    return inUnits(read(double()));
  case DType::i8:
    return as(int8_t());
  case DType::i16:
    return as(int16_t());
  case DType::i32:
    return as(int32_t());
  case DType::u8:
    return as(uint8_t());
  case DType::u16:
    return as(uint16_t());
  case DType::u32:
    return as(uint32_t());
  default:
    return as(int64_t());
  }
}

Status Instance::bindSymbols() {
  for (size_t i = 0; i < inputValues; ++i)
    if (program.inputs[i].isStack() ? !sequences[i] : !inputs[i])
      return {Code::InvalidArgument, "input '" + program.inputs[i].name + "' is not set"};
  if (Status status = layOutStacks(program, sequences, inputs); !status.ok())
    return status;
  symbols.clear();
  for (const Symbol &symbol : program.symbols) {
    if (symbol.source == SymbolSource::RunTime)
      continue;
    const TensorInfo &info = program.inputs[symbol.input];
    const TensorView &view = *inputs[symbol.input];
    bool isDim = symbol.source == SymbolSource::InputDim;
    auto describe = [&] {
      if (info.isStack())
        return symbol.index == 0
                   ? "the number of elements of input '" + info.name + "'"
                   : "dimension " + std::to_string(symbol.index - 1) + " of the elements of input '" + info.name + "'";
      return (isDim ? "dimension " : "element ") + std::to_string(symbol.index) + " of input '" + info.name + "'";
    };
    if (!isDim && symbol.index >= view.bytes / dtypeBytes(info.dtype))
      return {Code::Mismatch, describe() + " is needed as a size, but does not exist"};
    std::optional<int64_t> found = isDim ? view.shape[symbol.index] : readElement(view, info.dtype, symbol.index);
    if (!found)
      return {Code::Mismatch, describe() + ", " + symbol.name +
                                  ", decides a size: it must be a multiple of 2^-32, and less than 2^30"};
    std::string name = (symbol.scale > 1 ? std::to_string(symbol.scale) + "*" : "") + symbol.name;
    int64_t value = *found / symbol.scale, unit = symbol.scale * symbol.multipleOf;
    bool isReal = !isDim && !isInteger(info.dtype);
    auto print = [&](int64_t number) {
      return isReal ? std::to_string(std::ldexp(double(number), -floatSymbolBits)) : std::to_string(number);
    };
    if (value < symbol.lower || value > symbol.upper)
      return {Code::Mismatch, describe() + ", " + name + ", is " + print(*found) + ", but must be at " +
                                  (value < symbol.lower ? "least " + print(symbol.lower * symbol.scale)
                                                        : "most " + print(symbol.upper * symbol.scale))};
    if (*found % unit != 0)
      return {Code::Mismatch, describe() + ", " + name + ", is " + std::to_string(*found) +
                                  ", but must be a multiple of " + std::to_string(unit)};
    symbols.push_back(value);
  }
  return {};
}

static Status checkShape(const SizePlan &plan, const TensorInfo &info, const TensorView &view, const char *what) {
  for (size_t axis = 0; axis < view.shape.size(); ++axis) {
    int64_t expected = plan.sizes[info.dimSlots[axis]], actual = view.shape[axis];
    // A stack without elements fits whatever its elements would be.
    if (actual == expected || (info.isStack() && view.shape[0] == 0 && axis > 0))
      continue;
    if (info.isStack())
      return {Code::Mismatch, (axis == 0 ? "the number of elements of "
                                         : "dimension " + std::to_string(axis - 1) + " of the elements of ") +
                                  std::string(what) + " '" + info.name + "' must be " + std::to_string(expected) +
                                  ", but is " + std::to_string(actual)};
    const std::string &text = info.shape[axis];
    std::string value = std::to_string(expected);
    return {Code::Mismatch, "dimension " + std::to_string(axis) + " of " + what + (" '" + info.name) + "' must be " +
                                (text == value ? value : text + " = " + value) + ", but is " + std::to_string(actual)};
  }
  return {};
}

Status Instance::checkInputs(const SizePlan &plan) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (Status status = checkShape(plan, program.inputs[i], *inputs[i], "input"); !status.ok())
      return status;
  for (size_t i = 0; i < inputValues; ++i) {
    bool isStack = program.inputs[i].isStack();
    for (const TensorView &view :
         isStack ? std::span<const TensorView>(sequences[i]->elements) : std::span(&*inputs[i], 1))
      if (Status status = checkApart(view, program.inputs[i], "input"); !status.ok())
        return status;
  }
  return {};
}

/// The caller's memory must not overlap what a run itself writes: the state, and the runtime's own output memory that
/// no consumer holds.
Status Instance::checkApart(const TensorView &view, const TensorInfo &info, const char *what) const {
  auto refuse = [&](const std::string &other) -> Status {
    return {Code::InvalidArgument, what + (" '" + info.name) + "' overlaps " + other};
  };
  if (kept && kept->overlaps(view))
    return refuse("the state that the instance runs on");
  const PreparedRun &run = *places[nextPlace];
  for (size_t i = 0; i < run.outputs.size(); ++i)
    if (const auto &memory = run.outputs[i]; memory && memory->takers.load(std::memory_order_acquire) == 0 &&
                                             overlap(view, {memory->block.data(), {}, memory->block.size()}))
      return refuse("the memory of output '" + program.outputs[i].name +
                    "', which the runtime uses again; take the output to keep it");
  return {};
}

Status Instance::checkOutput(const SizePlan &plan, size_t index) const {
  if (!outputs[index])
    return {};
  const TensorInfo &info = program.outputs[index];
  const TensorView &view = *outputs[index];
  if (program.buffers[info.buffer].slices > 0)
    return {Code::InvalidArgument, "output '" + info.name +
                                       "' can't lie in the caller's memory: only the run knows its size, which has no "
                                       "limit; leave it to the runtime"};
  if (Status status = checkShape(plan, info, view, "output"); !status.ok())
    return status;
  auto refuse = [&](const char *what, const TensorInfo &other) -> Status {
    return {Code::InvalidArgument, "output '" + info.name + "' overlaps " + what + " '" + other.name + "'"};
  };
  for (size_t i = 0; i < inputValues; ++i) {
    bool isStack = program.inputs[i].isStack();
    for (const TensorView &other :
         isStack ? std::span<const TensorView>(sequences[i]->elements) : std::span(&*inputs[i], 1))
      if (overlap(view, other))
        return refuse("input", program.inputs[i]);
  }
  for (size_t i = 0; i < index; ++i)
    if (outputs[i] && overlap(view, *outputs[i]))
      return refuse("output", program.outputs[i]);
  return checkApart(view, info, "output");
}
