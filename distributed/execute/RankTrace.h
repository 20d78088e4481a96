#ifndef FREESTONE_DISTRIBUTED_EXECUTE_RANKTRACE_H
#define FREESTONE_DISTRIBUTED_EXECUTE_RANKTRACE_H

#include "distributed/execute/RankActivity.h"
#include "distributed/execute/RankService.h"
#include "distributed/simulate/Simulation.h"
#include "distributed/transport/ParcelLine.h"

namespace freestone::distributed {

/// A rank's own time line, which the file of rank 0 will show. Throws freestone::Error.
Timeline makeRankTimeline();

/// The times of a rank's compute actions.
nlohmann::json printTimes(const RankActivity &activity);
/// The mean times of all stages in seconds, from those of all ranks.
Costs meanCosts(const std::vector<nlohmann::json> &ranks, int stages);

/// When a step began on rank 0, in nanoseconds of its clock.
struct TracedStep {
  int64_t number = 0;
  int64_t begin = 0;
  int microBatches = 1;
};

/// Of rank 0: asks all ranks for their time lines, and adds them to its own, with the passes as a simulation by the
/// mean times plans them beside the measured ones. Clocks of other machines are compared by the fastest of some
/// messages.
class TraceGatherer {
public:
  TraceGatherer(const RankActivity &activity, RankSchedules &schedules, int stages)
      : activity(activity), schedules(schedules), stages(stages) {}

  /// Makes rank 0 the first of the file's processes; times count from here on.
  void begin(int ranks);
  void addStep(const TracedStep &step) { steps.push_back(step); }
  void gather(const std::vector<ParcelLine *> &lines);

private:
  const RankActivity &activity;
  RankSchedules &schedules;
  int stages;
  int64_t origin = 0;
  std::vector<TracedStep> steps;
};

/// Of other ranks: what they answer to rank 0's commands.
nlohmann::json readClock();
void sendTrace(const nlohmann::json &command, int rank, const RankActivity &activity, RankSchedules &schedules,
               ParcelLine &line);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_RANKTRACE_H
