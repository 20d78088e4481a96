#include "distributed/plan/Links.h"

#include "distributed/Error.h"
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace freestone::distributed {

double Links::between(int rank, int other) const {
  for (const Level &level : levels) {
    rank /= level.count;
    other /= level.count;
    if (rank == other)
      return level.bytesPerSecond;
  }
  return levels.back().bytesPerSecond;
}

std::optional<Links> Links::betweenGroups(int size) const {
  Links groups{{}, latency};
  for (Level level : levels) {
    if (level.count % size != 0 && size % level.count != 0)
      return std::nullopt;
    int inside = std::min(size, level.count);
    size /= inside;
    level.count /= inside;
    if (level.count > 1)
      groups.levels.push_back(level);
  }
  if (groups.levels.empty())
    groups.levels = {{1, levels.back().bytesPerSecond}};
  return groups;
}

Links Links::oneMachine(int ranks) {
  // Processes of one machine exchange some 5 GB/s.
  return {{{ranks, 5e9}}, 20e-6};
}

Links Links::parse(const std::string &json) {
  Links links;
  try {
    nlohmann::json parsed = nlohmann::json::parse(json);
    links.latency = parsed.value("latency", 0.0);
    for (const nlohmann::json &level : parsed.at("levels"))
      links.levels.push_back({level.at("ranks"), level.at("bytes_per_second")});
  } catch (const nlohmann::json::exception &error) {
    throw Error(fmt::format("the description of links is none: {}", error.what()));
  }
  for (const Level &level : links.levels)
    if (level.count < 1 || !(level.bytesPerSecond > 0))
      throw Error("a level of links needs at least one rank and more than 0 bytes a second");
  if (links.levels.empty() || !(links.latency >= 0))
    throw Error("links need at least one level, and a latency of at least 0 s");
  return links;
}

} // namespace freestone::distributed
