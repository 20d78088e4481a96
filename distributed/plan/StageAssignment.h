#ifndef FREESTONE_DISTRIBUTED_PLAN_STAGEASSIGNMENT_H
#define FREESTONE_DISTRIBUTED_PLAN_STAGEASSIGNMENT_H

#include "distributed/partition/ChainPartition.h"
#include "distributed/plan/PlanOptions.h"
#include <map>
#include <optional>

namespace freestone::distributed {

/// Nodes on stages, and stages on ranks.
struct StageAssignment {
  std::vector<int> stageOf;  ///< of every node of the profile
  std::vector<int> replicas; ///< of each stage; of an interleaved schedule, of those in one round of the ranks
  /// What PipeDream's optimizer has found, where its rules were asked for.
  std::optional<Partition> partition = {};
};

/// Finds stages for schedules. Not thread-safe.
class StageFinder {
public:
  /// Both must outlive it.
  StageFinder(const Profile &profile, const PlanOptions &options) : profile(profile), options(options) {}

  /// The stages that a schedule could have, which a simulation has to compare: the slowest stage decides the time of
  /// many micro-batches, but not of few. Under PipeDream's rules, those of its optimizer alone; else its stages with
  /// work too, so that none of them is faster than what is taken. Each keeps to the memory as its partitioner counts
  /// it. Throws Error and NothingFits.
  std::vector<StageAssignment> find(ScheduleKind schedule, int stagesPerRank);

  /// The least memory of a rank with which there are consecutive stages.
  double leastMemory(ScheduleKind schedule, int stagesPerRank) const;

private:
  ChainOptions chainOptions(ScheduleKind schedule, int stagesPerRank) const;
  PartitionOptions partitionOptions(ScheduleKind schedule, CostRules rules, const std::vector<Level> &levels) const;
  bool isPipedreams() const { return options.rules == CostRules::Pipedream; }
  std::vector<double> workOf(const StageAssignment &assignment) const;
  StageAssignment withoutIdleStages(StageAssignment assignment) const;
  void findStates();
  void addChains(ChainOptions chain, std::vector<StageAssignment> &found);
  void addPartition(ScheduleKind schedule, CostRules rules, std::vector<StageAssignment> &found);

  const Profile &profile;
  const PlanOptions &options;
  std::optional<std::vector<Frontier>> frontiers; ///< empty: too many to be compared
  // Without a limit of memory, the same for all schedules.
  std::map<CostRules, StageAssignment> unlimited;
  std::map<int, std::vector<StageAssignment>> unlimitedChains; ///< by stages
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PLAN_STAGEASSIGNMENT_H
