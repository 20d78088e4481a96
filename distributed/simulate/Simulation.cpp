#include "distributed/simulate/Simulation.h"

#include "distributed/schedule/ScheduleText.h"
#include "distributed/schedule/StageNeeds.h"
#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <queue>
#include <unordered_map>

namespace freestone::distributed {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// A transfer: values of a micro-batch from stage to stage.
struct Transfer {
  int fromRank = 0, toRank = 0, fromStage = 0, toStage = 0;
  Event *sent = nullptr;
  Event *received = nullptr;
  double end = never;

  double ready() const { return std::max(sent->begin, received->begin); }
};

/// What ranks wait for together: it is there when the last of them has come.
struct Meeting {
  std::vector<int> come;
  double time = 0;
};

class Simulator {
public:
  Simulator(const Schedule &schedule, const std::vector<StageEdge> &edges, const Costs &costs)
      : schedule(schedule), edges(edges), costs(costs), needs(countNeeds(schedule)), next(schedule.ranks.size()),
        clocks(schedule.ranks.size()), forwardOf(schedule.stages()), gradientOf(schedule.stages()) {
    for (int stage = 0; stage < schedule.stages(); ++stage) {
      forwardOf[stage].assign(schedule.total(), never);
      gradientOf[stage].assign(schedule.total(), never);
    }
  }
  Simulation run();

private:
  using Place = std::pair<double, Transfer *>;

  void advance(int rank);
  void post(int rank, Event &event);
  void complete(Transfer &transfer);
  double meet(int rank, Meeting &meeting, size_t expected);
  double readyTime(int rank, const Action &action);
  double arrivalOf(int fromStage, int toStage, int microBatch);
  double timeOf(const Action &action) const;
  Transfer &find(int fromStage, int toStage, int microBatch) {
    return transfers[(int64_t(fromStage) * schedule.stages() + toStage) * schedule.total() + microBatch];
  }
  std::string describeStop() const;

  const Schedule &schedule;
  const std::vector<StageEdge> &edges;
  const Costs &costs;
  std::vector<StageNeeds> needs;
  Simulation result;
  std::vector<size_t> next; ///< of each rank, the number of its next action
  std::vector<double> clocks;
  std::vector<std::vector<double>> forwardOf, gradientOf; ///< ends, by stage and micro-batch
  std::unordered_map<int64_t, Transfer> transfers;
  std::priority_queue<Place, std::vector<Place>, std::greater<>> posted; ///< at both ends, by the time since when
  std::map<std::pair<int, int>, double> links;                           ///< free from then on
  std::map<std::pair<int, int>, Meeting> sums;                           ///< of the replicas of a stage, by micro-batch
  std::map<int, Meeting> exchanges;                                      ///< by micro-batch
  std::deque<int> ready;                                                 ///< ranks that may go on
};

double Simulator::timeOf(const Action &action) const {
  const StageCost &cost = costs.stages[action.stage];
  switch (action.kind) {
  case ActionKind::Forward:
    return cost.forward;
  case ActionKind::Backward:
    return cost.inputGradient + cost.weightGradient;
  case ActionKind::InputGradient:
    return cost.inputGradient;
  case ActionKind::WeightGradient:
    return cost.weightGradient;
  case ActionKind::Recompute:
    return cost.recompute;
  case ActionKind::Reduce:
    return costs.reduce ? costs.reduce(action.stage) : 0;
  case ActionKind::Update:
    return cost.update;
  default:
    return 0;
  }
}

/// When values have arrived at a stage: on the same rank, when they are made. `never` if that is not known yet.
double Simulator::arrivalOf(int fromStage, int toStage, int microBatch) {
  if (schedule.rankOf(fromStage, microBatch) != schedule.rankOf(toStage, microBatch))
    return find(fromStage, toStage, microBatch).end;
  return (fromStage < toStage ? forwardOf : gradientOf)[fromStage][microBatch];
}

/// When all that an action needs is there, or `never`.
double Simulator::readyTime(int rank, const Action &action) {
  double time = clocks[rank];
  if (action.kind == ActionKind::Update && schedule.kind != ScheduleKind::PipeDream) {
    const Meeting &exchange = exchanges[action.microBatch];
    bool isComplete = exchange.come.size() == schedule.ranks.size();
    return isComplete ? std::max(time, exchange.time + costs.exchange) : never;
  }
  bool isForward = action.kind == ActionKind::Forward;
  bool isBackward = action.kind == ActionKind::Backward || action.kind == ActionKind::InputGradient;
  if (!isForward && !isBackward)
    return time;
  int microBatch = action.microBatch;
  int slots = needs[action.stage].slots() * static_cast<int>(schedule.ranksOf[action.stage].size());
  for (const StageEdge &edge : edges) {
    if (!edge.carries(isForward))
      continue;
    int from = isForward ? edge.from : edge.to, to = isForward ? edge.to : edge.from;
    if (to == action.stage)
      time = std::max(time, arrivalOf(from, to, microBatch));
    // The slot was sent before.
    bool isSent = from == action.stage && microBatch >= slots &&
                  schedule.rankOf(from, microBatch - slots) != schedule.rankOf(to, microBatch - slots);
    if (isSent)
      time = std::max(time, find(from, to, microBatch - slots).end);
  }
  if (isBackward)
    time = std::max(time, forwardOf[action.stage][microBatch]);
  return time;
}

void Simulator::post(int rank, Event &event) {
  const Action &action = event.action;
  event.begin = event.end = clocks[rank];
  bool isSend = action.kind == ActionKind::Send;
  int from = isSend ? action.stage : action.peer, to = isSend ? action.peer : action.stage;
  Transfer &transfer = find(from, to, action.microBatch);
  transfer.fromStage = from;
  transfer.toStage = to;
  transfer.fromRank = schedule.rankOf(from, action.microBatch);
  transfer.toRank = schedule.rankOf(to, action.microBatch);
  (isSend ? transfer.sent : transfer.received) = &event;
  if (transfer.sent && transfer.received)
    posted.emplace(transfer.ready(), &transfer);
}

void Simulator::complete(Transfer &transfer) {
  TransferCost cost;
  if (costs.transfer)
    cost = costs.transfer(transfer.fromRank, transfer.toRank, transfer.fromStage, transfer.toStage);
  double &link = links[{transfer.fromRank, transfer.toRank}];
  double begin = std::max(transfer.ready(), link);
  link = begin + cost.occupied;
  transfer.end = begin + cost.latency + cost.occupied;
  transfer.sent->end = transfer.received->end = transfer.end;
  ready.push_back(transfer.fromRank);
  ready.push_back(transfer.toRank);
}

/// A rank has come. Returns when all have come, or `never`; those that came before go on later.
double Simulator::meet(int rank, Meeting &meeting, size_t expected) {
  if (std::ranges::find(meeting.come, rank) == meeting.come.end()) {
    meeting.come.push_back(rank);
    meeting.time = std::max(meeting.time, clocks[rank]);
    if (meeting.come.size() == expected)
      ready.insert(ready.end(), meeting.come.begin(), meeting.come.end());
  }
  return meeting.come.size() < expected ? never : meeting.time;
}

/// Executes a rank's actions until one has to wait.
void Simulator::advance(int rank) {
  std::vector<Event> &events = result.ranks[rank];
  for (; next[rank] < events.size(); ++next[rank]) {
    Event &event = events[next[rank]];
    const Action &action = event.action;
    if (isTransfer(action.kind)) {
      post(rank, event);
      continue;
    }
    if (action.kind == ActionKind::Exchange) {
      event.begin = event.end = clocks[rank];
      meet(rank, exchanges[action.microBatch], schedule.ranks.size());
      continue;
    }
    bool isSum = action.kind == ActionKind::Reduce;
    event.begin = isSum ? meet(rank, sums[{action.stage, action.microBatch}], schedule.ranksOf[action.stage].size())
                        : readyTime(rank, action);
    if (event.begin == never)
      break;
    double time = timeOf(action);
    event.end = clocks[rank] = event.begin + time;
    if (!isSum)
      result.busy[rank] += time;
    if (action.kind == ActionKind::Forward)
      forwardOf[action.stage][action.microBatch] = event.end;
    if (action.kind == ActionKind::Backward || action.kind == ActionKind::InputGradient)
      gradientOf[action.stage][action.microBatch] = event.end;
  }
}

std::string Simulator::describeStop() const {
  std::string text;
  for (size_t rank = 0; rank < next.size(); ++rank)
    if (next[rank] < schedule.ranks[rank].size())
      text += fmt::format("rank {} waits at {}, its action {} of {}\n", rank,
                          printAction(schedule.ranks[rank][next[rank]]), next[rank] + 1, schedule.ranks[rank].size());
  return text;
}

Simulation Simulator::run() {
  result.busy.resize(schedule.ranks.size());
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    std::vector<Event> &events = result.ranks.emplace_back();
    for (const Action &action : schedule.ranks[rank])
      events.push_back({action});
    ready.push_back(static_cast<int>(rank));
  }
  // All ranks go as far as they can before the earliest transfer is completed: what follows from it is later.
  while (!ready.empty() || !posted.empty()) {
    if (ready.empty()) {
      complete(*posted.top().second);
      posted.pop();
    }
    while (!ready.empty()) {
      int rank = ready.front();
      ready.pop_front();
      advance(rank);
    }
  }
  result.deadlock = describeStop();
  result.makespan = std::ranges::max(clocks);
  double total = result.makespan * static_cast<double>(clocks.size()), busy = 0;
  for (double time : result.busy)
    busy += time;
  result.bubble = total > 0 ? (total - busy) / total : 0;
  return std::move(result);
}

} // namespace

Simulation simulate(const Schedule &schedule, const std::vector<StageEdge> &edges, const Costs &costs) {
  return Simulator(schedule, edges, costs).run();
}

} // namespace freestone::distributed
