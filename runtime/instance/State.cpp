#include "runtime/instance/State.h"

#include <cstring>

using namespace freestone::runtime;

/// Of every value: a cache line.
static constexpr int64_t alignment = 64;

Result<std::shared_ptr<State>> State::create(std::shared_ptr<const Artifact> artifact) {
  std::shared_ptr<State> state(new State(std::move(artifact)));
  const std::vector<StateInfo> &infos = state->owner->descriptor().states;
  int64_t end = 0;
  for (const StateInfo &info : infos) {
    state->offsets.push_back(end);
    state->storedShapes.push_back(info.panels().storedShape(info.shape));
    if (__builtin_add_overflow(end, info.bytes, &end) || end > INT64_MAX - alignment)
      return Status(Code::OutOfMemory, "the state needs more than 2^63 bytes");
    end = (end + alignment - 1) & -alignment;
  }
  Result<Block> block = Memory::create({}, 0)->allocate(end, "the state");
  if (!block.ok())
    return block.status();
  state->block = std::move(*block);
  for (int64_t offset : state->offsets)
    state->places.push_back(state->block.data() + offset);
  for (size_t i = 0; i < infos.size(); ++i) {
    // Fresh pages are zero; the workers touch them in parallel.
    if (infos[i].initial < 0)
      continue;
    const void *initial = state->owner->weight(infos[i].initial);
    if (Panels panels = infos[i].panels(); panels.width)
      panels.pack(initial, state->data(i), infos[i].shape, dtypeBytes(infos[i].dtype));
    else
      std::memcpy(state->data(i), initial, infos[i].bytes);
    // No instance reads it during the state's lifetime.
    state->owner->releaseWeight(infos[i].initial);
  }
  return state;
}

Status State::checkSize(size_t index, uint64_t bytes) const {
  const StateInfo &info = owner->descriptor().states[index];
  if (bytes == static_cast<uint64_t>(info.bytes))
    return {};
  return {Code::InvalidArgument,
          "state '" + info.name + "' has " + std::to_string(info.bytes) + " bytes, not " + std::to_string(bytes)};
}

void State::read(size_t index, void *rows) const {
  const StateInfo &info = owner->descriptor().states[index];
  if (Panels panels = info.panels(); panels.width)
    panels.unpack(data(index), rows, info.shape, dtypeBytes(info.dtype));
  else
    std::memcpy(rows, data(index), info.bytes);
}

void State::write(size_t index, const void *rows) const {
  const StateInfo &info = owner->descriptor().states[index];
  if (Panels panels = info.panels(); panels.width)
    panels.pack(rows, data(index), info.shape, dtypeBytes(info.dtype));
  else
    std::memcpy(data(index), rows, info.bytes);
}

Status State::place(size_t index, void *data, uint64_t bytes) {
  if (!data) {
    places[index] = block.data() + offsets[index];
    return {};
  }
  if (reinterpret_cast<uintptr_t>(data) % alignment != 0)
    return {Code::InvalidArgument,
            "the memory for state '" + owner->descriptor().states[index].name + "' is not aligned to 64 bytes"};
  if (Status status = checkSize(index, bytes); !status.ok())
    return status;
  places[index] = data;
  return {};
}

bool State::overlaps(const TensorView &view) const {
  if (overlap(view, {block.data(), {}, block.size()}))
    return true;
  const std::vector<StateInfo> &infos = owner->descriptor().states;
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i] != block.data() + offsets[i] && overlap(view, {places[i], {}, infos[i].bytes}))
      return true;
  return false;
}
