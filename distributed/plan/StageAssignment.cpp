#include "distributed/plan/StageAssignment.h"

#include "distributed/partition/NothingFits.h"
#include "distributed/plan/PlannedSteps.h"
#include <algorithm>
#include <fmt/format.h>
#include <span>

namespace freestone::distributed {

constexpr double unlimitedMemory = std::numeric_limits<double>::infinity();

ChainOptions StageFinder::chainOptions(ScheduleKind schedule, int stagesPerRank) const {
  ChainOptions chain;
  chain.stages = options.places() * stagesPerRank;
  chain.bytesPerSecond = options.links.levels.back().bytesPerSecond;
  chain.memory = options.memory / stagesPerRank; // an equal share for each stage of a rank
  chain.statesPerParameter = options.statesPerParameter;
  if (options.memory < unlimitedMemory) {
    std::vector<int> replicas(options.places(), options.replicas);
    chain.needs = plannedNeeds(options, planSteps(options, schedule, std::move(replicas), stagesPerRank));
  }
  return chain;
}

PartitionOptions StageFinder::partitionOptions(ScheduleKind schedule, CostRules rules,
                                               const std::vector<Level> &levels) const {
  PartitionOptions wanted{levels, rules, !options.mayReplicate};
  wanted.memory = options.memory;
  wanted.statesPerParameter = options.statesPerParameter;
  if (isDelayed(schedule) && !isPipedreams())
    wanted.dealt = options.microBatches / options.replicas;
  wanted.needs = [this, schedule](int behind, int replicas) {
    int together = replicas * options.replicas, depth = (behind + replicas - 1) / replicas;
    int most = isDelayed(schedule) ? std::numeric_limits<int>::max() : (options.microBatches + together - 1) / together;
    bool isSplit = schedule == ScheduleKind::ZeroBubble, keepsAll = schedule == ScheduleKind::GPipe;
    int usual = keepsAll ? most : isSplit ? options.ranks : schedule == ScheduleKind::Eager ? 2 * depth + 1 : depth + 1;
    StageNeeds needs{std::min(most, usual)};
    // Where the backward pass follows the forward pass, nothing is recomputed.
    if (options.recompute && (depth > 0 || keepsAll))
      needs.recomputed = isSplit ? needs.kept : 1;
    if (schedule == ScheduleKind::DoubleBuffered)
      needs.sums = 2;
    if (isDelayed(schedule) && options.stashesWeights)
      needs.versions = (schedule == ScheduleKind::PipeDream ? depth : std::min(depth, 1)) + 1;
    return needs;
  };
  return wanted;
}

std::vector<double> StageFinder::workOf(const StageAssignment &assignment) const {
  std::vector<double> work(assignment.replicas.size());
  for (size_t node = 0; node < profile.nodes.size(); ++node)
    work[assignment.stageOf[node]] += profile.nodes[node].time();
  return work;
}

/// The nodes of a stage without work join the stage before, or, of the first one, the next; its ranks are left over.
StageAssignment StageFinder::withoutIdleStages(StageAssignment assignment) const {
  std::vector<double> work = workOf(assignment);
  std::vector<int> newOf, replicas;
  for (size_t stage = 0; stage < work.size(); ++stage) {
    if (work[stage] > 0)
      replicas.push_back(assignment.replicas[stage]);
    newOf.push_back(std::max(0, static_cast<int>(replicas.size()) - 1));
  }
  for (int &stage : assignment.stageOf)
    stage = newOf[stage];
  assignment.replicas = std::move(replicas);
  return assignment;
}

void StageFinder::findStates() {
  // Consecutive stages are enough for a model that branches too much.
  constexpr size_t mostStates = 20000, mostCompared = 600;
  bool isNeeded = options.mayReplicate || isPipedreams();
  try {
    frontiers = findFrontiers(profile, isNeeded ? mostStates : mostCompared);
  } catch (const Error &) {
    if (isNeeded)
      throw;
    frontiers.emplace();
  }
}

/// Consecutive nodes.
void StageFinder::addChains(ChainOptions chain, std::vector<StageAssignment> &found) {
  std::vector<StageAssignment> &known = unlimitedChains[chain.stages];
  if (known.empty() || options.memory < unlimitedMemory) {
    known.clear();
    for (ChainTies ties : {ChainTies::FewestBytes, ChainTies::MostEven})
      try {
        chain.ties = ties;
        known.push_back({partitionChain(profile, chain), std::vector<int>(options.places(), options.replicas)});
      } catch (const NothingFits &) {
      }
  }
  found = known;
}

static StageAssignment assignmentOf(const std::vector<Frontier> &frontiers, Partition partition) {
  // Ranks of replicas of outer levels multiply: a stage of the innermost level is copied as often as what contains it.
  std::vector<PlannedStage> stages = partition.stages.front();
  for (PlannedStage &stage : stages)
    for (const std::vector<PlannedStage> &outer : std::span(partition.stages).subspan(1))
      for (const PlannedStage &around : outer)
        if (around.begin <= stage.begin && stage.end <= around.end)
          stage.replicas *= around.replicas;
  StageAssignment assignment{stagesOfNodes(frontiers, stages), {}, std::move(partition)};
  for (const PlannedStage &stage : stages)
    assignment.replicas.push_back(stage.replicas);
  return assignment;
}

/// Stages of the optimizer for hierarchies.
void StageFinder::addPartition(ScheduleKind schedule, CostRules rules, std::vector<StageAssignment> &found) {
  std::optional<Links> links = options.links.betweenGroups(options.replicas);
  if (!links)
    return;
  auto known = unlimited.find(rules);
  if (known == unlimited.end()) {
    try {
      StageAssignment made =
          assignmentOf(*frontiers, findPartition(*frontiers, partitionOptions(schedule, rules, links->levels)));
      for (int &replicas : made.replicas)
        replicas *= options.replicas;
      if (!isPipedreams())
        made.partition.reset();
      known = unlimited.emplace(rules, std::move(made)).first;
    } catch (const NothingFits &) {
      return;
    }
  }
  bool isWhole = isPipedreams() || std::ranges::min(workOf(known->second)) > 0;
  if (isWhole || options.mayReplicate)
    found.push_back(isWhole ? known->second : withoutIdleStages(known->second));
  if (options.memory < unlimitedMemory)
    unlimited.erase(known);
}

std::vector<StageAssignment> StageFinder::find(ScheduleKind schedule, int stagesPerRank) {
  std::vector<StageAssignment> found;
  if (!options.mayReplicate && !isPipedreams())
    addChains(chainOptions(schedule, stagesPerRank), found);
  if (!frontiers)
    findStates();
  if (stagesPerRank == 1 && !frontiers->empty()) {
    if (!isPipedreams())
      addPartition(schedule, CostRules::Overlapping, found);
    addPartition(schedule, CostRules::Pipedream, found);
  }
  bool isDealt = isDelayed(schedule) && options.mayReplicate;
  if (found.empty() && isDealt && options.memory == unlimitedMemory)
    throw Error(fmt::format("'{}' deals the {} micro-batches of a step evenly to the replicas of a stage, which no "
                            "stages on {} ranks can have: choose more --micro-batches",
                            nameOf(schedule), options.microBatches, options.ranks));
  if (found.empty())
    throw NothingFits();
  return found;
}

double StageFinder::leastMemory(ScheduleKind schedule, int stagesPerRank) const {
  ChainOptions chain = chainOptions(schedule, stagesPerRank);
  auto working = std::ranges::count_if(profile.nodes, [](const ProfileNode &node) { return node.time() > 0; });
  chain.stages = std::min(chain.stages, static_cast<int>(working)); // replicas may be more
  return stagesPerRank * findLeastMemory(profile, chain);
}

} // namespace freestone::distributed
