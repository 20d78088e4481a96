#ifndef FREESTONE_DISTRIBUTED_EXECUTE_VALUEMEMORY_H
#define FREESTONE_DISTRIBUTED_EXECUTE_VALUEMEMORY_H

#include "distributed/execute/StageProgram.h"
#include <map>
#include <memory>

namespace freestone::distributed {

/// Memory for the pipeline's values of some entries, in slots: one for each micro-batch under way. Slots have the same
/// layout, in which every value has its own place; places grow when larger sizes come, else nothing is allocated. Not
/// thread-safe.
class ValueMemory {
public:
  /// For the values that the entries read and make; null entries count as absent. They must outlive this.
  ValueMemory(const std::vector<StageEntry *> &entries, const PipelineDescription &pipeline);

  /// Bytes of a slot at each of these sizes, and of those that were planned before. Takes no memory.
  size_t plan(const std::vector<std::vector<int64_t>> &sizes);
  /// Makes place for so many slots at each of these sizes. Pointers into slots may change: none may be in use.
  void reserve(int slots, const std::vector<std::vector<int64_t>> &sizes);
  /// Gives a slot to a micro-batch of these sizes, which were reserved.
  void open(int slot, const std::vector<int64_t> &sizes);
  /// The values of a slot, by their numbers in the description.
  const std::vector<PlacedValue> &at(int slot) const { return slots[slot].values; }
  size_t bytesOf(int slot, int value) const;
  freestone_dtype typeOf(int value) const { return held.at(value).type; }
  bool holds(int value) const { return held.contains(value); }

  /// Of all slots.
  size_t bytes() const { return slots.size() * slotBytes; }
  /// How often memory was taken.
  int64_t allocations() const { return allocated; }

private:
  /// A value with its place.
  struct Held {
    StageEntry *entry = nullptr;
    StageEntry::Port port = {};
    bool isRead = false;
    freestone_dtype type = FREESTONE_F32;
    size_t bytes = 0, offset = 0;
  };
  using Shapes = std::map<int, std::vector<int64_t>>; ///< by value
  struct Slot {
    std::unique_ptr<uint8_t, void (*)(void *)> memory;
    std::vector<PlacedValue> values;
  };

  const Shapes &shapesOf(const std::vector<int64_t> &sizes);

  size_t valueCount;
  std::map<int, Held> held;
  std::map<std::vector<int64_t>, Shapes> known; ///< by sizes
  std::vector<Slot> slots;
  size_t slotBytes = 0;
  int64_t allocated = 0;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_VALUEMEMORY_H
