#include "train/step/TrainedState.h"

#include <algorithm>
#include <cstring>

namespace freestone::train {

namespace {

constexpr std::string_view optimizerPrefix = "optimizer/", accumulatedPrefix = "accumulated/",
                           pendingPrefix = "pending/";

} // namespace

std::optional<size_t> TrainedState::find(const std::string &name) const {
  auto found = std::ranges::find(infos, name, &StateInfo::name);
  return found == infos.end() ? std::nullopt : std::optional<size_t>(found - infos.begin());
}

bool TrainedState::isSum(const StateInfo &info) { return info.name.starts_with(accumulatedPrefix); }

bool TrainedState::isPending(const StateInfo &info) { return info.name.starts_with(pendingPrefix); }

std::string TrainedState::groupOf(const StateInfo &info) const {
  if (std::ranges::any_of(about.parameters, [&](const ParameterInfo &p) { return p.trained && p.name == info.name; }))
    return "parameters";
  if (isSum(info) || isPending(info))
    return "";
  bool isOptimizers =
      info.name.starts_with(optimizerPrefix) || info.name == "loss_scale" || info.name == "growth_tracker";
  return isOptimizers ? "optimizer" : "statistics";
}

static runtime::Panels panelsOf(const StateInfo &info) { return {info.panelAxis, info.panelWidth}; }

formats::TensorView TrainedState::viewOf(size_t index) const {
  const StateInfo &info = infos[index];
  auto *data = static_cast<const uint8_t *>(values.tensor(index).data);
  return {info.name, info.dtype, info.shape, {data, formats::countBytes(info.dtype, info.shape)}};
}

std::vector<TensorGroup> TrainedState::groups() const {
  std::vector<TensorGroup> groups = {{"parameters", {}}, {"statistics", {}}, {"optimizer", {}}};
  for (size_t i = 0; i < infos.size(); ++i)
    if (auto group = std::ranges::find(groups, groupOf(infos[i]), &TensorGroup::name); group != groups.end()) {
      group->tensors.push_back(viewOf(i));
      if (infos[i].panelWidth)
        group->panels[infos[i].name] = panelsOf(infos[i]);
    }
  std::erase_if(groups, [](const TensorGroup &group) { return group.tensors.empty(); });
  return groups;
}

std::vector<formats::TensorView> TrainedState::weights() const {
  rows.clear();
  std::vector<formats::TensorView> views;
  for (size_t i = 0; i < infos.size(); ++i) {
    std::string group = groupOf(infos[i]);
    if (group != "parameters" && group != "statistics")
      continue;
    formats::TensorView view = viewOf(i);
    if (infos[i].panelWidth) {
      std::vector<uint8_t> &copy = rows.emplace_back(view.bytes.size());
      values.read(i, copy.data(), copy.size());
      view.bytes = {copy.data(), copy.size()};
    }
    views.push_back(std::move(view));
  }
  return views;
}

void TrainedState::addTargets(std::map<std::string, std::vector<TensorTarget>> &targets) const {
  for (size_t i = 0; i < infos.size(); ++i)
    if (std::string group = groupOf(infos[i]); !group.empty())
      targets[group].push_back(
          {infos[i].name, infos[i].dtype, infos[i].shape, values.tensor(i).data, panelsOf(infos[i])});
}

void TrainedState::completeRestored() {
  for (size_t i = 0; i < infos.size(); ++i)
    if (isPending(infos[i]))
      if (std::optional<size_t> adopted = find(infos[i].name.substr(pendingPrefix.size())))
        std::memcpy(values.tensor(i).data, values.tensor(*adopted).data,
                    formats::countBytes(infos[i].dtype, infos[i].shape));
}

} // namespace freestone::train
