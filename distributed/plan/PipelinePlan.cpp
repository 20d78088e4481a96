#include "distributed/plan/PipelinePlan.h"

#include "distributed/partition/NothingFits.h"
#include "distributed/partition/StageValues.h"
#include "distributed/schedule/VerifySchedule.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace freestone::distributed {

namespace {

/// Plans one schedule on some stages.
class Planner {
public:
  Planner(const Profile &profile, const PlanOptions &options, StageAssignment assignment)
      : profile(profile), options(options) {
    plan.assignment = std::move(assignment);
  }
  PipelinePlan run(ScheduleKind schedule, int stagesPerRank);

private:
  void describeStages(int stagesPerRank);
  void simulateSteps(ScheduleKind schedule, int stagesPerRank);
  void addMemory();

  const Profile &profile;
  const PlanOptions &options;
  PipelinePlan plan;
  std::map<std::pair<int, int>, double> crossing; ///< bytes from stage to stage
};

void Planner::describeStages(int stagesPerRank) {
  const std::vector<int> &stageOf = plan.assignment.stageOf;
  plan.stages.resize(plan.assignment.replicas.size() * stagesPerRank);
  for (size_t node = 0; node < profile.nodes.size(); ++node) {
    StagePlan &stage = plan.stages[stageOf[node]];
    const ProfileNode &cost = profile.nodes[node];
    if (stage.nodes++ == 0 || stage.firstNode.empty())
      stage.firstNode = cost.name;
    if (!cost.name.empty())
      stage.lastNode = cost.name;
    stage.forward += cost.forward;
    stage.backward += cost.backward;
    stage.weights += cost.weights;
    stage.parameters += cost.parameters;
    stage.kept += cost.kept;
  }
  std::map<std::pair<int, int>, double> arrived; ///< from node to stage: once, however many of its nodes read it
  std::map<int, double> left;                    ///< of nodes that other stages read
  for (const ProfileEdge &edge : profile.edges)
    if (int to = stageOf[edge.to]; stageOf[edge.from] != to) {
      double &bytes = arrived[{edge.from, to}];
      bytes = std::max(bytes, edge.bytes);
      left[edge.from] = std::max(left[edge.from], edge.bytes);
    }
  for (const auto &[way, bytes] : arrived) {
    plan.stages[way.second].received += bytes;
    crossing[{stageOf[way.first], way.second}] += bytes;
  }
  for (const auto &[node, bytes] : left)
    plan.stages[stageOf[node]].sent += bytes;
}

void Planner::simulateSteps(ScheduleKind schedule, int stagesPerRank) {
  plan.schedule = planSteps(options, schedule, plan.assignment.replicas, stagesPerRank);
  verifySchedule(plan.schedule);
  std::vector<StageEdge> edges;
  for (const auto &[way, bytes] : crossing)
    edges.push_back({way.first, way.second});
  addTransfers(plan.schedule, edges);
  Costs costs;
  for (size_t number = 0; number < plan.stages.size(); ++number) {
    StagePlan &stage = plan.stages[number];
    stage.ranks = plan.schedule.ranksOf[number];
    costs.stages.push_back({stage.forward, stage.backward - stage.weights, stage.weights, stage.forward, 0});
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
  plan.step = timeStep(plan.schedule, plan.simulation);
}

/// The sums of StageValues, of any stages.
void Planner::addMemory() {
  std::vector<StageNeeds> needs = plannedNeeds(options, plan.schedule);
  plan.memory.resize(plan.schedule.ranks.size());
  for (size_t number = 0; number < plan.stages.size(); ++number) {
    const StagePlan &stage = plan.stages[number];
    StageBytes bytes{stage.parameters, stage.kept, stage.received + stage.sent};
    for (int rank : stage.ranks)
      plan.memory[rank] += bytes.held(needs[number], options.statesPerParameter);
  }
}

PipelinePlan Planner::run(ScheduleKind schedule, int stagesPerRank) {
  describeStages(stagesPerRank);
  simulateSteps(schedule, stagesPerRank);
  addMemory();
  return std::move(plan);
}

/// Compares schedules.
class Comparison {
public:
  Comparison(const Profile &profile, const PlanOptions &options)
      : profile(profile), options(options), finder(profile, options) {}
  PipelinePlan run();

private:
  std::vector<PlanCandidate> listCandidates() const;
  void considerAll();
  void consider(PlanCandidate &candidate);
  void refuse(PlanCandidate &candidate, double memory);
  const PlanCandidate &smallest() const;
  [[noreturn]] void failForMemory() const;

  const Profile &profile;
  const PlanOptions &options;
  StageFinder finder;
  std::vector<PlanCandidate> candidates;
  std::vector<PipelinePlan> plans; ///< of those that fit
};

std::vector<PlanCandidate> Comparison::listCandidates() const {
  auto perRank = [&](ScheduleKind kind) { return kind == ScheduleKind::Interleaved ? options.stagesPerRank : 1; };
  if (options.schedule)
    return {{*options.schedule, perRank(*options.schedule)}};
  std::vector<PlanCandidate> listed;
  for (ScheduleKind kind : {ScheduleKind::OneFOneB, ScheduleKind::Eager, ScheduleKind::GPipe})
    listed.push_back({kind});
  if (options.mayReplicate || options.rules == CostRules::Pipedream || options.places() == 1 || options.replicas > 1)
    return listed;
  listed.push_back({ScheduleKind::ZeroBubble});
  auto working = std::ranges::count_if(profile.nodes, [](const ProfileNode &node) { return node.time() > 0; });
  if (working >= options.ranks * options.stagesPerRank)
    listed.push_back({ScheduleKind::Interleaved, options.stagesPerRank});
  return listed;
}

void Comparison::refuse(PlanCandidate &candidate, double memory) {
  candidate.fits = false;
  candidate.memory = memory;
}

/// Plans a schedule on the fastest stages that fit.
void Comparison::consider(PlanCandidate &candidate) {
  std::vector<StageAssignment> assignments;
  try {
    assignments = finder.find(candidate.schedule, candidate.stagesPerRank);
  } catch (const NothingFits &) {
    return refuse(candidate, finder.leastMemory(candidate.schedule, candidate.stagesPerRank));
  }
  std::optional<PipelinePlan> best;
  double least = std::numeric_limits<double>::infinity();
  for (StageAssignment &assignment : assignments) {
    PipelinePlan plan =
        Planner(profile, options, std::move(assignment)).run(candidate.schedule, candidate.stagesPerRank);
    least = std::min(least, plan.largestMemory());
    if (plan.largestMemory() <= options.memory && (!best || plan.step.seconds < best->step.seconds))
      best = std::move(plan);
  }
  if (!best)
    return refuse(candidate, least);
  candidate.time = best->step.seconds;
  candidate.bubble = best->step.bubble;
  candidate.memory = best->largestMemory();
  plans.push_back(std::move(*best));
}

void Comparison::considerAll() {
  candidates = listCandidates();
  for (PlanCandidate &candidate : candidates)
    consider(candidate);
}

const PlanCandidate &Comparison::smallest() const {
  return *std::ranges::min_element(candidates, {}, &PlanCandidate::memory);
}

void Comparison::failForMemory() const {
  auto describe = [](const PlanCandidate &candidate) {
    return fmt::format("schedule {} would need {}", nameOf(candidate.schedule), printBytes(candidate.memory));
  };
  std::string needed = describe(smallest()), choice = "choose";
  if (!options.recompute) {
    PlanOptions recomputing = options;
    recomputing.recompute = true;
    Comparison other(profile, recomputing);
    other.considerAll();
    needed += fmt::format(", and with --recompute-stages {}", describe(other.smallest()));
    if (!other.plans.empty())
      choice += " --recompute-stages,";
  }
  throw Error(fmt::format("--max-memory: no stages keep to {} a rank: {}; {} more ranks, more micro-batches of each "
                          "batch, or --recompute blocks",
                          printBytes(options.memory), needed, choice));
}

PipelinePlan Comparison::run() {
  considerAll();
  if (plans.empty())
    failForMemory();
  // Times that rounding alone makes different are equal.
  constexpr double rounding = 1e-6;
  auto timeOf = [](const PipelinePlan &plan) { return plan.step.seconds; };
  double fastest = timeOf(*std::ranges::min_element(plans, {}, timeOf));
  std::erase_if(plans, [&](const auto &plan) { return timeOf(plan) > fastest * (1 + rounding); });
  PipelinePlan plan = std::move(*std::ranges::min_element(plans, {}, &PipelinePlan::largestMemory));
  while (candidates[plan.taken].schedule != plan.schedule.kind)
    ++plan.taken;
  plan.candidates = std::move(candidates);
  return plan;
}

} // namespace

double PipelinePlan::largestMemory() const { return std::ranges::max(memory); }

PipelinePlan planPipeline(const Profile &profile, const PlanOptions &options) {
  bool isReplicated = options.mayReplicate || options.replicas > 1;
  if (options.schedule == ScheduleKind::Interleaved && (isReplicated || options.rules == CostRules::Pipedream))
    throw Error("'interleaved' has no replicas of stages: choose gpipe, 1f1b or eager-1f1b for --replicate, --replicas "
                "and --cost pipedream");
  int placed = 1;
  for (const Level &level : options.links.levels)
    placed *= level.count;
  if (placed != options.ranks)
    throw Error(fmt::format("the links are of {} ranks, but there are {}", placed, options.ranks));
  if (options.ranks % options.replicas != 0)
    throw Error(fmt::format("{} ranks are no multiple of {} replicas of each stage", options.ranks, options.replicas));
  return Comparison(profile, options).run();
}

} // namespace freestone::distributed
