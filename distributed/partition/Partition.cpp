#include "distributed/partition/Partition.h"

#include "distributed/partition/NothingFits.h"
#include "distributed/partition/StageValues.h"
#include <algorithm>
#include <cmath>

namespace freestone::distributed {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// The best pipeline for the nodes between two frontiers on some devices.
struct Best {
  double time = never;
  double bytes = 0; ///< that cross its cuts
  int cut = -1;     ///< the frontier before the last stage; -1: one stage
  int left = 0;     ///< devices before the cut
  int replicas = 1; ///< of the last stage

  bool isBetterThan(const Best &other) const { return time != other.time ? time < other.time : bytes < other.bytes; }
};

/// One level: the best pipelines from a beginning to every frontier, for every number of devices up to the level's.
class LevelSolver {
public:
  /// `computing`: seconds of the nodes from frontier i - 1 to frontier j on one part of this level, by [i][j].
  LevelSolver(const std::vector<Frontier> &frontiers, const PartitionOptions &options, const Level &level,
              int partsInside, const std::vector<std::vector<double>> &computing)
      : frontiers(frontiers), options(options), level(level), partsInside(partsInside), computing(computing) {}

  /// Of all frontiers and numbers of devices, [frontier * count + devices - 1].
  std::vector<Best> solve(int begin) const;

private:
  bool isPipedreams() const { return options.rules == CostRules::Pipedream; }
  bool mayShare(int replicas) const { return options.dealt % replicas == 0; }
  double parametersOf(int begin, int end) const {
    return frontiers[end].parameters - (begin > 0 ? frontiers[begin - 1].parameters : 0);
  }
  double stageTime(double compute, double parameters, int replicas, int sharing) const;
  double transferTime(int frontier, int replicas) const {
    return 2 * frontiers[frontier].crossing / (level.bytesPerSecond * replicas);
  }
  bool fits(int begin, int end, int replicas, int devices) const;
  bool hasWork(int begin, int end) const;
  void extend(std::vector<Best> &best, int begin, int end, int cut) const;

  const std::vector<Frontier> &frontiers;
  const PartitionOptions &options;
  const Level &level;
  int partsInside;
  const std::vector<std::vector<double>> &computing;
};

/// `sharing`: links inside of a part that sum gradients side by side.
double LevelSolver::stageTime(double compute, double parameters, int replicas, int sharing) const {
  if (isPipedreams())
    return (compute + 4 * (replicas - 1) * parameters / (level.bytesPerSecond * replicas) / sharing) / replicas;
  double sum = 2 * (replicas - 1) * parameters / level.bytesPerSecond / sharing;
  return std::max(compute, sum) / replicas;
}

/// Whether a device holds what a stage of it takes: `devices` are those up to its end.
bool LevelSolver::fits(int begin, int end, int replicas, int devices) const {
  if (options.memory == never)
    return true;
  const Frontier none, &before = begin > 0 ? frontiers[begin - 1] : none, &last = frontiers[end];
  int behind = level.count - devices, rounds = (behind + replicas - 1) / replicas;
  double parameters = parametersOf(begin, end);
  if (isPipedreams())
    return rounds * (last.activations - before.activations + parameters) <= options.memory;
  bool isLast = end + 1 == static_cast<int>(frontiers.size());
  StageBytes bytes{parameters, last.kept - before.kept, before.crossing + (isLast ? 0 : last.crossing)};
  StageNeeds needs = options.needs ? options.needs(behind, replicas) : StageNeeds{rounds + 1};
  return bytes.held(needs, options.statesPerParameter) <= options.memory;
}

bool LevelSolver::hasWork(int begin, int end) const {
  // Prefix sums leave rounding where a stage does nothing.
  constexpr double nothing = 1e-12;
  return isPipedreams() ||
         frontiers[end].compute - (begin > 0 ? frontiers[begin - 1].compute : 0) > nothing * frontiers.back().compute;
}

/// Considers pipelines to `end` whose last stage begins behind `cut`.
void LevelSolver::extend(std::vector<Best> &best, int begin, int end, int cut) const {
  int count = level.count;
  double compute = computing[cut + 1][end], parameters = parametersOf(cut + 1, end);
  if (compute == never || !hasWork(cut + 1, end))
    return;
  bool isLast = end + 1 == static_cast<int>(frontiers.size());
  std::vector<double> time(count + 1, never);
  int most = options.isStraight ? 1 : count - 1;
  for (int replicas = 1; replicas <= most; ++replicas) {
    if (!mayShare(replicas))
      continue;
    time[replicas] = std::max(stageTime(compute, parameters, replicas, isPipedreams() ? 1 : partsInside),
                              transferTime(cut, replicas));
    if (!isLast)
      time[replicas] = std::max(time[replicas], transferTime(end, replicas));
  }
  const Best *head = &best[cut * count];
  for (int devices = 2; devices <= count; ++devices) {
    Best &known = best[end * count + devices - 1];
    // A pass that compilers turn into vectors; only improvements are looked at one by one.
    double least = never;
    int limit = std::min(most, devices - 1);
    for (int replicas = 1; replicas <= limit; ++replicas)
      least = std::min(least, std::max(head[devices - replicas - 1].time, time[replicas]));
    if (least > known.time)
      continue;
    for (int replicas = 1; replicas <= limit; ++replicas) {
      const Best &before = head[devices - replicas - 1];
      double bytes = isPipedreams() ? 0 : before.bytes + frontiers[cut].crossing;
      Best found{std::max(before.time, time[replicas]), bytes, cut, devices - replicas, replicas};
      if (found.isBetterThan(known) && fits(cut + 1, end, replicas, devices))
        known = found;
    }
  }
}

std::vector<Best> LevelSolver::solve(int begin) const {
  int count = level.count, states = static_cast<int>(frontiers.size());
  std::vector<Best> best(static_cast<size_t>(states) * count);
  for (int end = begin; end < states; ++end) {
    int most = options.isStraight ? 1 : count;
    bool isLast = end + 1 == states;
    for (int devices = 1; devices <= most; ++devices) {
      if (!mayShare(devices) || !fits(begin, end, devices, devices) || !hasWork(begin, end))
        continue;
      double time = stageTime(computing[begin][end], parametersOf(begin, end), devices, partsInside);
      if (!isPipedreams() && !isLast) // whose optimizer leaves out what the first stage sends
        time = std::max(time, transferTime(end, devices));
      best[end * count + devices - 1] = {time, 0, -1, 0, devices};
    }
  }
  for (int end = begin + 1; end < states; ++end)
    for (int cut : frontiers[end].inner)
      if (begin == 0 || (cut >= begin && !std::ranges::binary_search(frontiers[begin - 1].inner, cut)))
        extend(best, begin, end, cut);
  return best;
}

/// The stages of a pipeline from `begin` to `end`, first to last.
std::vector<PlannedStage> trace(const std::vector<Best> &best, int count, int begin, int end) {
  std::vector<PlannedStage> stages;
  int devices = count, last = end - 1;
  for (;;) {
    const Best &found = best[last * count + devices - 1];
    stages.push_back({found.cut < 0 ? begin : found.cut + 1, last + 1, found.replicas});
    if (found.cut < 0)
      break;
    last = found.cut;
    devices = found.left;
  }
  std::ranges::reverse(stages);
  return stages;
}

} // namespace

Partition findPartition(const std::vector<Frontier> &frontiers, const PartitionOptions &options) {
  int states = static_cast<int>(frontiers.size());
  if (options.levels.empty())
    throw Error("a partition needs at least one level of devices");
  std::vector<std::vector<double>> computing(states + 1, std::vector<double>(states, never));
  for (int begin = 0; begin <= states; ++begin)
    for (int end = begin; end < states; ++end)
      computing[begin][end] = frontiers[end].compute - (begin > 0 ? frontiers[begin - 1].compute : 0);

  std::vector<std::vector<std::vector<Best>>> solved; ///< by level and beginning
  Partition partition;
  partition.oneDevice = frontiers.back().compute;
  partition.replicated = partition.oneDevice;
  int partsInside = 1;
  for (size_t number = 0; number < options.levels.size(); ++number) {
    const Level &level = options.levels[number];
    LevelSolver solver(frontiers, options, level, partsInside, computing);
    bool isOutermost = number + 1 == options.levels.size();
    std::vector<std::vector<Best>> &found = solved.emplace_back();
    for (int begin = 0; begin < (isOutermost ? 1 : states); ++begin) {
      found.push_back(solver.solve(begin));
      for (int end = begin; end < states; ++end)
        computing[begin][end] = found.back()[end * level.count + level.count - 1].time;
    }
    partsInside = level.count;
  }
  partition.stageTime = computing[0][states - 1];
  if (partition.stageTime == never)
    throw NothingFits();

  std::vector<PlannedStage> outer = {{0, states, 1}};
  partition.stages.resize(options.levels.size());
  for (size_t number = options.levels.size(); number-- > 0;) {
    std::vector<PlannedStage> &inner = partition.stages[number];
    for (const PlannedStage &stage : outer)
      for (PlannedStage &part :
           trace(solved[number][stage.begin], options.levels[number].count, stage.begin, stage.end))
        inner.push_back(part);
    outer = inner;
  }
  return partition;
}

std::vector<int> stagesOfNodes(const std::vector<Frontier> &frontiers, const std::vector<PlannedStage> &stages) {
  std::vector<int> stageOf(frontiers.back().before.size(), -1);
  for (size_t stage = 0; stage < stages.size(); ++stage)
    for (int node : frontiers[stages[stage].end - 1].before)
      if (stageOf[node] < 0)
        stageOf[node] = static_cast<int>(stage);
  return stageOf;
}

} // namespace freestone::distributed
