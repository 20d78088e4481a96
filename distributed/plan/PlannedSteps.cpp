#include "distributed/plan/PlannedSteps.h"

#include "distributed/schedule/Generate.h"
#include <algorithm>
#include <map>
#include <numeric>

namespace freestone::distributed {

/// Of the steps with delay: one part fills the pipeline, two are the steady state, and one empties it.
static constexpr int parts = 4;

Schedule planSteps(const PlanOptions &options, ScheduleKind kind, std::vector<int> replicas, int stagesPerRank) {
  ScheduleOptions wanted;
  wanted.kind = kind;
  wanted.microBatches = options.microBatches;
  wanted.chunks = stagesPerRank;
  wanted.recompute = options.recompute;
  wanted.verticalSync = options.verticalSync;
  wanted.replicas = std::move(replicas);
  if (isDelayed(kind)) {
    // No more micro-batches are under way than there are ranks; slow links make few of them irregular.
    constexpr int fewest = 16;
    int filling = (std::max(options.ranks, fewest) + options.microBatches - 1) / options.microBatches + 1;
    wanted.steps = parts * filling;
  }
  return generate(wanted);
}

std::vector<StageNeeds> plannedNeeds(const PlanOptions &options, const Schedule &steps) {
  std::vector<StageNeeds> needs = countNeeds(steps);
  if (!options.stashesWeights)
    for (StageNeeds &need : needs)
      need.versions = 1;
  return needs;
}

/// From the end of a step's last gradients on the first rank to that of a later step: the first stage ends last.
static double steadySeconds(const Schedule &steps, const Simulation &simulation) {
  std::map<int, double> ends; ///< by step
  for (const Event &event : simulation.ranks.front())
    if (event.action.kind == ActionKind::Backward)
      ends[event.action.microBatch / steps.microBatches] = event.end;
  int part = steps.steps / parts;
  auto first = ends.lower_bound(part), last = std::prev(ends.lower_bound((parts - 1) * part));
  return (last->second - first->second) / (last->first - first->first);
}

StepTime timeStep(const Schedule &steps, const Simulation &simulation) {
  double seconds = steps.steps > 1 ? steadySeconds(steps, simulation) : simulation.makespan;
  double busy = std::accumulate(simulation.busy.begin(), simulation.busy.end(), 0.0) / steps.steps;
  double total = seconds * static_cast<double>(steps.ranks.size());
  return {seconds, total > 0 ? std::max(0.0, (total - busy) / total) : 0};
}

} // namespace freestone::distributed
