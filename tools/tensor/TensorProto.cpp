#include "tools/tensor/TensorProto.h"
#include "formats/OnnxElementType.h"
#include "tools/tensor/Tensor.pb.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::tools {

static constexpr int stringType = 8, externalLocation = 1;

/// ONNX's number of an element type. Throws for those that the runtime does not have.
static freestone_dtype elementType(int type) {
  if (std::optional<freestone_dtype> known = formats::elementTypeFromOnnx(type))
    return *known;
  static constexpr std::pair<int, const char *> others[] = {
      {stringType, "string"}, {14, "complex64"}, {15, "complex128"}, {27, "f6e2m3"}, {28, "f6e3m2"}};
  for (auto [number, name] : others)
    if (number == type)
      throw UnsupportedValue(fmt::format("tensors of {} are not supported", name));
  throw TensorError(fmt::format("it has no element type with the number {}", type));
}

/// Copies elements of type `Source` to the tensor's narrower `Target`; both are plain numbers or bits.
template <typename Target, typename Field> static void copyElements(const Field &field, Tensor &tensor) {
  if (static_cast<size_t>(field.size()) * sizeof(Target) != tensor.bytes())
    throw TensorError(fmt::format("it holds {} elements, but its shape is {}", field.size(),
                                  describe(tensor.dtype(), tensor.shape())));
  std::transform(field.begin(), field.end(), tensor.as<Target>(),
                 [](auto value) { return static_cast<Target>(value); });
}

static void copyTyped(const tensor::TensorProto &proto, Tensor &tensor) {
  switch (tensor.dtype()) {
  case FREESTONE_F32:
    return copyElements<float>(proto.float_data(), tensor);
  case FREESTONE_F64:
    return copyElements<double>(proto.double_data(), tensor);
  case FREESTONE_I64:
    return copyElements<int64_t>(proto.int64_data(), tensor);
  case FREESTONE_U64:
    return copyElements<uint64_t>(proto.uint64_data(), tensor);
  case FREESTONE_U32:
    return copyElements<uint32_t>(proto.uint64_data(), tensor);
  case FREESTONE_I32:
    return copyElements<int32_t>(proto.int32_data(), tensor);
  case FREESTONE_F16:
  case FREESTONE_BF16:
  case FREESTONE_I16:
  case FREESTONE_U16:
    return copyElements<uint16_t>(proto.int32_data(), tensor);
  case FREESTONE_I1:
  case FREESTONE_I8:
  case FREESTONE_U8:
  case FREESTONE_F8E4M3FN:
  case FREESTONE_F8E4M3FNUZ:
  case FREESTONE_F8E5M2:
  case FREESTONE_F8E5M2FNUZ:
  case FREESTONE_F8E8M0:
  // Several elements to a number, as in raw data.
  case FREESTONE_F4E2M1:
  case FREESTONE_I4:
  case FREESTONE_U4:
  case FREESTONE_I2:
  case FREESTONE_U2:
    return copyElements<uint8_t>(proto.int32_data(), tensor);
  }
}

static Tensor toTensor(const tensor::TensorProto &proto) {
  freestone_dtype dtype = elementType(proto.data_type());
  std::vector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  if (proto.data_location() == externalLocation)
    throw TensorError("its elements are in another file");
  if (proto.has_segment())
    throw TensorError("it is a segment of a larger tensor");
  // A damaged shape must not cause a huge allocation: every element takes at least a byte, or its part of one.
  size_t count = formats::countBytes(dtype, shape) / elementBytes(dtype);
  size_t largest = std::max<size_t>({proto.raw_data().size(), size_t(proto.float_data_size()),
                                     size_t(proto.int32_data_size()), size_t(proto.int64_data_size()),
                                     size_t(proto.double_data_size()), size_t(proto.uint64_data_size())});
  if (count > largest)
    throw TensorError(fmt::format("it holds fewer elements than its shape {} says", describe(dtype, shape)));
  Tensor tensor(dtype, std::move(shape));
  if (proto.raw_data().empty()) {
    copyTyped(proto, tensor);
  } else {
    if (proto.raw_data().size() != tensor.bytes())
      throw TensorError(fmt::format("it holds {} bytes of elements, but its shape is {}", proto.raw_data().size(),
                                    describe(dtype, tensor.shape())));
    std::memcpy(tensor.data(), proto.raw_data().data(), tensor.bytes());
  }
  if (dtype == FREESTONE_I1)
    std::for_each_n(tensor.as<uint8_t>(), tensor.count(), [](uint8_t &value) { value = value != 0; });
  return tensor;
}

static void requireSmall(Bytes bytes) {
  if (bytes.size() > INT32_MAX)
    throw TensorError("it is larger than 2 GiB, more than protobuf allows");
}

NamedTensor parseTensorProto(Bytes bytes) {
  requireSmall(bytes);
  tensor::TensorProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !proto.has_data_type())
    throw TensorError("it is not a TensorProto, or it is truncated");
  return {proto.name(), toTensor(proto)};
}

static std::vector<Tensor> elementsOf(const tensor::ContainerProto &container) {
  if (container.sparse_tensor_value_size() || container.map_value_size() || container.optional_value_size())
    throw UnsupportedValue("it holds elements that are no tensors");
  std::vector<Tensor> elements;
  for (const tensor::TensorProto &element : container.tensor_value())
    elements.push_back(toTensor(element));
  return elements;
}

NamedValue parseContainerProto(Bytes bytes) {
  requireSmall(bytes);
  tensor::ContainerProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !proto.unknown_fields().empty())
    throw TensorError("it is neither a SequenceProto nor an OptionalProto, or it is truncated");
  // ONNX's numbers of the kinds of what an optional holds; all sequences here are of tensors.
  constexpr int nothing = 0;
  NamedValue value{proto.name(), NamedValue::Kind::Sequence, {}};
  if (proto.sequence_value_size() > 1)
    throw UnsupportedValue("it holds a sequence of sequences");
  if (proto.elem_type() == nothing && proto.tensor_value_size() == 0 && proto.sequence_value_size() == 0)
    value.kind = NamedValue::Kind::Absent;
  value.elements = elementsOf(proto.sequence_value_size() ? proto.sequence_value(0) : proto);
  return value;
}

NamedValue parseValueProto(Bytes bytes) {
  try {
    return NamedValue::of(parseTensorProto(bytes));
  } catch (const UnsupportedValue &) {
    throw;
  } catch (const TensorError &) {
    // The messages have fields of the same numbers.
    try {
      return parseContainerProto(bytes);
    } catch (const UnsupportedValue &) {
      throw;
    } catch (const TensorError &) {
    }
    throw;
  }
}

} // namespace freestone::tools
