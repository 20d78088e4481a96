#include "distributed/schedule/Schedule.h"

#include "distributed/Error.h"
#include "words/Choice.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::distributed {

bool completesGradients(std::span<const Action> actions, int microBatches) {
  auto addsGradients = [](ActionKind kind) {
    return kind == ActionKind::Backward || kind == ActionKind::WeightGradient;
  };
  const Action &pass = actions.front();
  if (!addsGradients(pass.kind))
    return false;
  std::span<const Action> later = actions.subspan(1);
  auto next = std::ranges::find_if(later, [&](const Action &action) {
    return action.stage == pass.stage && action.microBatch / microBatches == pass.microBatch / microBatches &&
           (addsGradients(action.kind) || action.kind == ActionKind::Reduce);
  });
  return next != later.end() && next->kind == ActionKind::Reduce;
}

static const words::Choice &getNames() {
  static const words::Choice names = {
      {"gpipe", "1f1b", "eager-1f1b", "interleaved", "zb-h1", "pipedream", "pipedream-2bw"}};
  return names;
}

std::string nameOf(ScheduleKind kind) { return getNames().words[static_cast<size_t>(kind)]; }

ScheduleKind scheduleKindOf(const std::string &name) {
  if (std::optional<std::string> complaint = getNames().complain(name))
    throw Error(fmt::format("'{}' is no pipeline schedule: it {}", name, *complaint));
  const std::vector<std::string> &names = getNames().words;
  return static_cast<ScheduleKind>(std::ranges::find(names, name) - names.begin());
}

} // namespace freestone::distributed
