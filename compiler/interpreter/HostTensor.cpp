#include "compiler/interpreter/HostTensor.h"
#include "compiler/interpreter/Rounding.h"
#include "compiler/interpreter/StoredElements.h"
#include "compiler/interpreter/Tensor.h"
#include "compiler/interpreter/TensorMemory.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;

namespace freestone::interpreter {

static int64_t getElementBytes(Type elementType) { return std::max(8u, elementType.getIntOrFloatBitWidth()) / 8; }

int64_t countBytes(Type elementType, int64_t elements) {
  if (graph::isSubByte(elementType))
    return llvm::divideCeil(elements, graph::PackedAttr::getElementsPerByte(elementType));
  return elements * getElementBytes(elementType);
}

int64_t HostTensor::getNumElements() const { return interpreter::getNumElements(dims); }

HostTensor HostTensor::allocate(Type elementType, ArrayRef<int64_t> dims) {
  int64_t count = interpreter::getNumElements(dims);
  return {elementType, dims.vec(), std::vector<char>(countBytes(elementType, count))};
}

int64_t getNumElements(ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

Dims getStrides(ArrayRef<int64_t> dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t dim = dims.size(); dim-- > 0; stride *= dims[dim])
    strides[dim] = stride;
  return strides;
}

Tensor::Tensor(Type elementType, ArrayRef<int64_t> dims)
    : elementType(elementType), dims(dims),
      elements(allocateTensorMemory(interpreter::getNumElements(dims) * sizeof(int64_t))) {
  static_assert(sizeof(double) == sizeof(int64_t));
}

Tensor Tensor::scalar(Type elementType, int64_t value) {
  Tensor tensor(elementType, {});
  if (tensor.isReal())
    *tensor.data<double>() = value;
  else
    *tensor.data<int64_t>() = wrapTo(elementType, value);
  return tensor;
}

Tensor Tensor::reshaped(ArrayRef<int64_t> shape) const {
  Tensor tensor = *this;
  tensor.dims.assign(shape.begin(), shape.end());
  return tensor;
}

Tensor Tensor::retyped(Type type) const {
  Tensor tensor = *this;
  tensor.elementType = type;
  return tensor;
}

Tensor Tensor::fromHost(const HostTensor &host) { return fromBytes(host.elementType, host.dims, host.bytes); }

/// Decodes elements of the C++ type `Stored`; bytes may be unaligned.
template <typename Stored, typename Convert> static void decode(ArrayRef<char> bytes, Tensor &tensor, Convert convert) {
  tensor.visit([&](auto kind) {
    auto *out = tensor.data<decltype(kind)>();
    for (int64_t i = 0, count = tensor.size(); i < count; ++i) {
      Stored stored;
      std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
      out[i] = convert(stored);
    }
  });
}

template <typename Stored, typename Convert>
static void encode(const Tensor &tensor, std::vector<char> &bytes, Convert convert) {
  tensor.visit([&](auto kind) {
    auto *in = tensor.data<decltype(kind)>();
    for (int64_t i = 0, count = tensor.size(); i < count; ++i) {
      Stored stored = static_cast<Stored>(convert(in[i]));
      std::memcpy(bytes.data() + i * sizeof(Stored), &stored, sizeof(Stored));
    }
  });
}

Tensor Tensor::fromBytes(Type elementType, ArrayRef<int64_t> dims, ArrayRef<char> bytes) {
  Tensor tensor(elementType, dims);
  auto same = [](auto value) { return value; };
  bool hasSign = !elementType.isUnsignedInteger();
  unsigned width = elementType.getIntOrFloatBitWidth();
  if (graph::isSubByte(elementType))
    decode<int8_t>(unpackBytes(elementType, bytes, tensor.size()), tensor, same);
  else if (graph::isStorageOnly(elementType))
    decode<uint8_t>(bytes, tensor, same);
  else if (elementType.isF16() || elementType.isBF16())
    decode<uint16_t>(bytes, tensor, [&](uint16_t bits) { return decodeNarrow(elementType, bits); });
  else if (elementType.isF32())
    decode<float>(bytes, tensor, same);
  else if (elementType.isF64())
    decode<double>(bytes, tensor, same);
  else if (width == 1)
    decode<uint8_t>(bytes, tensor, [](uint8_t value) { return value != 0; });
  else if (width == 8)
    hasSign ? decode<int8_t>(bytes, tensor, same) : decode<uint8_t>(bytes, tensor, same);
  else if (width == 16)
    hasSign ? decode<int16_t>(bytes, tensor, same) : decode<uint16_t>(bytes, tensor, same);
  else if (width == 32)
    hasSign ? decode<int32_t>(bytes, tensor, same) : decode<uint32_t>(bytes, tensor, same);
  else
    decode<int64_t>(bytes, tensor, same);
  return tensor;
}

HostTensor Tensor::toHost(Type type) const {
  HostTensor host = HostTensor::allocate(type, dims);
  auto same = [](auto value) { return value; };
  if (graph::isSubByte(type)) {
    std::vector<char> unpacked(size());
    encode<int8_t>(*this, unpacked, same);
    host.bytes = packBytes(type, unpacked);
  } else if (type.isF16() || type.isBF16())
    encode<uint16_t>(*this, host.bytes, [&](double value) { return encodeNarrow(type, roundTo(type, value)); });
  else if (type.isF32())
    encode<float>(*this, host.bytes, same);
  else if (type.isF64())
    encode<double>(*this, host.bytes, same);
  else if (getElementBytes(type) == 1)
    encode<int8_t>(*this, host.bytes, same);
  else if (getElementBytes(type) == 2)
    encode<int16_t>(*this, host.bytes, same);
  else if (getElementBytes(type) == 4)
    encode<int32_t>(*this, host.bytes, same);
  else
    encode<int64_t>(*this, host.bytes, same);
  return host;
}

} // namespace freestone::interpreter
