// A pipeline of the hand-written stages `Stage`, which sleep for chosen times, without the compiler.
#ifndef FREESTONE_TEST_DISTRIBUTED_STAGEPIPELINE_H
#define FREESTONE_TEST_DISTRIBUTED_STAGEPIPELINE_H

#include "distributed/execute/LocalRanks.h"
#include "distributed/execute/PipelineTrainer.h"

namespace freestone::test {

/// What each entry of a stage takes, in nanoseconds.
struct StageTimes {
  int64_t forward = 0, backward = 0, inputGradient = 0, weightGradient = 0, norms = 0, update = 0;

  /// In seconds, for a simulation.
  distributed::StageCost cost(bool isSplit) const;
};

/// The stages' artifacts and descriptions. Activations are 1 KiB for each sample.
struct StagePipeline {
  /// `isSplit`: with backward passes in two halves. `layers`: besides, each stage has so many gradients of 256 KiB,
  /// which are done one after another in equal parts of its backward pass.
  StagePipeline(const std::vector<StageTimes> &times, bool isSplit, int layers = 0);

  std::vector<std::optional<Artifact>> artifacts;
  train::StepDescription about;
};

/// The data of a step, from 0 on.
std::vector<float> samplesOf(int64_t step, int64_t samples);

/// A training of these stages over ranks that are threads.
class StageTraining {
public:
  StageTraining(const StagePipeline &stages, const distributed::PipelineOptions &options,
                distributed::Disturbance disturbance = {});

  /// Trains on a batch of so many samples; its data follow from the number of the step.
  void step(int64_t samples);
  /// The metrics of all steps so far; their losses tell apart any other bits of gradients or weights.
  const std::vector<train::StepMetrics> &finish();
  distributed::Courier *courier() { return ranks.courier(); }
  distributed::PipelineTrainer &trainer() { return *made; }

private:
  std::vector<std::vector<float>> data; ///< of the last steps, in turns
  distributed::LocalRanks ranks;
  std::unique_ptr<distributed::PipelineTrainer> made;
  int64_t steps = 0;
  std::vector<train::StepMetrics> metrics;
};

} // namespace freestone::test

#endif // FREESTONE_TEST_DISTRIBUTED_STAGEPIPELINE_H
