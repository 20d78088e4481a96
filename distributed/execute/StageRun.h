#ifndef FREESTONE_DISTRIBUTED_EXECUTE_STAGERUN_H
#define FREESTONE_DISTRIBUTED_EXECUTE_STAGERUN_H

#include "distributed/execute/StateVersions.h"
#include "distributed/execute/ValueMemory.h"
#include "distributed/schedule/StageNeeds.h"
#include "distributed/transport/Courier.h"

namespace freestone::distributed {

/// A stage at work on one rank: its program, the values of the micro-batches under way, and the versions of its
/// weights. Not thread-safe.
class StageRun {
public:
  /// A slot for a micro-batch, and the messages that use its memory.
  struct Slot {
    std::vector<Ticket> sends, activations, gradients;
  };

  /// `courier` may be null if there is one rank. All must outlive it.
  StageRun(const Artifact &artifact, int stage, const StageNeeds &needs, const PipelineDescription &pipeline,
           const train::StepDescription &about, const train::Execution &execution, Courier *courier);

  /// Bytes of values and of versions once these sizes have been reserved. Takes no memory.
  size_t plan(const StageNeeds &needs, const std::vector<std::vector<int64_t>> &sizes);
  /// Makes place for these sizes; nothing is under way, or, if `isUnderWay`, slots that are in use keep their memory.
  void reserve(const StageNeeds &needs, const std::vector<std::vector<int64_t>> &sizes, bool isUnderWay);
  Slot &slotOf(int turn) { return slots[numberOf(turn)]; }
  /// The slot's number that the micro-batch has which is the stage's `turn`th on this rank.
  int numberOf(int turn) const { return turn % static_cast<int>(slots.size()); }
  /// Gives a turn's slot to its micro-batch.
  void open(int turn, const std::vector<int64_t> &sizes);
  /// Runs an entry of this name, if the stage has it. What is recomputed has slots of its own.
  void run(std::string_view entry, int turn, std::span<const formats::TensorView> fields,
           const std::vector<int64_t> &sizes);
  /// Bytes of values and of versions.
  size_t bytes() const { return memory.bytes() + recomputed.bytes() + versions.bytes(); }
  int64_t allocations() const { return memory.allocations() + recomputed.allocations(); }
  /// Waits for messages, and forgets them.
  void waitAll(std::vector<Ticket> &tickets);
  void settle();

  StageProgram program;
  StateVersions versions;
  ValueMemory memory;

private:
  Courier *courier;
  ValueMemory recomputed; ///< values that are made between the forward and the backward pass
  std::vector<Slot> slots;
  int recomputedSlots = 1;
  std::vector<PlacedValue> values; ///< of the pass that runs
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_STAGERUN_H
