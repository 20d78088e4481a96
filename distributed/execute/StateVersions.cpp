#include "distributed/execute/StateVersions.h"

#include "formats/ElementType.h"
#include <cstdlib>
#include <cstring>
#include <new>

namespace freestone::distributed {

/// Of every state: a cache line.
static constexpr size_t stateAlignment = 64;

void StateVersions::Ring::add(const State &state, size_t index, size_t bytes) {
  members.push_back({index, bytes, turnBytes, state.tensor(index).data});
  turnBytes += (bytes + stateAlignment - 1) / stateAlignment * stateAlignment;
}

void StateVersions::Ring::allocate(int wanted) {
  count = wanted;
  if (bytes() == 0)
    return;
  auto *all = static_cast<uint8_t *>(std::aligned_alloc(stateAlignment, bytes()));
  if (!all)
    throw std::bad_alloc();
  std::memset(all, 0, bytes());
  memory = {all, std::free};
}

void *StateVersions::Ring::place(const Member &member, int64_t turn) const {
  int64_t number = turn % count;
  return number == 0 ? member.own : memory.get() + (number - 1) * turnBytes + member.offset;
}

void StateVersions::Ring::select(const State &state, int64_t turn) {
  if (turn % count == selected % count)
    return;
  for (const Member &member : members)
    state.place(member.state, turn % count == 0 ? nullptr : place(member, turn), member.bytes);
  selected = turn;
}

StateVersions::StateVersions(train::TrainedState &state, int weightVersions, int sumVersions,
                             const std::set<std::string> &copies)
    : state(state) {
  const std::vector<StateInfo> &infos = state.states();
  for (size_t i = 0; i < infos.size(); ++i) {
    size_t bytes = formats::countBytes(infos[i].dtype, infos[i].shape);
    if (state.isSum(infos[i]))
      sums.add(state.state(), i, bytes);
    else if (!copies.contains(infos[i].name) &&
             (state.groupOf(infos[i]) == "parameters" || infos[i].name == train::stepCountState))
      weights.add(state.state(), i, bytes);
  }
  weights.allocate(weightVersions);
  sums.allocate(sumVersions);
}

void StateVersions::select(int64_t version, int64_t step) {
  weights.select(state.state(), version);
  sums.select(state.state(), step);
}

void StateVersions::advance(int64_t step) {
  if (weights.count > 1)
    for (const Ring::Member &member : weights.members)
      std::memcpy(weights.place(member, weights.newest + 1), weights.place(member, weights.newest), member.bytes);
  select(++weights.newest, step);
}

} // namespace freestone::distributed
