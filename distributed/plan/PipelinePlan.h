#ifndef FREESTONE_DISTRIBUTED_PLAN_PIPELINEPLAN_H
#define FREESTONE_DISTRIBUTED_PLAN_PIPELINEPLAN_H

#include "distributed/plan/PlannedSteps.h"
#include "distributed/plan/StageAssignment.h"

namespace freestone::distributed {

/// What a stage costs, for one micro-batch.
struct StagePlan {
  std::vector<int> ranks;
  std::string firstNode, lastNode;
  int nodes = 0;
  double forward = 0, backward = 0, weights = 0; ///< seconds; `weights`: the part of backward for their gradients
  double parameters = 0, kept = 0;               ///< bytes
  double received = 0, sent = 0;                 ///< bytes of activations from stages before, and to stages behind
};

/// A schedule that a training could have.
struct PlanCandidate {
  ScheduleKind schedule = ScheduleKind::OneFOneB;
  int stagesPerRank = 1;
  double time = 0;   ///< seconds of a step
  double bubble = 0; ///< the part of ranks × time in which ranks do not compute
  double memory = 0; ///< bytes of the rank that needs most; where it does not fit, the least that any stages need
  bool fits = true;
};

/// A pipeline as it is expected to run.
struct PipelinePlan {
  StageAssignment assignment;
  std::vector<StagePlan> stages;
  Schedule schedule; ///< with transfers: a step, or, with delay, several
  Simulation simulation;
  StepTime step;              ///< with delay, in the steady state
  std::vector<double> memory; ///< bytes of each rank: states, and what micro-batches under way keep
  double oneRank = 0;         ///< seconds of the step on one rank
  std::vector<PlanCandidate> candidates;
  int taken = 0; ///< the number of the candidate

  double largestMemory() const;
};

/// Chooses stages for a profile, and their schedule, by simulating a step: the fastest that keeps to the memory; among
/// equals, the one that needs least of it, then the first of 1F1B, eager 1F1B, GPipe, ZB-H1 and interleaved. Throws
/// Error, which tells how much memory would be enough, without and with recomputation.
PipelinePlan planPipeline(const Profile &profile, const PlanOptions &options);

/// The plan for people: the schedules that were compared, a line for every stage, a drawing of the schedule, and a line
/// for every rank.
std::string printPlan(const PipelinePlan &plan);
/// "schedule zb-h1, 4 stages: a step of 12.30 ms, a bubble of 8.2 % and at most 31.25 MiB a rank are expected"
std::string describePlan(const PipelinePlan &plan);

/// "512.00 MiB"
std::string printBytes(double bytes);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PLAN_PIPELINEPLAN_H
