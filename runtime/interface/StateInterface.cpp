// The part of the C ABI that deals with state.
#include "runtime/interface/Interface.h"

using namespace freestone::runtime;

size_t freestone_artifact_state_count(const freestone_artifact *artifact) {
  return artifact ? artifact->artifact->descriptor().states.size() : 0;
}

static Status noState(size_t index) { return {Code::InvalidArgument, "there is no state " + std::to_string(index)}; }

freestone_status freestone_artifact_state(const freestone_artifact *artifact, size_t index,
                                          freestone_state_info *info) {
  return guarded([&] {
    if (!artifact)
      return nullArgument("artifact");
    const Descriptor &descriptor = artifact->artifact->descriptor();
    if (index >= descriptor.states.size())
      return noState(index);
    const StateInfo &state = descriptor.states[index];
    freestone_state_info value = {};
    value.name = state.name.c_str();
    value.dtype = static_cast<freestone_dtype>(state.dtype);
    value.rank = static_cast<int32_t>(state.shape.size());
    value.dims = state.shape.data();
    value.bytes = state.bytes;
    value.initial = state.initial < 0 ? nullptr : descriptor.weights[state.initial].name.c_str();
    value.panel_axis = static_cast<int32_t>(state.panelAxis);
    value.panel_width = static_cast<int32_t>(state.panelWidth);
    return writeStruct(info, value);
  });
}

freestone_status freestone_state_create(freestone_artifact *artifact, freestone_state **state) {
  return guarded([&] {
    if (!artifact || !state)
      return nullArgument(artifact ? "state" : "artifact");
    *state = nullptr;
    if (!artifact->artifact->isComplete())
      return Status(Code::InvalidArgument, "the artifact carries no weights: supply and finish them first");
    Result<std::shared_ptr<State>> created = State::create(artifact->artifact);
    if (!created.ok())
      return created.status();
    *state = new freestone_state{std::move(*created)};
    return Status();
  });
}

freestone_status freestone_instance_state(const freestone_instance *instance, freestone_state **state) {
  return guarded([&] {
    if (!instance || !state)
      return nullArgument(instance ? "state" : "instance");
    *state = nullptr;
    if (!instance->instance->state())
      return Status(Code::InvalidArgument,
                    "entry '" + instance->instance->entry().name + "' keeps nothing from run to run");
    *state = new freestone_state{instance->instance->state()};
    return Status();
  });
}

void freestone_state_release(freestone_state *state) { delete state; }

freestone_status freestone_state_tensor(const freestone_state *state, size_t index, DLTensor *view) {
  return guarded([&] {
    if (!state || !view)
      return nullArgument(state ? "view" : "state");
    const std::vector<StateInfo> &infos = state->state->artifact().descriptor().states;
    if (index >= infos.size())
      return noState(index);
    *view = toDLTensor(state->state->data(index), infos[index].dtype, state->state->storedShape(index));
    return Status();
  });
}

/// Checks shared by reading and writing.
static Status checkCopy(const freestone_state *state, size_t index, const void *data, size_t bytes) {
  if (!state || !data)
    return nullArgument(state ? "data" : "state");
  if (index >= state->state->artifact().descriptor().states.size())
    return noState(index);
  return state->state->checkSize(index, bytes);
}

freestone_status freestone_state_read(const freestone_state *state, size_t index, void *data, size_t bytes) {
  return guarded([&] {
    Status status = checkCopy(state, index, data, bytes);
    if (status.ok())
      state->state->read(index, data);
    return status;
  });
}

freestone_status freestone_state_place(freestone_state *state, size_t index, void *data, size_t bytes) {
  return guarded([&] {
    if (!state)
      return nullArgument("state");
    if (index >= state->state->artifact().descriptor().states.size())
      return noState(index);
    return state->state->place(index, data, bytes);
  });
}

freestone_status freestone_state_write(freestone_state *state, size_t index, const void *data, size_t bytes) {
  return guarded([&] {
    Status status = checkCopy(state, index, data, bytes);
    if (status.ok())
      state->state->write(index, data);
    return status;
  });
}
