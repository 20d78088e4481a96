#ifndef FREESTONE_DISTRIBUTED_EXECUTE_LOCALRANKS_H
#define FREESTONE_DISTRIBUTED_EXECUTE_LOCALRANKS_H

#include "distributed/execute/RankService.h"
#include "distributed/transport/LocalTransport.h"
#include <thread>

namespace freestone::distributed {

/// The ranks of a pipeline as threads of this process, but for rank 0, which is the caller's.
class LocalRanks {
public:
  /// `artifacts` are those of all stages, and must outlive it. `openData` is called by several threads.
  LocalRanks(const std::vector<std::optional<Artifact>> &artifacts, const train::StepDescription &about,
             const PipelineOptions &options, OpenData openData, Disturbance disturbance = {});
  /// Waits for the ranks, which rank 0 must have ended, or ends them.
  ~LocalRanks();

  /// Of rank 0; null if it is the only one.
  Courier *courier() { return couriers.empty() ? nullptr : couriers.front().get(); }

private:
  PipelineDescription pipeline;
  const train::StepDescription about;
  const PipelineOptions options;
  std::vector<std::unique_ptr<Transport>> transports;
  std::vector<std::unique_ptr<Courier>> couriers;
  std::vector<std::jthread> threads;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_LOCALRANKS_H
