#ifndef FREESTONE_DISTRIBUTED_PLAN_PIPELINECHOICE_H
#define FREESTONE_DISTRIBUTED_PLAN_PIPELINECHOICE_H

#include "distributed/plan/PipelinePlan.h"

namespace freestone::distributed {

/// What the ranks of a training must have alike before they compile: rank 0 decides, since machines predict and measure
/// differently.
struct PipelineChoice {
  std::vector<int> stageOf; ///< of every node of the forward pass; empty: one stage
  int stages = 1;
  std::vector<int> replicas; ///< of each stage; empty: one, or those of an interleaved schedule
  ScheduleKind schedule = ScheduleKind::OneFOneB;
  std::string rates; ///< of rank 0's machine, for which all compile (cache/MachineRates.h); empty: estimated

  /// Of a plan; without rates.
  static PipelineChoice of(const PipelinePlan &plan);
  std::string print() const;
  /// Throws Error.
  static PipelineChoice read(const std::string &json);

  bool operator==(const PipelineChoice &) const = default;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PLAN_PIPELINECHOICE_H
