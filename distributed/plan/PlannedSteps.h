#ifndef FREESTONE_DISTRIBUTED_PLAN_PLANNEDSTEPS_H
#define FREESTONE_DISTRIBUTED_PLAN_PLANNEDSTEPS_H

#include "distributed/plan/PlanOptions.h"
#include "distributed/schedule/StageNeeds.h"
#include "distributed/simulate/Simulation.h"

namespace freestone::distributed {

/// The steps that a plan simulates, without transfers: one, or, with delay, as many as fill the pipeline, show its
/// steady state, and empty it. `replicas`: of each stage, or of those in one round of the ranks. Throws Error.
Schedule planSteps(const PlanOptions &options, ScheduleKind kind, std::vector<int> replicas, int stagesPerRank);

/// Of the stages of planned steps.
std::vector<StageNeeds> plannedNeeds(const PlanOptions &options, const Schedule &steps);

/// One step among others.
struct StepTime {
  double seconds = 0;
  double bubble = 0; ///< the part of ranks × seconds in which ranks do not compute
};

/// Of planned steps: with delay, in the steady state.
StepTime timeStep(const Schedule &steps, const Simulation &simulation);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PLAN_PLANNEDSTEPS_H
