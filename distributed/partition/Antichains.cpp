#include "distributed/partition/Antichains.h"

#include "distributed/Error.h"
#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>

namespace freestone::distributed {

namespace {

using Nodes = std::vector<int>;

class Search {
public:
  explicit Search(const Profile &profile);
  std::vector<Frontier> run(size_t most);

private:
  bool precedes(int before, int node) const { return ancestors[node][before]; }
  Nodes augment(const Nodes &antichain) const;
  std::vector<Nodes> next(const Nodes &antichain) const;
  Nodes reduce(const Nodes &nodes) const;
  void sort(int state);
  Frontier describe(int state) const;

  const Profile &profile;
  std::vector<Nodes> readers;               ///< of each node, in the order of edges
  std::vector<std::vector<bool>> ancestors; ///< of each node
  std::vector<Nodes> augmented;             ///< of each state
  std::vector<Nodes> following;             ///< states
  std::vector<bool> isSorted;
  std::deque<int> order;
};

Search::Search(const Profile &profile)
    : profile(profile), readers(profile.nodes.size()),
      ancestors(profile.nodes.size(), std::vector<bool>(profile.nodes.size())) {
  std::vector<Nodes> sources(profile.nodes.size());
  for (const ProfileEdge &edge : profile.edges) {
    readers[edge.from].push_back(edge.to);
    sources[edge.to].push_back(edge.from);
  }
  for (size_t node = 0; node < sources.size(); ++node)
    for (int source : sources[node]) {
      ancestors[node][source] = true;
      for (size_t further = 0; further < node; ++further)
        if (ancestors[source][further])
          ancestors[node][further] = true;
    }
}

/// Adds the nodes before an antichain that nodes behind it read.
Nodes Search::augment(const Nodes &antichain) const {
  Nodes all;
  for (int node : antichain)
    for (size_t before = 0; before < readers.size(); ++before) {
      if (!precedes(static_cast<int>(before), node))
        continue;
      bool isRead =
          std::ranges::any_of(readers[before], [&](int reader) { return reader != node && !precedes(reader, node); });
      if (isRead && std::ranges::find(all, static_cast<int>(before)) == all.end())
        all.push_back(static_cast<int>(before));
    }
  for (int node : antichain)
    if (std::ranges::find(all, node) == all.end())
      all.push_back(node);
  return all;
}

/// Leaves out the nodes that come before others.
Nodes Search::reduce(const Nodes &nodes) const {
  Nodes antichain;
  for (int node : nodes)
    if (std::ranges::find(antichain, node) == antichain.end() &&
        std::ranges::none_of(nodes, [&](int other) { return precedes(node, other); }))
      antichain.push_back(node);
  return antichain;
}

/// The antichains that have one more node behind them.
std::vector<Nodes> Search::next(const Nodes &antichain) const {
  std::vector<Nodes> found;
  Nodes all = augment(antichain);
  for (int node : all)
    for (int reader : readers[node]) {
      if (std::ranges::find(antichain, reader) != antichain.end() ||
          std::ranges::any_of(all, [&](int other) { return precedes(reader, other); }))
        continue;
      Nodes moved = all;
      std::ranges::replace(moved, node, reader);
      found.push_back(reduce(moved));
    }
  return found;
}

/// Depth first; a state comes before all that follow.
void Search::sort(int state) {
  if (isSorted[state])
    return;
  isSorted[state] = true;
  for (int after : following[state])
    sort(after);
  order.push_front(state);
}

Frontier Search::describe(int state) const {
  Frontier frontier;
  frontier.nodes = augmented[state];
  for (size_t node = 0; node < profile.nodes.size(); ++node) {
    bool isBefore = std::ranges::any_of(augmented[state], [&](int last) {
      return last == static_cast<int>(node) || precedes(static_cast<int>(node), last);
    });
    if (!isBefore)
      continue;
    const ProfileNode &cost = profile.nodes[node];
    frontier.before.push_back(static_cast<int>(node));
    frontier.compute += cost.time();
    frontier.activations += cost.activations;
    frontier.parameters += cost.parameters;
    frontier.kept += cost.kept;
  }
  for (int node : frontier.nodes)
    frontier.crossing += profile.nodes[node].activations;
  return frontier;
}

std::vector<Frontier> Search::run(size_t most) {
  std::map<Nodes, int> states;
  std::vector<Nodes> antichains;
  auto stateOf = [&](const Nodes &antichain) {
    Nodes key = antichain;
    std::ranges::sort(key);
    auto [found, isNew] = states.try_emplace(key, static_cast<int>(antichains.size()));
    if (isNew) {
      antichains.push_back(antichain);
      augmented.push_back(augment(antichain));
      following.emplace_back();
    }
    return found->second;
  };
  stateOf({0});
  for (size_t state = 0; state < antichains.size(); ++state) {
    if (antichains.size() > most)
      throw Error(fmt::format("the model branches so much that it can be cut in more than {} places", most));
    for (const Nodes &after : next(antichains[state])) {
      int follower = stateOf(after);
      if (Nodes &known = following[state]; std::ranges::find(known, follower) == known.end())
        known.push_back(follower);
    }
  }
  isSorted.assign(antichains.size(), false);
  for (size_t state = 0; state < antichains.size(); ++state)
    sort(static_cast<int>(state));

  std::vector<int> place(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    place[order[i]] = static_cast<int>(i);
  std::vector<Frontier> frontiers;
  std::vector<std::vector<bool>> inner(order.size(), std::vector<bool>(order.size()));
  for (int state : order) {
    size_t own = frontiers.size();
    Frontier &frontier = frontiers.emplace_back(describe(state));
    for (size_t before = 0; before < own; ++before)
      if (inner[own][before])
        frontier.inner.push_back(static_cast<int>(before));
    for (int after : following[state]) {
      std::vector<bool> &reached = inner[place[after]];
      reached[own] = true;
      for (int before : frontier.inner)
        reached[before] = true;
    }
  }
  if (frontiers.back().before.size() != profile.nodes.size())
    throw Error("some of the model's operations neither follow from its first one, nor lead to what does");
  return frontiers;
}

} // namespace

std::vector<Frontier> findFrontiers(const Profile &profile, size_t most) {
  if (profile.nodes.empty())
    throw Error("a profile without nodes can't be cut");
  return Search(profile).run(most);
}

} // namespace freestone::distributed
