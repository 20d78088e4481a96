#include "distributed/execute/RankStates.h"

#include <algorithm>

namespace freestone::distributed {

/// Whether a stage's copy of a state is the one to save: that of the stage which updates it, or the first of a state
/// that all stages update alike.
bool RankStates::isHome(const std::string &state, int stage) const {
  if (auto shared = std::ranges::find(pipeline.shared, state, &SharedState::name); shared != pipeline.shared.end())
    return shared->home == stage;
  auto first = std::ranges::find_if(
      stages, [&](const StageProgram *program) { return program->state().find(state).has_value(); });
  return (*first)->stage() == stage;
}

std::vector<train::TensorGroup> RankStates::groups(const std::set<std::string> &othersSave) const {
  std::vector<train::TensorGroup> all = {{"parameters", {}}, {"statistics", {}}, {"optimizer", {}}};
  for (const StageProgram *program : stages)
    for (train::TensorGroup &part : program->state().groups()) {
      train::TensorGroup &group = *std::ranges::find(all, part.name, &train::TensorGroup::name);
      for (formats::TensorView &tensor : part.tensors) {
        if (!isHome(tensor.name, program->stage()) || othersSave.contains(tensor.name))
          continue;
        if (auto panels = part.panels.find(tensor.name); panels != part.panels.end())
          group.panels.insert(*panels);
        group.tensors.push_back(std::move(tensor));
      }
    }
  for (train::TensorGroup &group : all)
    std::ranges::sort(group.tensors, {}, &formats::TensorView::name);
  std::erase_if(all, [](const train::TensorGroup &group) { return group.tensors.empty(); });
  return all;
}

std::set<std::string> RankStates::names() const {
  std::set<std::string> names;
  for (const train::TensorGroup &group : groups())
    for (const formats::TensorView &tensor : group.tensors)
      names.insert(tensor.name);
  return names;
}

void RankStates::restore(const train::Checkpoint &checkpoint) {
  for (StageProgram *program : stages) {
    std::map<std::string, std::vector<train::TensorTarget>> targets;
    program->state().addTargets(targets);
    for (const auto &[group, list] : targets)
      checkpoint.restore(group, list, train::Checkpoint::Extent::Part);
    program->state().completeRestored();
  }
}

bool RankStates::setLossScale(double scale) {
  bool isSet = false;
  for (StageProgram *program : stages)
    if (std::optional<size_t> index = program->state().find("loss_scale")) {
      *program->state().state().data<float>(*index) = static_cast<float>(scale);
      isSet = true;
    }
  return isSet;
}

std::optional<int64_t> RankStates::stepsDone() const {
  for (const StageProgram *program : stages)
    if (std::optional<size_t> index = program->state().find(train::stepCountState))
      return *program->state().state().data<int64_t>(*index);
  return std::nullopt;
}

} // namespace freestone::distributed
