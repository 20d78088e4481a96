#ifndef FREESTONE_DISTRIBUTED_EXECUTE_RANKSCHEDULES_H
#define FREESTONE_DISTRIBUTED_EXECUTE_RANKSCHEDULES_H

#include "distributed/execute/PipelineDescription.h"
#include "distributed/schedule/StageNeeds.h"
#include "distributed/schedule/StepStream.h"
#include "distributed/simulate/Simulation.h"
#include "distributed/transport/Courier.h"
#include "train/step/Trainer.h"
#include <map>
#include <optional>

namespace freestone::distributed {

/// How the ranks of a training work together, on which all agree.
struct PipelineOptions {
  ScheduleKind schedule = ScheduleKind::OneFOneB;
  int ranks = 1;
  int replicas = 1;       ///< of every stage
  std::vector<int> replicasOf = {}; ///< of each stage, where they differ; else empty
  int microBatches = 1;   ///< of each batch; fewer if a batch has fewer samples
  bool recompute = false; ///< stages compute their forward passes anew, for their gradients
  /// Of PipeDream: all stages use the version of weights that the first stage has used.
  bool verticalSync = false;
  /// Of delayed schedules: backward passes read the weights of their forward passes. Without it they read the newest
  /// ones, which gives gradients of no weights at all.
  bool stashesWeights = true;
  uint64_t seed = 0;
  train::Execution execution = {}; ///< of one rank
  CourierOptions courier = {};

  int stagesPerRank(int stages) const { return replicasOf.empty() ? stages * replicas / ranks : 1; }
};

/// The options of a step's schedule with so many micro-batches on these stages.
ScheduleOptions scheduleOptionsOf(const PipelineOptions &options, int stages, int microBatches);

/// The schedules of a training's steps: with transfers, verified, and simulated, so that no rank waits for ever.
class RankSchedules {
public:
  /// Both must outlive it. Throws Error for options that do not fit each other or the stages.
  RankSchedules(const PipelineDescription &pipeline, const PipelineOptions &options);

  bool isDelayed() const { return stream.has_value(); }
  bool stashesWeights() const { return options.stashesWeights; }
  /// Of a delayed schedule: the version of its weights that a stage uses for a micro-batch, both from the last flush
  /// on.
  int versionOf(int stage, int microBatch) const { return stream->versionOf(stage, microBatch); }
  int microBatches() const { return options.microBatches; }
  /// The ranks of each stage.
  const std::vector<std::vector<int>> &places() const { return usual().ranksOf; }
  /// Of a step with the usual number of micro-batches; of a delayed schedule, as many steps as show all that it has.
  const Schedule &usual() const { return typical; }
  const std::vector<StageNeeds> &usualNeeds() const { return typicalNeeds; }

  /// The schedule of one step without delay; without updates, of a batch whose gradients are added to the next ones.
  const Schedule &step(int microBatches, bool updates);
  /// A step without delay, with updates, as it should run.
  Simulation simulate(int microBatches, const Costs &costs) {
    return distributed::simulate(step(microBatches, /*updates=*/true), pipeline.edges(), costs);
  }
  /// Only of a delayed schedule.
  const StepStream &steps() const { return *stream; }
  /// The most steps of a delayed schedule whose data are in use at a time.
  int depth() const { return isDelayed() ? pipeline.stages + 2 : 1; }

private:
  void prove(const Schedule &schedule) const;

  const PipelineDescription &pipeline;
  const PipelineOptions &options;
  std::optional<StepStream> stream;
  Schedule typical;
  std::vector<StageNeeds> typicalNeeds;
  std::map<std::pair<int, bool>, Schedule> known; ///< by micro-batches, and whether they update
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_RANKSCHEDULES_H
