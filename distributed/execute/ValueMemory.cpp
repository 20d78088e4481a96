#include "distributed/execute/ValueMemory.h"

#include "formats/ElementType.h"
#include <cstdlib>
#include <new>

namespace freestone::distributed {

/// Of every value: a cache line.
static constexpr size_t alignment = 64;

ValueMemory::ValueMemory(const std::vector<StageEntry *> &entries, const PipelineDescription &pipeline)
    : valueCount(pipeline.values.size()) {
  for (StageEntry *entry : entries) {
    if (!entry)
      continue;
    for (bool isRead : {false, true})
      for (const StageEntry::Port &port : isRead ? entry->reads() : entry->makes())
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
    slots.clear();
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
  while (static_cast<int>(slots.size()) < count) {
    void *memory = std::aligned_alloc(alignment, std::max(slotBytes, alignment));
    if (!memory)
      throw std::bad_alloc();
    ++allocated;
    Slot &slot = slots.emplace_back(Slot{{static_cast<uint8_t *>(memory), std::free}, {}});
    slot.values.resize(valueCount);
    for (const auto &[value, place] : held)
      slot.values[value].data = slot.memory.get() + place.offset;
  }
}

void ValueMemory::open(int slot, const std::vector<int64_t> &sizes) {
  for (const auto &[value, shape] : known.at(sizes))
    slots[slot].values[value].dims = &shape;
}

size_t ValueMemory::bytesOf(int slot, int value) const {
  return formats::countBytes(held.at(value).type, *slots[slot].values[value].dims);
}

} // namespace freestone::distributed
