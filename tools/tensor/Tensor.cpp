#include "tools/tensor/Tensor.h"
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/ranges.h>
#include <limits>

namespace freestone::tools {

static constexpr size_t alignment = 64;

Tensor::Tensor(freestone_dtype dtype, std::vector<int64_t> shape) : type(dtype), sizes(std::move(shape)) {
  elements = countElements(sizes);
  int64_t total;
  if (__builtin_mul_overflow(elements, static_cast<int64_t>(elementBytes(dtype)), &total))
    throw TensorError(fmt::format("{} is too large", describe(dtype, sizes)));
  size_t padded = (static_cast<size_t>(total) + alignment) / alignment * alignment;
  memory = std::aligned_alloc(alignment, padded);
  if (!memory)
    throw TensorError(fmt::format("no memory for {}", describe(dtype, sizes)));
  std::memset(memory, 0, padded);
}

Tensor &Tensor::operator=(Tensor &&other) noexcept {
  std::swap(type, other.type);
  std::swap(sizes, other.sizes);
  std::swap(elements, other.elements);
  std::swap(memory, other.memory);
  return *this;
}

Tensor::~Tensor() { std::free(memory); }

size_t Tensor::bytes() const { return static_cast<size_t>(elements) * elementBytes(type); }

double Tensor::number(int64_t index) const {
  switch (type) {
  case FREESTONE_F16:
    return halfToDouble(as<uint16_t>()[index]);
  case FREESTONE_BF16:
    return bfloatToDouble(as<uint16_t>()[index]);
  case FREESTONE_F32:
    return as<float>()[index];
  case FREESTONE_F64:
    return as<double>()[index];
  case FREESTONE_I1:
  case FREESTONE_U8:
    return as<uint8_t>()[index];
  case FREESTONE_I8:
    return as<int8_t>()[index];
  case FREESTONE_I16:
    return as<int16_t>()[index];
  case FREESTONE_U16:
    return as<uint16_t>()[index];
  case FREESTONE_I32:
    return as<int32_t>()[index];
  case FREESTONE_U32:
    return as<uint32_t>()[index];
  case FREESTONE_I64:
    return static_cast<double>(as<int64_t>()[index]);
  case FREESTONE_U64:
    return static_cast<double>(as<uint64_t>()[index]);
  }
  return 0;
}

// Converting a double out of range is undefined in C++; a user's `u8=300` must not be.
template <typename T> static T truncate(double value) {
  if (value != value)
    return 0;
  if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  if (value >= static_cast<double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

void Tensor::setNumber(int64_t index, double value) {
  switch (type) {
  case FREESTONE_F16:
    as<uint16_t>()[index] = doubleToHalf(value);
    return;
  case FREESTONE_BF16:
    as<uint16_t>()[index] = doubleToBfloat(value);
    return;
  case FREESTONE_F32:
    as<float>()[index] = static_cast<float>(value);
    return;
  case FREESTONE_F64:
    as<double>()[index] = value;
    return;
  case FREESTONE_I1:
    as<uint8_t>()[index] = value != 0;
    return;
  case FREESTONE_U8:
    as<uint8_t>()[index] = truncate<uint8_t>(value);
    return;
  case FREESTONE_I8:
    as<int8_t>()[index] = truncate<int8_t>(value);
    return;
  case FREESTONE_I16:
    as<int16_t>()[index] = truncate<int16_t>(value);
    return;
  case FREESTONE_U16:
    as<uint16_t>()[index] = truncate<uint16_t>(value);
    return;
  case FREESTONE_I32:
    as<int32_t>()[index] = truncate<int32_t>(value);
    return;
  case FREESTONE_U32:
    as<uint32_t>()[index] = truncate<uint32_t>(value);
    return;
  case FREESTONE_I64:
    as<int64_t>()[index] = truncate<int64_t>(value);
    return;
  case FREESTONE_U64:
    as<uint64_t>()[index] = truncate<uint64_t>(value);
    return;
  }
}

// In the order of freestone_dtype, from 1.
struct TypeInfo {
  std::string_view name;
  size_t bytes;
};
static constexpr TypeInfo types[] = {{"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}, {"i1", 1},  {"i8", 1}, {"i16", 2},
                                     {"i32", 4}, {"i64", 8},  {"u8", 1},  {"u16", 2}, {"u32", 4}, {"u64", 8}};
static_assert(std::size(types) == FREESTONE_U64);

size_t elementBytes(freestone_dtype dtype) { return types[dtype - 1].bytes; }

bool isFloat(freestone_dtype dtype) { return dtype <= FREESTONE_F64; }

std::string_view typeName(freestone_dtype dtype) { return types[dtype - 1].name; }

std::optional<freestone_dtype> typeFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(types); ++i)
    if (types[i].name == name)
      return static_cast<freestone_dtype>(i + 1);
  return std::nullopt;
}

int64_t countElements(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  bool overflow = false, empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      throw TensorError(fmt::format("a dimension of {} is negative", size));
    empty |= size == 0;
    overflow |= __builtin_mul_overflow(count, size, &count);
  }
  if (overflow && !empty)
    throw TensorError(fmt::format("the shape {} has too many elements", fmt::join(shape, "x")));
  return empty ? 0 : count;
}

std::string describe(freestone_dtype dtype, const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += fmt::format("{}x", size);
  return text.append(typeName(dtype));
}

double halfToDouble(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  double mantissa = bits & 1023;
  double magnitude;
  if (exponent == 31)
    magnitude = mantissa == 0 ? INFINITY : NAN;
  else
    magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return std::copysign(magnitude, bits & 0x8000 ? -1.0 : 1.0);
}

double bfloatToDouble(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// Rounds to a binary format by scaling so that the last mantissa bit is worth one: nearbyint then rounds ties to even.
static uint16_t roundTo(double value, int exponentBits, int mantissaBits) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  uint16_t infinity = static_cast<uint16_t>(((1 << exponentBits) - 1) << mantissaBits);
  if (std::isnan(value))
    return sign | infinity | 1 << (mantissaBits - 1);
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  int bias = (1 << (exponentBits - 1)) - 1;
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  if (exponent > bias)
    return sign | infinity;
  auto scaled = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, mantissaBits - exponent)));
  // A carry out of the mantissa raises the exponent by itself, up to infinity.
  auto bits = (static_cast<uint32_t>(exponent + bias - 1) << mantissaBits) + scaled;
  return sign | static_cast<uint16_t>(std::min<uint32_t>(bits, infinity));
}

uint16_t doubleToHalf(double value) { return roundTo(value, 5, 10); }
uint16_t doubleToBfloat(double value) { return roundTo(value, 8, 7); }

} // namespace freestone::tools
