#include "distributed/execute/StageRun.h"

#include <algorithm>

namespace freestone::distributed {

/// The entries of a micro-batch.
static std::vector<StageEntry *> passesOf(StageProgram &program) {
  return {program.find(forwardEntry), program.find(recomputeEntry), program.find(backwardEntry),
          program.find(inputGradientEntry), program.find(weightGradientEntry)};
}

/// The states that other stages update.
static std::set<std::string> copiesOn(const PipelineDescription &pipeline, int stage) {
  std::set<std::string> copies;
  for (const SharedState &shared : pipeline.shared)
    if (shared.home != stage)
      copies.insert(shared.name);
  return copies;
}

static bool isRecomputed(const PipelineDescription &pipeline, int value, int stage) {
  return pipeline.values[value].from == StagePort{stage, recomputeEntry};
}

StageRun::StageRun(const Artifact &artifact, int stage, const StageNeeds &needs, const PipelineDescription &pipeline,
                   const train::StepDescription &about, const train::Execution &execution, Courier *courier)
    : program(artifact, stage, pipeline, about, execution),
      versions(program.state(), needs.versions, needs.sums, copiesOn(pipeline, stage)),
      memory(passesOf(program), pipeline, [&](int value) { return !isRecomputed(pipeline, value, stage); }),
      courier(courier),
      recomputed(passesOf(program), pipeline, [&](int value) { return isRecomputed(pipeline, value, stage); }) {}

size_t StageRun::plan(const StageNeeds &needs, const std::vector<std::vector<int64_t>> &sizes) {
  return needs.slots() * memory.plan(sizes) + std::max(needs.recomputed, 1) * recomputed.plan(sizes) + versions.bytes();
}

void StageRun::reserve(const StageNeeds &needs, const std::vector<std::vector<int64_t>> &sizes, bool isUnderWay) {
  if (!isUnderWay) {
    slots.resize(needs.slots());
    recomputedSlots = std::max(needs.recomputed, 1);
  }
  memory.reserve(needs.slots(), sizes);
  recomputed.reserve(recomputedSlots, sizes);
  if (!isUnderWay) {
    memory.takeAll();
    recomputed.takeAll();
  }
}

void StageRun::open(int turn, const std::vector<int64_t> &sizes) {
  int number = numberOf(turn);
  if (memory.willMove(number))
    waitAll(slots[number].sends);
  memory.open(number, sizes);
}

void StageRun::run(std::string_view entry, int turn, std::span<const formats::TensorView> fields,
                   const std::vector<int64_t> &sizes) {
  StageEntry *pass = program.find(std::string(entry));
  if (!pass)
    return;
  values = memory.at(numberOf(turn));
  int number = turn % recomputedSlots;
  if (entry == recomputeEntry)
    recomputed.open(number, sizes);
  if (entry != forwardEntry && program.find(recomputeEntry))
    recomputed.addTo(values, number);
  pass->run(values, fields, sizes);
}

void StageRun::waitAll(std::vector<Ticket> &tickets) {
  for (Ticket ticket : tickets)
    courier->wait(ticket);
  tickets.clear();
}

void StageRun::settle() {
  for (Slot &slot : slots)
    waitAll(slot.sends);
}

} // namespace freestone::distributed
