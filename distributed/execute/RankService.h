#ifndef FREESTONE_DISTRIBUTED_EXECUTE_RANKSERVICE_H
#define FREESTONE_DISTRIBUTED_EXECUTE_RANKSERVICE_H

#include "distributed/execute/RankData.h"
#include "distributed/execute/RankExecutor.h"
#include "distributed/execute/RankShards.h"
#include "distributed/execute/RankStates.h"
#include "distributed/transport/ParcelLine.h"

namespace freestone::distributed {

/// The parts of a batch of so many samples: each has ⌈samples / count⌉ of them, the last one may have fewer.
std::vector<MicroBatch> splitBatch(const std::vector<formats::TensorView> &fields, int64_t samples, int count);

/// One rank with what its stages need.
struct PipelineRank {
  /// `artifacts`: see RankExecutor. All must outlive it. `courier` may be null if there is one rank.
  PipelineRank(int rank, const std::vector<std::optional<Artifact>> &artifacts, const PipelineDescription &pipeline,
               const train::StepDescription &about, const PipelineOptions &options, Courier *courier);

  int64_t seed;
  RankSchedules schedules;
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
  void settleReport();

  PipelineRank own;
  Courier &courier;
  ParcelLine line;
  uint64_t model;
  RankReport report;
  std::optional<Ticket> reporting;
  ShardWriter shards;
  RankData data;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_RANKSERVICE_H
