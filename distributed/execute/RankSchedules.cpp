#include "distributed/execute/RankSchedules.h"

#include "distributed/Error.h"
#include "distributed/schedule/VerifySchedule.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::distributed {

ScheduleOptions scheduleOptionsOf(const PipelineOptions &options, int stages, int microBatches) {
  ScheduleOptions wanted;
  wanted.kind = options.schedule;
  wanted.microBatches = microBatches;
  wanted.recompute = options.recompute;
  wanted.verticalSync = options.verticalSync;
  wanted.chunks = options.stagesPerRank(stages);
  wanted.replicas = options.replicasOf;
  if (wanted.replicas.empty())
    wanted.replicas.assign(stages / wanted.chunks, options.replicas);
  return wanted;
}

RankSchedules::RankSchedules(const PipelineDescription &pipeline, const PipelineOptions &options)
    : pipeline(pipeline), options(options) {
  if (!freestone::distributed::isDelayed(options.schedule)) {
    typical = step(options.microBatches, /*updates=*/true);
    typicalNeeds = countNeeds(typical);
    return;
  }
  ScheduleOptions wanted = scheduleOptionsOf(options, pipeline.stages, options.microBatches);
  if (!pipeline.shared.empty() && !options.stashesWeights)
    throw Error(fmt::format("stages {} and {} share '{}', which needs the weights of forward passes: leave out "
                            "--no-weight-stashing",
                            pipeline.shared.front().stages.front(), pipeline.shared.front().stages.back(),
                            pipeline.shared.front().name));
  stream.emplace(std::move(wanted), pipeline.edges());
  typical = stream->whole(stream->period());
  typicalNeeds = countNeeds(typical);
  if (!options.stashesWeights)
    for (StageNeeds &needs : typicalNeeds)
      needs.versions = 1;
  prove(typical);
}

void RankSchedules::prove(const Schedule &schedule) const {
  Costs costs;
  costs.stages.resize(pipeline.stages);
  if (Simulation simulated = distributed::simulate(schedule, pipeline.edges(), costs); !simulated.deadlock.empty())
    throw Error("the schedule's ranks would wait for each other for ever:\n" + simulated.deadlock);
}

const Schedule &RankSchedules::step(int microBatches, bool updates) {
  auto [found, isNew] = known.try_emplace({microBatches, updates});
  Schedule &schedule = found->second;
  if (!isNew)
    return schedule;
  ScheduleOptions wanted = scheduleOptionsOf(options, pipeline.stages, microBatches);
  // A smaller batch between flushes.
  if (freestone::distributed::isDelayed(wanted.kind))
    wanted.kind = ScheduleKind::OneFOneB;
  schedule = generate(wanted);
  verifySchedule(schedule);
  if (!updates)
    for (std::vector<Action> &list : schedule.ranks)
      std::erase_if(list, [](const Action &action) {
        return action.kind == ActionKind::Reduce || action.kind == ActionKind::Exchange ||
               action.kind == ActionKind::Update;
      });
  addTransfers(schedule, pipeline.edges());
  prove(schedule);
  return schedule;
}

} // namespace freestone::distributed
