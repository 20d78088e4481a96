#ifndef FREESTONE_DISTRIBUTED_EXECUTE_PIPELINEDESCRIPTION_H
#define FREESTONE_DISTRIBUTED_EXECUTE_PIPELINEDESCRIPTION_H

#include "distributed/schedule/Communication.h"
#include "formats/TensorView.h"
#include "freestone/freestone.h"

namespace freestone::distributed {

/// An entry of a stage's artifact.
struct StagePort {
  int stage = 0;
  std::string entry;

  bool operator==(const StagePort &) const = default;
};

/// A value that goes from entry to entry: an output of one, an input of others, under the same name.
struct PipelineValue {
  std::string name;
  StagePort from;
  std::vector<StagePort> to;
};

/// A parameter that several stages read; `home` updates it.
struct SharedState {
  std::string name;
  int home = 0;
  std::vector<int> stages;
};

/// The stages of a training step, as the compiler describes them in each stage's artifact (`pipeline.json`, see
/// compiler/driver/PipelineText.h). Immutable.
struct PipelineDescription {
  int stages = 1;
  std::vector<std::string> symbols; ///< the sizes that `pipe/sizes` binds, in this order
  std::vector<ValueInfo> inputs;    ///< of the whole step
  std::vector<PipelineValue> values;
  std::vector<SharedState> shared;
  uint64_t hash = 0; ///< of the pipeline, the model and its training

  /// The edges between stages, with those of micro-batches alone.
  std::vector<StageEdge> edges() const;
  /// Values of the symbols for a batch of these fields. Throws Error where no field's shape
  /// tells one, or a dimension that is a multiple of a symbol is none.
  std::vector<int64_t> sizesOf(const std::vector<formats::TensorView> &fields) const;

  /// From any stage's artifact. Throws Error.
  static PipelineDescription read(const Artifact &stage);
};

/// Names of entries.
inline constexpr const char *forwardEntry = "forward", *recomputeEntry = "recompute", *backwardEntry = "backward",
                            *inputGradientEntry = "input_gradient", *weightGradientEntry = "weight_gradient",
                            *normsEntry = "norms", *updateEntry = "update", *evaluateEntry = "evaluate";

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_PIPELINEDESCRIPTION_H
