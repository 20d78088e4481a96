#ifndef FREESTONE_DISTRIBUTED_EXECUTE_VALUEMEMORY_H
#define FREESTONE_DISTRIBUTED_EXECUTE_VALUEMEMORY_H

#include "distributed/execute/StageProgram.h"
#include <functional>
#include <map>
#include <memory>

namespace freestone::distributed {

/// Memory for the pipeline's values of some entries, in slots: one for each micro-batch under way. In a slot every
/// value has its own place; places grow when larger sizes come, else nothing is allocated. Not thread-safe.
class ValueMemory {
public:
  /// For those of the values that the entries read and make which are `wanted`, by number; null entries count as
  /// absent. They must outlive this.
  ValueMemory(const std::vector<StageEntry *> &entries, const PipelineDescription &pipeline,
              const std::function<bool(int value)> &wanted = {});

  /// Bytes of a slot at each of these sizes, and of those that were planned before. Takes no memory.
  size_t plan(const std::vector<std::vector<int64_t>> &sizes);
  /// Makes place for so many slots at each of these sizes, when they are opened next.
  void reserve(int slots, const std::vector<std::vector<int64_t>> &sizes);
  /// Takes the memory of all slots now, rather than when they are opened. None may be in use.
  void takeAll();
  /// Whether a slot's places will move when it is opened: none may be in use then.
  bool willMove(int slot) const { return slots[slot].generation != generation && slots[slot].memory; }
  /// Gives a slot to a micro-batch of these sizes, which were reserved.
  void open(int slot, const std::vector<int64_t> &sizes);
  /// The values of a slot, by their numbers in the description.
  const std::vector<PlacedValue> &at(int slot) const { return slots[slot].values; }
  /// Replaces the places of the values that this memory holds.
  void addTo(std::vector<PlacedValue> &values, int slot) const;
  size_t bytesOf(int slot, int value) const;
  freestone_dtype typeOf(int value) const { return held.at(value).type; }
  bool holds(int value) const { return held.contains(value); }

  /// Of all slots.
  size_t bytes() const;
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
    std::unique_ptr<uint8_t, void (*)(void *)> memory{nullptr, nullptr};
    size_t bytes = 0;
    int64_t generation = 0;
    std::vector<PlacedValue> values;
  };

  const Shapes &shapesOf(const std::vector<int64_t> &sizes);
  void layOut(Slot &slot);

  size_t valueCount;
  std::map<int, Held> held;
  std::map<std::vector<int64_t>, Shapes> known; ///< by sizes
  std::vector<Slot> slots;
  size_t slotBytes = 0;
  int64_t generation = 1; ///< of the places
  int64_t allocated = 0;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_VALUEMEMORY_H
