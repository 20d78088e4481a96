#include "distributed/schedule/StepStream.h"

#include <algorithm>
#include <utility>

namespace freestone::distributed {

StepStream::StepStream(ScheduleOptions wanted, std::vector<StageEdge> edges)
    : options(std::move(wanted)), edges(std::move(edges)) {
  options.steps = period();
  (void)generate(options);
}

/// A step ends with its last forward pass and what is posted right behind.
const StepStream::Parts &StepStream::cut(int rank, int steps) const {
  auto [found, isNew] = known.try_emplace({rank, steps});
  Parts &parts = found->second;
  if (!isNew)
    return parts;
  ScheduleOptions wanted = options;
  wanted.steps = steps;
  Schedule schedule = generate(wanted);
  addTransfers(schedule, edges);
  parts.steps.resize(steps);
  auto stepOf = [&](const Action &action) { return action.microBatch / options.microBatches; };
  int current = 0;
  bool isEnded = false; ///< whether the current step has had its last forward pass
  std::vector<int> left(steps);
  for (const Action &action : schedule.ranks[rank])
    left[stepOf(action)] += action.kind == ActionKind::Forward;
  for (const Action &action : schedule.ranks[rank]) {
    if (action.kind == ActionKind::Receive && action.peer < action.stage) {
      std::vector<Action> &own = parts.steps[std::max(stepOf(action), current)];
      auto isPost = [](const Action &other) { return other.kind == ActionKind::Receive && other.peer < other.stage; };
      bool isEarly = stepOf(action) > current;
      own.insert(isEarly ? std::ranges::find_if_not(own, isPost) : own.end(), action);
      continue;
    }
    while (isEnded && !isTransfer(action.kind)) {
      ++current;
      isEnded = current < steps && left[current] == 0;
    }
    (current < steps ? parts.steps[current] : parts.rest).push_back(action);
    if (action.kind == ActionKind::Forward)
      isEnded = --left[stepOf(action)] == 0 && stepOf(action) == current;
  }
  return parts;
}

std::vector<Action> StepStream::shifted(std::vector<Action> actions, int steps) const {
  int updates = options.kind == ScheduleKind::PipeDream ? steps * options.microBatches : steps;
  for (Action &action : actions) {
    action.microBatch += steps * options.microBatches;
    bool hasVersion = action.kind != ActionKind::Update && action.kind != ActionKind::Exchange &&
                      action.kind != ActionKind::Reduce && !isTransfer(action.kind);
    action.version += hasVersion ? updates : 0;
  }
  return actions;
}

std::vector<Action> StepStream::step(int rank, int step) const {
  int base = std::min(step, period());
  return shifted(cut(rank, base + 1).steps.back(), step - base);
}

std::vector<Action> StepStream::flush(int rank, int steps) const {
  int base = std::min(steps, period());
  return shifted(cut(rank, base).rest, steps - base);
}

Schedule StepStream::whole(int steps) const {
  ScheduleOptions wanted = options;
  wanted.steps = steps;
  Schedule schedule = generate(wanted);
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
