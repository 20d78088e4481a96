#include "runtime/State.h"

#include <cstring>

using namespace freestone::runtime;

Result<std::shared_ptr<State>> State::create(std::shared_ptr<const Artifact> artifact) {
  constexpr int64_t alignment = 64;
  std::shared_ptr<State> state(new State(std::move(artifact)));
  const std::vector<StateInfo> &infos = state->owner->descriptor().states;
  int64_t end = 0;
  for (const StateInfo &info : infos) {
    state->offsets.push_back(end);
    if (__builtin_add_overflow(end, info.bytes, &end) || end > INT64_MAX - alignment)
      return Status(Code::OutOfMemory, "the state needs more than 2^63 bytes");
    end = (end + alignment - 1) & -alignment;
  }
  Result<Block> block = Memory::create({}, 0)->allocate(end, "the state");
  if (!block.ok())
    return block.status();
  state->block = std::move(*block);
  for (size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].initial < 0) {
      std::memset(state->data(i), 0, infos[i].bytes);
      continue;
    }
    std::memcpy(state->data(i), state->owner->weight(infos[i].initial), infos[i].bytes);
    // Nobody else reads it as long as the state lives.
    state->owner->releaseWeight(infos[i].initial);
  }
  return state;
}

bool State::overlaps(const TensorView &view) const {
  auto begin = reinterpret_cast<uintptr_t>(view.data), own = reinterpret_cast<uintptr_t>(block.data());
  return begin < own + block.size() && own < begin + view.bytes;
}
