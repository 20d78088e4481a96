// The part of the C ABI that supplies the weights of artifacts which carry none.
#include "runtime/Interface.h"

using namespace freestone::runtime;

size_t freestone_artifact_missing_weight_count(const freestone_artifact *artifact) {
  const Entry *init = artifact ? artifact->artifact->missingWeights() : nullptr;
  return init ? init->inputs.size() : 0;
}

freestone_status freestone_artifact_missing_weight(const freestone_artifact *artifact, size_t index, freestone_value_info *info) {
  return guarded([&] {
    if (index >= freestone_artifact_missing_weight_count(artifact))
      return Status(Code::InvalidArgument, "there is no missing weight " + std::to_string(index));
    const TensorInfo &tensor = artifact->artifact->missingWeights()->inputs[index];
    freestone_value_info value = {};
    value.name = tensor.name.c_str();
    value.dtype = static_cast<freestone_dtype>(tensor.dtype);
    value.rank = static_cast<int32_t>(tensor.shape.size());
    value.shape = artifact->missingShapes.of(index);
    return writeStruct(info, value);
  });
}

freestone_status freestone_artifact_supply_weight(freestone_artifact *artifact, const char *name, const DLTensor *tensor) {
  return guarded([&] {
    if (!artifact || !name || !tensor)
      return nullArgument(!artifact ? "artifact" : name ? "tensor" : "name");
    const Entry *init = artifact->artifact->missingWeights();
    auto find = [&] { return std::ranges::find(init->inputs, name, &TensorInfo::name); };
    if (!init || find() == init->inputs.end())
      return Status(Code::InvalidArgument, std::string("the artifact needs no weight '") + name + "'");
    Result<TensorView> view = viewTensor(*tensor, *find(), std::string("weight '") + name + "'");
    if (!view.ok())
      return view.status();
    std::vector<int64_t> &shape = artifact->suppliedShapes[name];
    shape = view->shape;
    DLTensor copy = *tensor;
    copy.shape = shape.data();
    copy.strides = nullptr;
    artifact->supplied[name] = copy;
    return Status();
  });
}

/// Runs the entry `init` and hands its outputs to the artifact.
static Status finishWeights(freestone_artifact &handle, const Entry &init, int threads) {
  Instance::Options options;
  options.threads = threads;
  Result<std::unique_ptr<Instance>> created = Instance::create(handle.artifact, init, std::move(options));
  if (!created.ok())
    return created.status();
  Instance &instance = **created;
  for (size_t i = 0; i < init.inputs.size(); ++i) {
    auto tensor = handle.supplied.find(init.inputs[i].name);
    if (tensor == handle.supplied.end())
      return {Code::InvalidArgument, "weight '" + init.inputs[i].name + "' was not supplied"};
    if (Status status = instance.setInput(i, tensor->second); !status.ok())
      return status;
  }
  if (Status status = instance.run(); !status.ok())
    return status;

  const std::vector<Weight> &weights = handle.artifact->descriptor().weights;
  std::vector<Block> blocks;
  for (size_t i = 0; i < init.outputs.size(); ++i) {
    Result<TensorView> made = instance.output(i);
    if (!made.ok())
      return made.status();
    auto weight = std::ranges::find(weights, init.outputs[i].name, &Weight::name);
    if (weight != weights.end() && (weight->bytes != made->bytes || weight->dtype != init.outputs[i].dtype))
      return {Code::BadArtifact, "the artifact makes weight '" + weight->name + "' in another form than it describes"};
    blocks.push_back(std::move(instance.outputMemory(i)->block));
  }
  handle.artifact->adopt(std::move(blocks));
  handle.supplied.clear();
  handle.suppliedShapes.clear();
  return {};
}

freestone_status freestone_artifact_finish_weights(freestone_artifact *artifact, int32_t threads) {
  return guarded([&] {
    if (!artifact)
      return nullArgument("artifact");
    const Entry *init = artifact->artifact->missingWeights();
    return init ? finishWeights(*artifact, *init, threads) : Status();
  });
}

freestone_status freestone_artifact_stored_weight(const freestone_artifact *artifact, size_t index, const void **data, size_t *bytes) {
  return guarded([&] {
    if (!artifact || !data || !bytes)
      return nullArgument(!artifact ? "artifact" : data ? "bytes" : "data");
    const std::vector<Weight> &weights = artifact->artifact->descriptor().weights;
    if (index >= weights.size())
      return Status(Code::InvalidArgument, "there is no weight " + std::to_string(index));
    *data = artifact->artifact->weight(index);
    *bytes = weights[index].bytes;
    if (!*data)
      return Status(Code::InvalidArgument, "weight '" + weights[index].name + "' is missing: supply the weights first");
    return Status();
  });
}
