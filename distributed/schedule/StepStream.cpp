#include "distributed/schedule/StepStream.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

namespace freestone::distributed {

namespace {

/// Follows the ranks of a delayed schedule while the data of its steps come.
class StepCutter {
public:
  StepCutter(const Schedule &schedule, const std::vector<StageEdge> &edges)
      : schedule(schedule), edges(edges), next(schedule.ranks.size()), computed(2 * schedule.stages()) {
    for (std::vector<bool> &microBatches : computed)
      microBatches.resize(schedule.total());
  }
  std::vector<StepStream::Parts> run();

private:
  int stepOf(const Action &action) const { return action.microBatch / schedule.microBatches; }
  std::vector<bool> &computedOf(int stage, bool isForward) { return computed[2 * stage + isForward]; }
  bool isPossible(int rank, const Action &action);
  bool haveCome(const Action &action, int stage) {
    return come[{action.kind, stage, action.microBatch}].size() == schedule.ranksOf[stage].size();
  }
  bool advance(int rank, StepStream::Parts &parts);

  const Schedule &schedule;
  const std::vector<StageEdge> &edges;
  int step = 0;                            ///< whose data came last
  std::vector<size_t> next;                ///< of each rank, the number of its next action
  std::vector<std::vector<bool>> computed; ///< micro-batches, by stages and directions
  /// The ranks that have come to a sum or an exchange of a stage.
  std::map<std::tuple<ActionKind, int, int>, std::set<int>> come;
};

/// Whether an action does not wait for data of later steps.
bool StepCutter::isPossible(int rank, const Action &action) {
  bool isForward = action.kind == ActionKind::Forward;
  if (isForward && stepOf(action) > step)
    return false;
  if (isForward || action.kind == ActionKind::Backward) {
    for (const StageEdge &edge : edges)
      if ((isForward ? edge.to : edge.from) == action.stage && edge.carries(isForward) &&
          !computedOf(isForward ? edge.from : edge.to, isForward)[action.microBatch])
        return false;
    computedOf(action.stage, isForward)[action.microBatch] = true;
  }
  if (action.kind == ActionKind::Reduce || action.kind == ActionKind::Exchange)
    come[{action.kind, action.stage, action.microBatch}].insert(rank);
  if (action.kind == ActionKind::Reduce)
    return haveCome(action, action.stage);
  if (action.kind == ActionKind::Update)
    for (int stage = schedule.kind == ScheduleKind::PipeDream ? action.stage + 1 : 0; stage < schedule.stages();
         ++stage)
      if (!haveCome({ActionKind::Exchange, stage, action.microBatch}, stage))
        return false;
  return true;
}

/// Returns whether the rank did anything.
bool StepCutter::advance(int rank, StepStream::Parts &parts) {
  const std::vector<Action> &list = schedule.ranks[rank];
  size_t begin = next[rank];
  auto isInput = [](const Action &action) { return action.kind == ActionKind::Receive && action.peer < action.stage; };
  for (; next[rank] < list.size() && isPossible(rank, list[next[rank]]); ++next[rank]) {
    const Action &action = list[next[rank]];
    bool isEarly = isInput(action) && stepOf(action) > step;
    std::vector<Action> &part = parts[isEarly ? stepOf(action) : step];
    part.insert(isEarly ? std::ranges::find_if_not(part, isInput) : part.end(), action);
  }
  return next[rank] > begin;
}

std::vector<StepStream::Parts> StepCutter::run() {
  std::vector<StepStream::Parts> parts(schedule.ranks.size(), StepStream::Parts(schedule.steps));
  for (; step < schedule.steps; ++step)
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (int rank = 0; rank < static_cast<int>(schedule.ranks.size()); ++rank)
        isChanged |= advance(rank, parts[rank]);
    }
  return parts;
}

} // namespace

StepStream::StepStream(ScheduleOptions wanted, std::vector<StageEdge> edges)
    : options(std::move(wanted)), edges(std::move(edges)) {
  // The end of a schedule is another one than what goes on.
  Schedule schedule = scheduleOf(2 * period() + 1);
  versions.assign(schedule.stages(), std::vector<int>(schedule.total()));
  for (const std::vector<Action> &list : schedule.ranks)
    for (const Action &action : list)
      if (action.kind == ActionKind::Forward)
        versions[action.stage][action.microBatch] = action.version;
  parts = StepCutter(schedule, this->edges).run();
}

Schedule StepStream::scheduleOf(int steps) const {
  ScheduleOptions wanted = options;
  wanted.steps = steps;
  Schedule schedule = generate(wanted);
  addTransfers(schedule, edges);
  return schedule;
}

std::vector<Action> StepStream::shifted(std::vector<Action> actions, int steps) const {
  for (Action &action : actions) {
    action.microBatch += steps * options.microBatches;
    bool hasVersion = action.kind != ActionKind::Update && action.kind != ActionKind::Exchange &&
                      action.kind != ActionKind::Reduce && !isTransfer(action.kind);
    action.version += hasVersion ? steps : 0;
  }
  return actions;
}

std::vector<Action> StepStream::step(int rank, int step) const {
  int base = std::min(step, period());
  return shifted(parts[rank][base], step - base);
}

std::vector<Action> StepStream::flush(int rank, int steps) const {
  int base = std::min(steps, period());
  auto [found, isNew] = rests.try_emplace({rank, base});
  if (isNew) {
    auto keyOf = [](const Action &action) {
      return std::tuple(action.kind, action.stage, action.microBatch, action.peer);
    };
    std::set<std::tuple<ActionKind, int, int, int>> done;
    for (int number = 0; number < base; ++number)
      std::ranges::transform(parts[rank][number], std::inserter(done, done.end()), keyOf);
    found->second = scheduleOf(base).ranks[rank];
    std::erase_if(found->second, [&](const Action &action) { return done.contains(keyOf(action)); });
  }
  return shifted(found->second, steps - base);
}

int StepStream::versionOf(int stage, int microBatch) const {
  int later = std::max(0, microBatch / options.microBatches - (period() - 1));
  return versions[stage][microBatch - later * options.microBatches] + later;
}

Schedule StepStream::whole(int steps) const {
  Schedule schedule = scheduleOf(steps);
  for (int rank = 0; rank < static_cast<int>(schedule.ranks.size()); ++rank) {
    std::vector<Action> &list = schedule.ranks[rank];
    list.clear();
    for (int number = 0; number < steps; ++number)
      std::ranges::move(step(rank, number), std::back_inserter(list));
    std::ranges::move(flush(rank, steps), std::back_inserter(list));
  }
  return schedule;
}

} // namespace freestone::distributed
