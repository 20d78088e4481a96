#include "distributed/plan/PipelinePlan.h"

#include "distributed/Error.h"
#include "distributed/partition/ChainPartition.h"
#include "distributed/schedule/VerifySchedule.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <span>

namespace freestone::distributed {

namespace {

class Planner {
public:
  Planner(const Profile &profile, const PlanOptions &options) : profile(profile), options(options) {}
  PipelinePlan run();

private:
  void chooseStages();
  void describeStages();
  void simulateStep();
  void addMemory();

  const Profile &profile;
  const PlanOptions &options;
  PipelinePlan plan;
  std::vector<int> replicas;                      ///< of each stage
  std::map<std::pair<int, int>, double> crossing; ///< bytes from stage to stage
};

void Planner::chooseStages() {
  if (!options.mayReplicate) {
    int count = options.ranks * options.stagesPerRank;
    plan.stageOf = partitionChain(profile, count, options.links.levels.back().bytesPerSecond);
    replicas.assign(options.ranks, 1);
    return;
  }
  std::vector<Frontier> frontiers = findFrontiers(profile);
  Partition partition = findPartition(frontiers, {options.links.levels, options.rules});
  // Ranks of replicas of outer levels multiply: a stage of the innermost level is copied as often as what contains it.
  std::vector<PlannedStage> stages = partition.stages.front();
  for (PlannedStage &stage : stages)
    for (const std::vector<PlannedStage> &outer : std::span(partition.stages).subspan(1))
      for (const PlannedStage &around : outer)
        if (around.begin <= stage.begin && stage.end <= around.end)
          stage.replicas *= around.replicas;
  plan.stageOf = stagesOfNodes(frontiers, stages);
  for (const PlannedStage &stage : stages)
    replicas.push_back(stage.replicas);
}

void Planner::describeStages() {
  plan.stages.resize(1 + *std::ranges::max_element(plan.stageOf));
  for (size_t node = 0; node < profile.nodes.size(); ++node) {
    StagePlan &stage = plan.stages[plan.stageOf[node]];
    const ProfileNode &cost = profile.nodes[node];
    if (stage.nodes++ == 0 || stage.firstNode.empty())
      stage.firstNode = cost.name;
    if (!cost.name.empty())
      stage.lastNode = cost.name;
    stage.forward += cost.forward;
    stage.backward += cost.backward;
    stage.parameters += cost.parameters;
    stage.kept += cost.kept;
  }
  std::map<std::pair<int, int>, double> sent; ///< from node to stage: once, however many of its nodes read it
  for (const ProfileEdge &edge : profile.edges)
    if (int to = plan.stageOf[edge.to]; plan.stageOf[edge.from] != to) {
      double &bytes = sent[{edge.from, to}];
      bytes = std::max(bytes, edge.bytes);
    }
  for (const auto &[way, bytes] : sent) {
    plan.stages[way.second].received += bytes;
    crossing[{plan.stageOf[way.first], way.second}] += bytes;
  }
}

void Planner::simulateStep() {
  ScheduleOptions wanted;
  wanted.kind = options.schedule;
  wanted.microBatches = options.microBatches;
  wanted.replicas = replicas;
  wanted.chunks = options.mayReplicate ? 1 : options.stagesPerRank;
  plan.schedule = generate(wanted);
  verifySchedule(plan.schedule);
  std::vector<StageEdge> edges;
  for (const auto &[way, bytes] : crossing)
    edges.push_back({way.first, way.second});
  addTransfers(plan.schedule, edges);
  Costs costs;
  for (size_t number = 0; number < plan.stages.size(); ++number) {
    StagePlan &stage = plan.stages[number];
    stage.ranks = plan.schedule.ranksOf[number];
    // Without a cut, half of a backward pass is of inputs, and half of weights.
    costs.stages.push_back({stage.forward, stage.backward / 2, stage.backward / 2, stage.forward, 0});
    plan.oneRank += (stage.forward + stage.backward) * options.microBatches;
  }
  costs.transfer = [&](int fromRank, int toRank, int from, int to) -> TransferCost {
    double bytes = crossing[{std::min(from, to), std::max(from, to)}];
    return {options.links.latency, bytes / options.links.between(fromRank, toRank)};
  };
  costs.reduce = [&](int stage) {
    double count = static_cast<double>(plan.stages[stage].ranks.size());
    double slowest = options.links.between(plan.stages[stage].ranks.front(), plan.stages[stage].ranks.back());
    return 2 * (count - 1) / count * plan.stages[stage].parameters / slowest;
  };
  costs.exchange = 2 * options.links.latency;
  plan.simulation = simulate(plan.schedule, edges, costs);
  if (!plan.simulation.deadlock.empty())
    throw Error("the schedule's ranks would wait for each other for ever:\n" + plan.simulation.deadlock);
}

void Planner::addMemory() {
  std::vector<int> kept = countKept(plan.schedule);
  plan.memory.resize(plan.schedule.ranks.size());
  for (size_t number = 0; number < plan.stages.size(); ++number) {
    const StagePlan &stage = plan.stages[number];
    double slots = kept[number] + 1;
    for (int rank : stage.ranks)
      plan.memory[rank] += options.statesPerParameter * stage.parameters + slots * (stage.kept + 2 * stage.received);
  }
}

PipelinePlan Planner::run() {
  chooseStages();
  describeStages();
  simulateStep();
  addMemory();
  return std::move(plan);
}

} // namespace

PipelinePlan planPipeline(const Profile &profile, const PlanOptions &options) {
  int placed = 1;
  for (const Level &level : options.links.levels)
    placed *= level.count;
  if (placed != options.ranks)
    throw Error(fmt::format("the links are of {} ranks, but there are {}", placed, options.ranks));
  return Planner(profile, options).run();
}

} // namespace freestone::distributed
