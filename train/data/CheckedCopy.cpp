#include "train/data/CheckedCopy.h"
#include "formats/ElementType.h"
#include <algorithm>
#include <cstring>
#include <limits>

namespace freestone::train {

/// Elements are checked in branch-free blocks, so that the loops are vectorized.
static constexpr int64_t block = 1024;

template <typename T> static T load(const uint8_t *source, int64_t index) {
  T value;
  std::memcpy(&value, source + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T> static void store(uint8_t *target, int64_t index, T value) {
  std::memcpy(target + index * sizeof(T), &value, sizeof(T));
}

/// A NaN's bits, without the sign, exceed those of infinity.
template <typename Bits>
static int64_t copyFloats(const uint8_t *source, int64_t count, Bits infinity, uint8_t *target) {
  constexpr Bits magnitude = static_cast<Bits>(-1) >> 1;
  for (int64_t begin = 0; begin < count; begin += block) {
    int64_t end = std::min(count, begin + block);
    Bits largest = 0;
    for (int64_t i = begin; i < end; ++i) {
      Bits bits = load<Bits>(source, i);
      largest = std::max<Bits>(largest, bits & magnitude);
      store(target, i, bits);
    }
    if (largest <= infinity)
      continue;
    for (int64_t i = begin;; ++i)
      if ((load<Bits>(source, i) & magnitude) > infinity)
        return i;
  }
  return -1;
}

int64_t copyElements(freestone_dtype dtype, const uint8_t *source, int64_t count, uint8_t *target) {
  switch (dtype) {
  case FREESTONE_F16:
    return copyFloats<uint16_t>(source, count, 0x7c00, target);
  case FREESTONE_BF16:
    return copyFloats<uint16_t>(source, count, 0x7f80, target);
  case FREESTONE_F32:
    return copyFloats<uint32_t>(source, count, 0x7f800000, target);
  case FREESTONE_F64:
    return copyFloats<uint64_t>(source, count, 0x7ff0000000000000, target);
  case FREESTONE_I1:
    std::transform(source, source + count, target, [](uint8_t value) { return value != 0; });
    return -1;
  default:
    std::memcpy(target, source, static_cast<size_t>(count) * formats::elementBytes(dtype));
    return -1;
  }
}

/// Calls `function` with a value of the integer type.
template <typename Function> static auto withInteger(freestone_dtype dtype, Function function) {
  switch (dtype) {
  case FREESTONE_I8:
    return function(int8_t());
  case FREESTONE_I16:
    return function(int16_t());
  case FREESTONE_I32:
    return function(int32_t());
  case FREESTONE_U16:
    return function(uint16_t());
  case FREESTONE_U32:
    return function(uint32_t());
  case FREESTONE_I64:
    return function(int64_t());
  case FREESTONE_U64:
    return function(uint64_t());
  default:
    return function(uint8_t());
  }
}

template <typename From, typename To>
static int64_t convert(const uint8_t *source, int64_t count, const IntegerRange &range, uint8_t *target) {
  auto lowest = static_cast<int64_t>(std::numeric_limits<To>::min());
  int64_t highest = sizeof(To) == 8 ? INT64_MAX : static_cast<int64_t>(std::numeric_limits<To>::max());
  bool hasIgnored = range.ignored && *range.ignored >= lowest && *range.ignored <= highest;
  int64_t ignored = range.ignored.value_or(0);
  lowest = std::max(lowest, range.lowest);
  highest = std::min(highest, range.highest);
  auto isWrong = [&](int64_t value) {
    return (value < lowest) | (value > highest) && !(hasIgnored && value == ignored);
  };
  for (int64_t begin = 0; begin < count; begin += block) {
    int64_t end = std::min(count, begin + block);
    bool outside = false;
    for (int64_t i = begin; i < end; ++i) {
      auto value = static_cast<int64_t>(load<From>(source, i));
      outside |= (value < lowest) | (value > highest);
      store(target, i, static_cast<To>(value));
    }
    for (int64_t i = begin; outside && i < end; ++i)
      if (isWrong(static_cast<int64_t>(load<From>(source, i))))
        return i;
  }
  return -1;
}

int64_t convertIntegers(freestone_dtype from, const uint8_t *source, int64_t count, freestone_dtype to,
                        const IntegerRange &range, uint8_t *target) {
  return withInteger(from, [&](auto fromValue) {
    return withInteger(to, [&](auto toValue) {
      return convert<decltype(fromValue), decltype(toValue)>(source, count, range, target);
    });
  });
}

int64_t findOutOfRange(freestone_dtype dtype, const uint8_t *source, int64_t count, const IntegerRange &range) {
  return withInteger(dtype, [&](auto type) -> int64_t {
    for (int64_t i = 0; i < count; ++i) {
      auto value = static_cast<int64_t>(load<decltype(type)>(source, i));
      if (((value < range.lowest) | (value > range.highest)) && value != range.ignored)
        return i;
    }
    return -1;
  });
}

int64_t readInteger(freestone_dtype dtype, const uint8_t *source) {
  return withInteger(dtype, [&](auto value) { return static_cast<int64_t>(load<decltype(value)>(source, 0)); });
}

} // namespace freestone::train
