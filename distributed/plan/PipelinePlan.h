#ifndef FREESTONE_DISTRIBUTED_PLAN_PIPELINEPLAN_H
#define FREESTONE_DISTRIBUTED_PLAN_PIPELINEPLAN_H

#include "distributed/partition/Partition.h"
#include "distributed/schedule/Generate.h"
#include "distributed/simulate/Simulation.h"

namespace freestone::distributed {

/// The links between ranks, and how the ranks are placed: those of a machine first.
struct Links {
  std::vector<Level> levels; ///< from the innermost one outwards
  double latency = 0;        ///< seconds until the first byte of a message arrives

  /// Bytes a second between two ranks: of the innermost level that has both.
  double between(int rank, int other) const;
  /// One machine with so many ranks.
  static Links oneMachine(int ranks);
  /// From JSON: {"latency": 1e-5, "levels": [{"ranks": 8, "bytes_per_second": 5e10}, {"ranks": 4, …}]}; the product of
  /// `ranks` is their number. Throws Error.
  static Links parse(const std::string &json);
};

struct PlanOptions {
  ScheduleKind schedule = ScheduleKind::Eager;
  int ranks = 1;
  int stagesPerRank = 1; ///< of an interleaved schedule
  int microBatches = 1;
  Links links;
  CostRules rules = CostRules::Overlapping;
  bool mayReplicate = false;     ///< stages may have several ranks, each of which takes every so many micro-batches
  double statesPerParameter = 4; ///< bytes kept for a byte of parameters: itself, its gradient, the optimizer's moments
};

/// What a stage costs, for one micro-batch.
struct StagePlan {
  std::vector<int> ranks;
  std::string firstNode, lastNode;
  int nodes = 0;
  double forward = 0, backward = 0; ///< seconds
  double parameters = 0, kept = 0;  ///< bytes
  double received = 0;              ///< bytes of activations from stages before
};

/// A pipeline as it is expected to run.
struct PipelinePlan {
  std::vector<int> stageOf; ///< of every node of the profile
  std::vector<StagePlan> stages;
  Schedule schedule; ///< with transfers
  Simulation simulation;
  std::vector<double> memory; ///< bytes of each rank: states, and what micro-batches under way keep
  double oneRank = 0;         ///< seconds of the step on one rank
};

/// Chooses stages for a profile, and simulates a step. Without replicas, stages are consecutive nodes. Throws Error.
PipelinePlan planPipeline(const Profile &profile, const PlanOptions &options);

/// The plan for people: a line for every stage, a drawing of the schedule, and a line for every rank.
std::string printPlan(const PipelinePlan &plan);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PLAN_PIPELINEPLAN_H
