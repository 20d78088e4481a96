#include "distributed/execute/SharedStates.h"

#include "formats/ElementType.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace freestone::distributed {

/// Of every version: a cache line.
static constexpr size_t versionAlignment = 64;

SharedStates::SharedStates(std::map<int, std::unique_ptr<StageRun>> &stages, const PipelineDescription &pipeline,
                           const RankSchedules &schedules, int own, Courier *courier)
    : stages(stages), pipeline(pipeline), schedules(schedules), own(own), courier(courier) {
  for (int number = 0; number < static_cast<int>(pipeline.shared.size()); ++number)
    for (auto &[stage, run] : stages) {
      const SharedState &shared = pipeline.shared[number];
      if (stage == shared.home || std::ranges::find(shared.stages, stage) == shared.stages.end())
        continue;
      train::TrainedState &state = run->program.state();
      size_t index = state.find(shared.name).value();
      const StateInfo &info = state.states()[index];
      Copy &copy = copies.emplace_back(Copy{stage, number, index, formats::countBytes(info.dtype, info.shape), {}});
      // As many versions as micro-batches under way can read, and the one that comes next.
      size_t rounded = (copy.bytes + versionAlignment - 1) / versionAlignment * versionAlignment;
      for (int more = schedules.isDelayed() ? schedules.usualNeeds()[stage].kept : 0; more > 0; --more) {
        auto *memory = static_cast<uint8_t *>(std::aligned_alloc(versionAlignment, rounded));
        if (!memory)
          throw std::bad_alloc();
        copy.memory.emplace_back(memory, std::free);
      }
    }
}

size_t SharedStates::bytes() const {
  size_t bytes = 0;
  for (const Copy &copy : copies)
    bytes += copy.memory.size() * copy.bytes;
  return bytes;
}

void SharedStates::place(const Copy &copy, int64_t version) const {
  if (copy.memory.empty())
    return;
  auto turn = static_cast<size_t>(version) % (copy.memory.size() + 1);
  void *memory = turn == 0 ? nullptr : copy.memory[turn - 1].get();
  stages.at(copy.stage)->program.state().state().place(copy.index, memory, copy.bytes);
}

/// A version of a state, from its home to a reader, in the memory of the stage `at`.
Message SharedStates::messageOf(int state, int reader, int64_t version, int at) const {
  const SharedState &shared = pipeline.shared[state];
  train::TrainedState &held = stages.at(at)->program.state();
  size_t index = held.find(shared.name).value();
  const StateInfo &info = held.states()[index];
  MessagePart part = {held.state().tensor(index).data, formats::countBytes(info.dtype, info.shape), info.dtype};
  return {{MessageKind::State, pipeline.hash, version, shared.home, reader, state}, {part}};
}

/// The next version of a copy.
void SharedStates::receive(Copy &copy) {
  int home = stateOf(copy).home;
  place(copy, ++copy.newest);
  courier->wait(courier->receive(leaderOf(home), messageOf(copy.state, copy.stage, copy.newest, copy.stage)));
}

void SharedStates::share() {
  for (auto &[stage, run] : stages)
    send(stage);
  for (Copy &copy : copies) {
    int home = stateOf(copy).home;
    if (!stages.contains(home)) {
      receive(copy);
      continue;
    }
    place(copy, ++copy.newest);
    Message source = messageOf(copy.state, copy.stage, copy.newest, home);
    std::memcpy(messageOf(copy.state, copy.stage, copy.newest, copy.stage).parts[0].data, source.parts[0].data,
                copy.bytes);
  }
  for (auto &[of, tickets] : sent)
    for (Ticket ticket : tickets)
      courier->wait(ticket);
  sent.clear();
}

void SharedStates::select(int stage, int microBatch) {
  for (Copy &copy : copies) {
    if (copy.stage != stage)
      continue;
    int64_t version = firstVersion + schedules.versionOf(stateOf(copy).home, microBatch);
    while (copy.newest < version)
      receive(copy);
    place(copy, version);
  }
}

void SharedStates::release(int stage) {
  StageRun &run = *stages.at(stage);
  auto oldest = sent.find({stage, run.versions.newest() + 1 - run.versions.count()});
  if (oldest == sent.end())
    return;
  for (Ticket ticket : oldest->second)
    courier->wait(ticket);
  sent.erase(oldest);
}

void SharedStates::send(int stage) {
  if (leaderOf(stage) != own)
    return;
  int64_t version = newestOf(stage);
  for (int state = 0; state < static_cast<int>(pipeline.shared.size()); ++state)
    for (int reader : pipeline.shared[state].stages) {
      if (pipeline.shared[state].home != stage || reader == stage)
        continue;
      for (int rank : schedules.places()[reader])
        if (rank != own)
          sent[{stage, version}].push_back(courier->send(rank, messageOf(state, reader, version, stage)));
    }
}

void SharedStates::flush() {
  for (Copy &copy : copies) {
    // All stages have had as many updates.
    while (copy.newest < newestOf(copy.stage))
      receive(copy);
    place(copy, copy.newest);
  }
  for (auto &[of, tickets] : sent)
    for (Ticket ticket : tickets)
      courier->wait(ticket);
  sent.clear();
}

} // namespace freestone::distributed
