#include "tools/tensor/Tensor.h"
#include "formats/StoredFloats.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace freestone::tools {

static constexpr size_t alignment = 64;

Tensor::Tensor(freestone_dtype dtype, std::vector<int64_t> shape) : type(dtype), sizes(std::move(shape)) {
  elements = countElements(sizes);
  size_t padded = (formats::countBytes(dtype, sizes) + alignment) / alignment * alignment;
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
  std::swap(unnamed, other.unnamed);
  return *this;
}

Tensor::~Tensor() { std::free(memory); }

size_t Tensor::bytes() const { return formats::countBytes(type, sizes); }

uint8_t Tensor::getPacked(int64_t index) const {
  auto perByte = static_cast<int64_t>(elementsPerByte(type)), width = 8 / perByte;
  return as<uint8_t>()[index / perByte] >> (index % perByte * width) & ((1 << width) - 1);
}

void Tensor::setPacked(int64_t index, uint8_t bits) {
  auto perByte = static_cast<int64_t>(elementsPerByte(type)), width = 8 / perByte, shift = index % perByte * width;
  uint8_t &byte = as<uint8_t>()[index / perByte], mask = static_cast<uint8_t>(((1 << width) - 1) << shift);
  byte = static_cast<uint8_t>((byte & ~mask) | (bits << shift & mask));
}

uint8_t Tensor::code(int64_t index) const {
  return type == FREESTONE_I4 || type == FREESTONE_I2 ? static_cast<uint8_t>(static_cast<int8_t>(number(index)))
                                                      : getPacked(index);
}

Tensor Tensor::named(freestone_dtype dtype) const {
  Tensor tensor(dtype, sizes);
  for (int64_t i = 0; i < elements; ++i)
    tensor.setPacked(i, as<uint8_t>()[i]);
  return tensor;
}

NamedValue NamedValue::of(NamedTensor tensor) {
  NamedValue value{std::move(tensor.name), Kind::Tensor, {}};
  value.elements.push_back(std::move(tensor.tensor));
  return value;
}

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
  case FREESTONE_F8E4M3FN:
  case FREESTONE_F8E4M3FNUZ:
  case FREESTONE_F8E5M2:
  case FREESTONE_F8E5M2FNUZ:
  case FREESTONE_F8E8M0:
  case FREESTONE_F4E2M1:
    return formats::storedToDouble(type, getPacked(index));
  case FREESTONE_I4:
    return static_cast<int8_t>(getPacked(index) << 4) >> 4;
  case FREESTONE_I2:
    return static_cast<int8_t>(getPacked(index) << 6) >> 6;
  case FREESTONE_U4:
  case FREESTONE_U2:
    return getPacked(index);
  }
  return 0;
}

// Converting a double out of range is undefined in C++, and `u8=300` must stay defined.
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
  case FREESTONE_F8E4M3FN:
  case FREESTONE_F8E4M3FNUZ:
  case FREESTONE_F8E5M2:
  case FREESTONE_F8E5M2FNUZ:
  case FREESTONE_F8E8M0:
  case FREESTONE_F4E2M1:
    return setPacked(index, formats::doubleToStored(type, value));
  case FREESTONE_I4:
    return setPacked(index, static_cast<uint8_t>(std::clamp<int8_t>(truncate<int8_t>(value), -8, 7)));
  case FREESTONE_I2:
    return setPacked(index, static_cast<uint8_t>(std::clamp<int8_t>(truncate<int8_t>(value), -2, 1)));
  case FREESTONE_U4:
    return setPacked(index, std::min<uint8_t>(truncate<uint8_t>(value), 15));
  case FREESTONE_U2:
    return setPacked(index, std::min<uint8_t>(truncate<uint8_t>(value), 3));
  }
}

} // namespace freestone::tools
