#ifndef FREESTONE_DISTRIBUTED_EXECUTE_RANKSERVICE_H
#define FREESTONE_DISTRIBUTED_EXECUTE_RANKSERVICE_H

#include "distributed/execute/RankData.h"
#include "distributed/execute/RankExecutor.h"
#include "distributed/execute/RankShards.h"
#include "distributed/execute/RankStates.h"
#include "distributed/schedule/Generate.h"
#include "distributed/transport/ParcelLine.h"

namespace freestone::distributed {

/// What all ranks of a training agree on.
struct PipelineOptions {
  ScheduleKind schedule = ScheduleKind::OneFOneB;
  int ranks = 1;
  int microBatches = 1; ///< of each batch; fewer if a batch has fewer samples
  uint64_t seed = 0;
  train::Execution execution = {}; ///< of one rank
  CourierOptions courier = {};
};

/// The schedules of steps, by their numbers of micro-batches: with transfers, verified, and simulated, so that no rank
/// waits for ever.
class PlannedSchedules {
public:
  PlannedSchedules(const PipelineDescription &pipeline, const PipelineOptions &options)
      : pipeline(pipeline), options(options) {}
  /// Throws Error.
  const Schedule &get(int microBatches);

private:
  const PipelineDescription &pipeline;
  const PipelineOptions &options;
  std::map<int, Schedule> schedules;
};

/// The parts of a batch of so many samples: each has ⌈samples / count⌉ of them, the last one may have fewer.
std::vector<MicroBatch> splitBatch(const std::vector<formats::TensorView> &fields, int64_t samples, int count);

/// One rank with what its stages need. The numbers of the step are bound to its stages, and may be set between steps.
struct PipelineRank {
  /// `artifacts`: see RankExecutor. All must outlive it. `courier` may be null if there is one rank.
  PipelineRank(int rank, const std::vector<std::optional<Artifact>> &artifacts, const PipelineDescription &pipeline,
               const train::StepDescription &about, const PipelineOptions &options, Courier *courier);

  std::map<std::string, double> numbers;
  int64_t seed;
  PlannedSchedules schedules;
  RankExecutor executor;
  RankStates states;
};

/// A rank other than the first one, which tells it what to do.
class RankService {
public:
  /// See PipelineRank. `openData` must be callable as long as it serves.
  RankService(int rank, const std::vector<std::optional<Artifact>> &artifacts, const PipelineDescription &pipeline,
              const train::StepDescription &about, const PipelineOptions &options, Courier &courier, OpenData openData);

  /// Does what rank 0 says until the training ends. Throws Error and freestone::Error; the job then has to be ended.
  void serve();

private:
  StepWork workOf(const Parcel &command, train::DataUse use);
  void train(const Parcel &command);
  void evaluate(const Parcel &command);
  void look(const std::string &folder);

  PipelineRank own;
  ParcelLine line;
  ShardWriter shards;
  RankData data;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_RANKSERVICE_H
