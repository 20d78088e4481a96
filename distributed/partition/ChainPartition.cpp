#include "distributed/partition/ChainPartition.h"

#include "distributed/Error.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>

namespace freestone::distributed {

namespace {

/// The best way to cut the first nodes into some stages.
struct Choice {
  double slowest = std::numeric_limits<double>::infinity(), bytes = 0;
  int begin = 0; ///< of the last stage

  bool isBetterThan(const Choice &other) const {
    return slowest != other.slowest ? slowest < other.slowest : bytes < other.bytes;
  }
};

/// The bytes that cross a cut before each node: every value once, however many nodes behind the cut read it.
std::vector<double> countCrossing(const Profile &profile) {
  size_t count = profile.nodes.size();
  std::map<int, std::pair<int, double>> last; ///< of each node, its last reader, and the most bytes of an edge
  for (const ProfileEdge &edge : profile.edges) {
    auto &[reader, bytes] = last[edge.from];
    reader = std::max(reader, edge.to);
    bytes = std::max(bytes, edge.bytes);
  }
  std::vector<double> crossing(count + 1);
  for (const auto &[from, reach] : last)
    for (int cut = from + 1; cut <= reach.first; ++cut)
      crossing[cut] += reach.second;
  return crossing;
}

} // namespace

std::vector<int> partitionChain(const Profile &profile, int stages, double bytesPerSecond) {
  int count = static_cast<int>(profile.nodes.size());
  auto hasWork = [](const ProfileNode &node) { return node.time() > 0; };
  if (auto working = std::ranges::count_if(profile.nodes, hasWork); working < stages)
    throw Error(fmt::format("the model's forward pass has {} operations with work, too few for {} stages: choose fewer "
                            "--ranks",
                            working, stages));
  std::vector<double> before(count + 1), crossing = countCrossing(profile);
  for (int node = 0; node < count; ++node)
    before[node + 1] = before[node] + profile.nodes[node].time();
  // What goes forward comes back as gradients.
  auto sending = [&](int cut) { return cut > 0 && cut < count ? 2 * crossing[cut] / bytesPerSecond : 0; };

  std::vector<std::vector<Choice>> best(stages + 1, std::vector<Choice>(count + 1));
  best[0][0] = {0, 0, 0};
  for (int stage = 1; stage <= stages; ++stage)
    for (int end = 1; end <= count; ++end)
      for (int begin = 0; begin < end; ++begin) {
        const Choice &head = best[stage - 1][begin];
        double time = before[end] - before[begin];
        if (time <= 0)
          continue;
        Choice choice{std::max({head.slowest, time, sending(begin), sending(end)}), head.bytes + crossing[begin],
                      begin};
        if (choice.isBetterThan(best[stage][end]))
          best[stage][end] = choice;
      }
  std::vector<int> stageOf(count);
  for (int stage = stages, end = count; stage > 0; --stage) {
    int begin = best[stage][end].begin;
    std::fill(stageOf.begin() + begin, stageOf.begin() + end, stage - 1);
    end = begin;
  }
  return stageOf;
}

} // namespace freestone::distributed
