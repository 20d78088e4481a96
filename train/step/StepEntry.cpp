#include "train/step/StepEntry.h"

#include "formats/ElementType.h"
#include "train/Error.h"
#include <algorithm>
#include <cstring>

namespace freestone::train {

namespace {

/// The inputs or outputs of an instance's entry.
template <typename Count, typename Get> std::vector<ValueInfo> collect(const Instance &instance, Count count, Get get) {
  std::vector<ValueInfo> values;
  for (size_t i = 0; i < count(instance.get()); ++i) {
    freestone_value_info info = {};
    info.struct_size = sizeof(info);
    check(get(instance.get(), i, &info));
    values.push_back({info.name, info.dtype, {info.shape, info.shape + info.rank}});
  }
  return values;
}

double readNumber(const DLTensor &view) {
  auto as = [&]<typename T>(T value) {
    std::memcpy(&value, static_cast<const char *>(view.data) + view.byte_offset, sizeof(T));
    return static_cast<double>(value);
  };
  if (view.dtype.code == kDLFloat)
    return view.dtype.bits == 64 ? as(double()) : as(float());
  return view.dtype.bits == 64 ? as(int64_t()) : view.dtype.bits == 32 ? as(int32_t()) : as(int8_t());
}

} // namespace

static freestone_instance_options optionsOf(const char *entry, const State &state, const Execution &execution) {
  freestone_instance_options options = {};
  options.struct_size = sizeof(options);
  options.threads = execution.threads;
  options.switched_off = execution.switchedOff;
  options.timeline = execution.timeline;
  options.entry = entry;
  options.state = state.get();
  return options;
}

StepEntry::StepEntry(const Artifact &artifact, const char *name, const State &state, const Execution &execution)
    : instance(artifact, optionsOf(name, state, execution)),
      inputs(collect(instance, freestone_instance_input_count, freestone_instance_input_info)),
      outputs(collect(instance, freestone_instance_output_count, freestone_instance_output_info)) {}

std::optional<size_t> StepEntry::findInput(const std::string &name) const {
  auto found = std::ranges::find(inputs, name, &ValueInfo::name);
  return found == inputs.end() ? std::nullopt : std::optional<size_t>(found - inputs.begin());
}

std::optional<size_t> StepEntry::findOutput(const std::string &name) const {
  auto found = std::ranges::find(outputs, name, &ValueInfo::name);
  return found == outputs.end() ? std::nullopt : std::optional<size_t>(found - outputs.begin());
}

double StepEntry::scalar(const std::string &name) const {
  std::optional<size_t> index = findOutput(name);
  if (!index)
    throw Error("the compiled step has no output '" + name + "'");
  DLTensor view = {};
  check(freestone_instance_output(instance.get(), *index, &view));
  return readNumber(view);
}

void StepEntry::setData(std::span<const formats::TensorView> fields) {
  for (const formats::TensorView &field : fields) {
    std::optional<size_t> index = findInput(field.name);
    if (!index)
      continue;
    DLTensor view = {};
    view.data = const_cast<uint8_t *>(field.bytes.data());
    view.device = {kDLCPU, 0};
    view.dtype = formats::dlpackType(field.dtype);
    view.ndim = static_cast<int32_t>(field.shape.size());
    view.shape = const_cast<int64_t *>(field.shape.data());
    check(freestone_instance_set_input(instance.get(), *index, &view));
  }
}

void StepEntry::setNumber(const std::string &name, double *value) {
  if (std::optional<size_t> index = findInput(name))
    instance.setInput(*index, TensorRef(value, {}));
}

void StepEntry::setNumber(const std::string &name, int64_t *value) {
  if (std::optional<size_t> index = findInput(name))
    instance.setInput(*index, TensorRef(value, {}));
}

void readMetrics(const StepEntry &entry, const StepDescription &description, StepMetrics &metrics) {
  metrics.loss = entry.scalar("loss");
  metrics.gradientNorm = entry.scalar("gradient_norm");
  metrics.skipped = entry.scalar("skipped") != 0;
  if (metrics.skipped)
    metrics.notFinite = description.trainedName(static_cast<int64_t>(entry.scalar("not_finite")));
  if (entry.hasOutput("scale"))
    metrics.lossScale = entry.scalar("scale");
}

} // namespace freestone::train
