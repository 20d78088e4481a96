#ifndef FREESTONE_BENCH_OVERLAP_SUBJECT_H
#define FREESTONE_BENCH_OVERLAP_SUBJECT_H

#include "freestone/freestone.h"
#include "tools/tensor/TensorSource.h"
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace freestone::bench {

/// A compiled model with its inputs, bound to instances.
class Subject {
public:
  /// `inputs` as for `freestone run --input`.
  Subject(const std::string &path, const std::vector<std::string> &inputs) : artifact(Artifact::load(path)) {
    for (const std::string &input : inputs)
      for (tools::NamedTensor &tensor : tools::readInputs(input))
        tensors.push_back(std::move(tensor));
  }

  Instance instance(int threads, uint32_t switchedOff = 0, freestone_timeline *timeline = nullptr) const {
    freestone_instance_options options = {};
    options.struct_size = sizeof(options);
    options.threads = threads;
    options.switched_off = switchedOff;
    options.timeline = timeline;
    Instance made(artifact, options);
    bind(made);
    return made;
  }

  /// Binds all inputs, as for a new batch.
  void bind(Instance &instance) const {
    std::vector<ValueInfo> inputs = artifact.inputs();
    for (const tools::NamedTensor &named : tensors) {
      auto isIt = [&](const ValueInfo &input) { return named.name.empty() || input.name == named.name; };
      size_t index = std::ranges::find_if(inputs, isIt) - inputs.begin();
      const tools::Tensor &tensor = named.tensor;
      auto bits = static_cast<uint8_t>(8 * tools::elementBytes(tensor.dtype()));
      uint8_t code = tools::isFloat(tensor.dtype()) ? kDLFloat : kDLInt;
      instance.setInput(index, TensorRef(tensor.data(), {code, bits, 1}, tensor.shape()));
    }
  }

private:
  Artifact artifact;
  std::vector<tools::NamedTensor> tensors;
};

inline double now() { return static_cast<double>(Timeline::now()) * 1e-9; }

inline double medianOf(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

inline freestone_counters countersOf(const Instance &instance) {
  freestone_counters counters = {};
  counters.struct_size = sizeof(counters);
  check(freestone_instance_counters(instance.get(), &counters));
  return counters;
}

} // namespace freestone::bench

#endif // FREESTONE_BENCH_OVERLAP_SUBJECT_H
