#ifndef FREESTONE_TRAIN_STEP_STEPENTRY_H
#define FREESTONE_TRAIN_STEP_STEPENTRY_H

#include "freestone/freestone.h"
#include "train/data/Loader.h"
#include "train/step/Trainer.h"

namespace freestone::train {

/// An entry of an artifact, instantiated on a state, with its values by name. Not thread-safe.
struct StepEntry {
  StepEntry(const Artifact &artifact, const char *name, const State &state, const Execution &execution);

  std::optional<size_t> findInput(const std::string &name) const;
  std::optional<size_t> findOutput(const std::string &name) const;
  bool hasOutput(const std::string &name) const { return findOutput(name).has_value(); }
  /// The value of an output with one element. Throws Error if there is no such output.
  double scalar(const std::string &name) const;
  /// Binds the inputs that are fields of a batch, in place.
  void setData(std::span<const formats::TensorView> fields);
  /// Binds an input, if the entry has it; `value` must stay where it is.
  void setNumber(const std::string &name, double *value);
  void setNumber(const std::string &name, int64_t *value);

  Instance instance;
  std::vector<ValueInfo> inputs, outputs;
};

/// Reads the results of a step from the entry that has updated.
void readMetrics(const StepEntry &entry, const StepDescription &description, StepMetrics &metrics);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_STEP_STEPENTRY_H
