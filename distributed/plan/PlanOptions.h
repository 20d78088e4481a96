#ifndef FREESTONE_DISTRIBUTED_PLAN_PLANOPTIONS_H
#define FREESTONE_DISTRIBUTED_PLAN_PLANOPTIONS_H

#include "distributed/plan/Links.h"
#include "distributed/schedule/Schedule.h"
#include <optional>

namespace freestone::distributed {

struct PlanOptions {
  std::optional<ScheduleKind> schedule; ///< nothing: any without delay
  int stagesPerRank = 2;                ///< of an interleaved schedule
  int ranks = 1;
  int replicas = 1;           ///< of every stage; not with mayReplicate
  int microBatches = 1;       ///< of a step, for all replicas together
  bool recompute = false;     ///< stages compute their forward passes anew, for their gradients
  bool verticalSync = false;  ///< of PipeDream
  bool stashesWeights = true; ///< of delayed schedules: versions of weights are kept for backward passes
  Links links;                ///< of all ranks
  CostRules rules = CostRules::Overlapping;
  bool mayReplicate = false;     ///< stages may have several ranks, each of which takes every so many micro-batches
  double statesPerParameter = 4; ///< bytes kept for a byte of parameters: itself, its gradient, the optimizer's moments
  double memory = std::numeric_limits<double>::infinity(); ///< bytes of a rank

  /// Stages in one round of the ranks, where all have as many replicas.
  int places() const { return ranks / replicas; }
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PLAN_PLANOPTIONS_H
