#include "runtime/instance/WeightSupply.h"

#include "runtime/instance/Instance.h"
#include <algorithm>
#include <cstring>

using namespace freestone::runtime;

WeightSupply::WeightSupply(std::shared_ptr<Artifact> artifact) : artifact(std::move(artifact)) {
  const Descriptor &descriptor = this->artifact->descriptor();
  bool needsInit = false;
  for (size_t i = 0; i < descriptor.weights.size(); ++i) {
    const Weight &weight = descriptor.weights[i];
    if (this->artifact->weight(i))
      continue;
    if (descriptor.makes(weight)) {
      needsInit = true;
      continue;
    }
    TensorInfo &info = plain.emplace_back();
    info.name = weight.name;
    info.dtype = weight.dtype;
    for (int64_t dim : weight.shape)
      info.shape.push_back(std::to_string(dim));
  }
  if (!needsInit)
    return;
  init = descriptor.findEntry("init");
  for (const TensorInfo &input : init->inputs)
    if (std::ranges::find(plain, input.name, &TensorInfo::name) == plain.end())
      plain.push_back(input);
}

Status WeightSupply::supply(const std::string &name, const DLTensor &tensor) {
  auto info = std::ranges::find(plain, name, &TensorInfo::name);
  if (info == plain.end())
    return {Code::InvalidArgument, "the artifact needs no weight '" + name + "'"};
  TensorView view;
  if (Status status = viewTensor(tensor, *info, "weight", view); !status.ok())
    return status;
  supplied[name] = std::move(view);
  return {};
}

Status WeightSupply::finish(int threads) {
  for (const TensorInfo &info : plain)
    if (!supplied.contains(info.name))
      return {Code::InvalidArgument, "weight '" + info.name + "' was not supplied"};
  const Descriptor &descriptor = artifact->descriptor();
  for (size_t i = 0; i < descriptor.weights.size(); ++i)
    if (!artifact->weight(i) && !descriptor.makes(descriptor.weights[i]))
      if (Status status = copyWeight(i); !status.ok())
        return status;
  if (init)
    if (Status status = runInit(threads); !status.ok())
      return status;
  init = nullptr;
  plain.clear();
  supplied.clear();
  return {};
}

/// Compiled code relies on the alignment of weights, which the caller's memory need not have.
Status WeightSupply::copyWeight(size_t index) {
  const Weight &weight = artifact->descriptor().weights[index];
  const TensorView &view = supplied.at(weight.name);
  for (size_t axis = 0; axis < weight.shape.size(); ++axis)
    if (view.shape[axis] != weight.shape[axis])
      return {Code::Mismatch, "dimension " + std::to_string(axis) + " of weight '" + weight.name + "' must be " +
                                  std::to_string(weight.shape[axis]) + ", but is " + std::to_string(view.shape[axis])};
  Result<Block> block = Memory::create({}, 0)->allocate(weight.bytes, "weight '" + weight.name + "'");
  if (!block.ok())
    return block.status();
  std::memcpy(block->data(), view.data, view.bytes);
  artifact->adoptWeight(index, std::move(*block));
  return {};
}

Status WeightSupply::runInit(int threads) {
  Instance::Options options;
  options.threads = threads;
  Result<std::unique_ptr<Instance>> created = Instance::create(artifact, *init, std::move(options));
  if (!created.ok())
    return created.status();
  Instance &instance = **created;
  for (size_t i = 0; i < init->inputs.size(); ++i)
    if (Status status = instance.setInput(i, supplied.at(init->inputs[i].name)); !status.ok())
      return status;
  if (Status status = instance.run(); !status.ok())
    return status;

  const std::vector<Weight> &weights = artifact->descriptor().weights;
  for (size_t i = 0; i < init->outputs.size(); ++i) {
    auto weight = std::ranges::find(weights, init->outputs[i].name, &Weight::name);
    if (weight == weights.end() || artifact->weight(weight - weights.begin()))
      continue;
    if (weight->bytes != instance.outputBytes(i))
      return {Code::BadArtifact,
              "the artifact makes weight '" + weight->name + "' with another size than it describes"};
    artifact->adoptWeight(weight - weights.begin(), std::move(instance.outputMemory(i)->block));
  }
  return {};
}
