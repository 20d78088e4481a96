#include "distributed/schedule/Communication.h"

#include "distributed/schedule/StageNeeds.h"

namespace freestone::distributed {

std::vector<StageEdge> chainOf(int stages) {
  std::vector<StageEdge> edges;
  for (int stage = 0; stage + 1 < stages; ++stage)
    edges.push_back({stage, stage + 1});
  return edges;
}

/// Whether a micro-batch's intermediates are needed no more.
static bool endsMicroBatch(ActionKind kind) {
  return kind == ActionKind::Backward || kind == ActionKind::WeightGradient;
}

namespace {

/// Inserts transfers into the list of one rank.
class RankTransfers {
public:
  RankTransfers(const Schedule &schedule, const std::vector<StageEdge> &edges, const std::vector<StageNeeds> &needs,
                int rank)
      : schedule(schedule), edges(edges), needs(needs), rank(rank), own(schedule.stages()), freed(schedule.stages()) {}

  std::vector<Action> run();

private:
  /// Whether the values of a micro-batch go to another rank.
  bool crosses(const StageEdge &edge, int microBatch) const {
    return schedule.rankOf(edge.from, microBatch) != schedule.rankOf(edge.to, microBatch);
  }
  void receiveInputs(int stage, size_t number);
  void send(const Action &made);
  void receiveGradients(const Action &forward);

  const Schedule &schedule;
  const std::vector<StageEdge> &edges;
  const std::vector<StageNeeds> &needs;
  int rank;
  std::vector<std::vector<int>> own; ///< micro-batches of each stage, in the order of their forward passes
  std::vector<size_t> freed;         ///< of each stage, micro-batches that have ended
  std::vector<Action> list;
};

/// Posts the receives of the forward pass that has this number among those of its stage.
void RankTransfers::receiveInputs(int stage, size_t number) {
  if (number >= own[stage].size())
    return;
  int microBatch = own[stage][number];
  for (const StageEdge &edge : edges)
    if (edge.to == stage && edge.hasActivations && crosses(edge, microBatch))
      list.push_back({ActionKind::Receive, stage, microBatch, 0, edge.from});
}

void RankTransfers::receiveGradients(const Action &forward) {
  for (const StageEdge &edge : edges)
    if (edge.from == forward.stage && edge.hasGradient && crosses(edge, forward.microBatch))
      list.push_back({ActionKind::Receive, forward.stage, forward.microBatch, 0, edge.to});
}

/// Sends activations, or gradients.
void RankTransfers::send(const Action &made) {
  bool isForward = made.kind == ActionKind::Forward;
  for (const StageEdge &edge : edges) {
    bool isOwn = (isForward ? edge.from : edge.to) == made.stage;
    if (isOwn && edge.carries(isForward) && crosses(edge, made.microBatch))
      list.push_back({ActionKind::Send, made.stage, made.microBatch, 0, isForward ? edge.to : edge.from});
  }
}

std::vector<Action> RankTransfers::run() {
  const std::vector<Action> &given = schedule.ranks[rank];
  for (const Action &action : given)
    if (action.kind == ActionKind::Forward)
      own[action.stage].push_back(action.microBatch);
  for (int stage = 0; stage < schedule.stages(); ++stage)
    for (int slot = 0; slot < needs[stage].slots(); ++slot)
      receiveInputs(stage, slot);
  for (const Action &action : given) {
    list.push_back(action);
    if (action.kind == ActionKind::Forward) {
      send(action);
      receiveGradients(action);
    }
    if (action.kind == ActionKind::Backward || action.kind == ActionKind::InputGradient)
      send(action);
    if (endsMicroBatch(action.kind))
      receiveInputs(action.stage, needs[action.stage].slots() + freed[action.stage]++);
  }
  return std::move(list);
}

} // namespace

void addTransfers(Schedule &schedule, const std::vector<StageEdge> &edges) {
  std::vector<StageNeeds> needs = countNeeds(schedule);
  std::vector<std::vector<Action>> lists;
  for (int rank = 0; rank < static_cast<int>(schedule.ranks.size()); ++rank)
    lists.push_back(RankTransfers(schedule, edges, needs, rank).run());
  schedule.ranks = std::move(lists);
}

} // namespace freestone::distributed
