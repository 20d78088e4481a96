// Training by the stages of a pipeline: its options, and its compiled stages.
#ifndef FREESTONE_TOOLS_FREESTONE_PIPELINETRAINING_H
#define FREESTONE_TOOLS_FREESTONE_PIPELINETRAINING_H

#include "distributed/execute/PipelineTrainer.h"
#include "tools/freestone/ModelCache.h"
#include <CLI/CLI.hpp>

namespace freestone::tools {

/// The options of a pipeline.
struct PipelineArguments {
  std::optional<int64_t> ranks, microBatches, stagesPerRank;
  std::string schedule;

  void addTo(CLI::App &verb);
  /// Whether any of them was given: the step is then one of a pipeline.
  bool given() const { return ranks || microBatches || stagesPerRank || !schedule.empty(); }
  /// Throws Failure (usage) for options that contradict each other.
  distributed::PipelineOptions resolve() const;
  int stages() const;

private:
  distributed::ScheduleKind kind() const;
};

/// The compiled stages of a step.
struct PipelineStages {
  std::vector<cache::Entry> entries; ///< which hold the artifacts' files
  std::vector<Artifact> artifacts;
  int compiled = 0; ///< those that were not in the cache
  double seconds = 0;
};

/// Chooses the stages by the predicted times of the model's operations, and compiles all of them. `step` is the
/// training step in the compiler's JSON, with the other .onnx files that it names. Throws as ModelCache does.
PipelineStages compileStages(ModelCache &models, const std::string &model, const std::string &step,
                             const std::vector<std::string> &graphs, const PipelineArguments &arguments);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_PIPELINETRAINING_H
