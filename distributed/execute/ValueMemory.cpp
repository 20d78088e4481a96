#include "distributed/execute/ValueMemory.h"

#include "formats/ElementType.h"
#include <cstdlib>
#include <new>

namespace freestone::distributed {

/// Of every value: a cache line.
static constexpr size_t alignment = 64;

ValueMemory::ValueMemory(const std::vector<StageEntry *> &entries, const PipelineDescription &pipeline,
                         const std::function<bool(int value)> &wanted)
    : valueCount(pipeline.values.size()) {
  for (StageEntry *entry : entries) {
    if (!entry)
      continue;
    for (bool isRead : {false, true})
      for (const StageEntry::Port &port : isRead ? entry->reads() : entry->makes())
        if (!wanted || wanted(port.value))
          held.try_emplace(port.value, Held{entry, port, isRead, entry->typeOf(port, isRead)});
  }
}

const ValueMemory::Shapes &ValueMemory::shapesOf(const std::vector<int64_t> &sizes) {
  auto [found, isNew] = known.try_emplace(sizes);
  if (isNew)
    for (auto &[value, place] : held)
      found->second[value] = place.entry->shapeOf(place.port, place.isRead, sizes);
  return found->second;
}

size_t ValueMemory::plan(const std::vector<std::vector<int64_t>> &sizes) {
  bool grows = false;
  for (const std::vector<int64_t> &one : sizes)
    for (const auto &[value, shape] : shapesOf(one)) {
      Held &place = held.at(value);
      size_t bytes = formats::countBytes(place.type, shape);
      grows |= bytes > place.bytes;
      place.bytes = std::max(place.bytes, bytes);
    }
  if (grows) {
    ++generation;
    slotBytes = 0;
    for (auto &[value, place] : held) {
      place.offset = slotBytes;
      slotBytes += (place.bytes + alignment - 1) / alignment * alignment;
    }
  }
  return slotBytes;
}

void ValueMemory::reserve(int count, const std::vector<std::vector<int64_t>> &sizes) {
  plan(sizes);
  if (static_cast<int>(slots.size()) < count)
    slots.resize(count);
}

/// Gives places to the values of a slot, none of which is in use.
void ValueMemory::layOut(Slot &slot) {
  slot.generation = generation;
  slot.values.resize(valueCount);
  if (slot.bytes < slotBytes) {
    slot.bytes = slotBytes;
    slot.memory.reset();
    slot.memory = {static_cast<uint8_t *>(std::aligned_alloc(alignment, slot.bytes)), std::free};
    if (!slot.memory)
      throw std::bad_alloc();
    ++allocated;
  }
  for (const auto &[value, place] : held)
    slot.values[value].data = slot.memory.get() + place.offset;
}

void ValueMemory::takeAll() {
  for (Slot &slot : slots)
    if (slot.generation != generation)
      layOut(slot);
}

void ValueMemory::open(int slot, const std::vector<int64_t> &sizes) {
  if (slots[slot].generation != generation)
    layOut(slots[slot]);
  for (const auto &[value, shape] : known.at(sizes))
    slots[slot].values[value].dims = &shape;
}

void ValueMemory::addTo(std::vector<PlacedValue> &values, int slot) const {
  for (const auto &[value, place] : held)
    values[value] = slots[slot].values[value];
}

size_t ValueMemory::bytesOf(int slot, int value) const {
  return formats::countBytes(held.at(value).type, *slots[slot].values[value].dims);
}

size_t ValueMemory::bytes() const {
  size_t bytes = 0;
  for (const Slot &slot : slots)
    bytes += slot.bytes;
  return bytes;
}

} // namespace freestone::distributed
