#include "distributed/execute/StageProgram.h"

#include "formats/ElementType.h"
#include <algorithm>

namespace freestone::distributed {

/// The name of an entry in the artifact.
static const char *nameInArtifact(const std::string &entry) { return entry == forwardEntry ? "main" : entry.c_str(); }

StageEntry::StageEntry(const Artifact &artifact, const std::string &name, const PipelineDescription &pipeline,
                       const State &state, const train::Execution &execution)
    : entry(artifact, nameInArtifact(name), state, execution), pipeline(pipeline) {
  for (size_t value = 0; value < pipeline.values.size(); ++value) {
    if (std::optional<size_t> index = entry.findInput(pipeline.values[value].name))
      read.push_back({static_cast<int>(value), *index});
    if (std::optional<size_t> index = entry.findOutput(pipeline.values[value].name))
      made.push_back({static_cast<int>(value), *index});
  }
  sizesIndex = entry.findInput("pipe/sizes");
}

std::vector<freestone_size> StageEntry::named(const std::vector<int64_t> &sizes) const {
  std::vector<freestone_size> named;
  if (sizesIndex)
    for (size_t i = 0; i < sizes.size(); ++i)
      named.push_back({pipeline.symbols[i].c_str(), sizes[i]});
  return named;
}

std::vector<int64_t> StageEntry::shapeOf(const Port &port, bool isRead, const std::vector<int64_t> &sizes) {
  std::vector<int64_t> dims((isRead ? entry.inputs : entry.outputs)[port.index].shape.size());
  if (isRead)
    entry.instance.planInput(named(sizes), port.index, dims.data());
  else
    entry.instance.planOutput(named(sizes), port.index, dims.data());
  return dims;
}

uint64_t StageEntry::countIntermediates(const std::vector<int64_t> &sizes) {
  freestone_memory_need need = entry.instance.planMemory(named(sizes));
  constexpr uint64_t page = 4096; // of which the runtime takes whole ones
  return (need.arena_bytes + need.scratch_bytes + page - 1) / page * page;
}

void StageEntry::run(const std::vector<PlacedValue> &values, std::span<const formats::TensorView> fields,
                     const std::vector<int64_t> &sizes) {
  entry.setData(fields);
  auto view = [](const PlacedValue &value, freestone_dtype dtype) {
    DLTensor tensor = {};
    tensor.data = value.data;
    tensor.device = {kDLCPU, 0};
    tensor.dtype = formats::dlpackType(dtype);
    tensor.ndim = static_cast<int32_t>(value.dims->size());
    tensor.shape = const_cast<int64_t *>(value.dims->data());
    return tensor;
  };
  for (const Port &port : read) {
    DLTensor tensor = view(values[port.value], typeOf(port, true));
    check(freestone_instance_set_input(entry.instance.get(), port.index, &tensor));
  }
  for (const Port &port : made) {
    DLTensor tensor = view(values[port.value], typeOf(port, false));
    check(freestone_instance_set_output(entry.instance.get(), port.index, &tensor));
  }
  if (sizesIndex) {
    std::vector<int64_t> dims = sizes;
    dims.push_back(0);
    DLTensor tensor = view({&nothing, &dims}, FREESTONE_I8);
    check(freestone_instance_set_input(entry.instance.get(), *sizesIndex, &tensor));
  }
  entry.instance.run();
}

StageProgram::StageProgram(const Artifact &artifact, int stage, const PipelineDescription &pipeline,
                           const train::StepDescription &about, const train::Execution &execution)
    : number(stage), trained(artifact, about) {
  for (const std::string &name : artifact.entries()) {
    std::string entry = name == "main" ? forwardEntry : name;
    entries[entry] = std::make_unique<StageEntry>(artifact, entry, pipeline, trained.state(), execution);
  }
}

std::set<std::string> StageProgram::inputs() const {
  std::set<std::string> names;
  for (const auto &[name, entry] : entries)
    for (const ValueInfo &input : entry->entry.inputs)
      names.insert(input.name);
  return names;
}

StageEntry *StageProgram::find(const std::string &entry) {
  auto found = entries.find(entry);
  return found == entries.end() ? nullptr : found->second.get();
}

} // namespace freestone::distributed
