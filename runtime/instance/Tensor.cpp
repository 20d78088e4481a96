#include "runtime/instance/Tensor.h"

#include <cstdint>

using namespace freestone::runtime;

DLTensor freestone::runtime::toDLTensor(void *data, DType dtype, const std::vector<int64_t> &shape) {
  DLTensor tensor = {};
  tensor.data = data;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = static_cast<int32_t>(shape.size());
  tensor.dtype = toDLPack(dtype);
  tensor.shape = const_cast<int64_t *>(shape.data());
  return tensor;
}

bool freestone::runtime::overlap(const TensorView &a, const TensorView &b) {
  auto begin = reinterpret_cast<uintptr_t>(a.data), other = reinterpret_cast<uintptr_t>(b.data);
  return a.bytes > 0 && b.bytes > 0 && begin < other + b.bytes && other < begin + a.bytes;
}

namespace {

std::string nameOf(DLDataType type) {
  for (int number = static_cast<int>(DType::f16); number <= static_cast<int>(lastDType); ++number) {
    DType dtype = static_cast<DType>(number);
    DLDataType known = toDLPack(dtype);
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1)
      return std::string(dtypeName(dtype));
  }
  return "a type with DLPack code " + std::to_string(type.code) + ", " + std::to_string(type.bits) + " bits and " +
         std::to_string(type.lanes) + " lanes";
}

/// Strides of dimensions of size 1, and of tensors without elements, are ignored.
bool isContiguous(const DLTensor &tensor) {
  if (!tensor.strides)
    return true;
  for (int axis = 0; axis < tensor.ndim; ++axis)
    if (tensor.shape[axis] == 0)
      return true;
  int64_t expected = 1;
  for (int axis = tensor.ndim - 1; axis >= 0; --axis) {
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected)
      return false;
    expected *= tensor.shape[axis];
  }
  return true;
}

} // namespace

Status freestone::runtime::viewTensor(const DLTensor &tensor, const TensorInfo &info, const char *kind,
                                      TensorView &view) {
  auto named = [&](const std::string &why) { return std::string(kind) + " '" + info.name + "' " + why; };
  auto mismatch = [&](const std::string &why) { return Status(Code::Mismatch, named(why)); };
  DLDataType expected = toDLPack(info.dtype);
  if (tensor.device.device_type != kDLCPU)
    return mismatch("must be in the CPU's memory");
  if (tensor.dtype.code != expected.code || tensor.dtype.bits != expected.bits || tensor.dtype.lanes != 1)
    return mismatch("must be " + std::string(dtypeName(info.dtype)) + ", but is " + nameOf(tensor.dtype));
  int64_t rank = info.shape.size();
  if (tensor.ndim != rank)
    return mismatch("must have rank " + std::to_string(rank) + ", but has rank " + std::to_string(tensor.ndim));
  if (rank > 0 && !tensor.shape)
    return Status(Code::InvalidArgument, named("has no shape"));

  view.shape.assign(tensor.shape, tensor.shape + rank);
  for (int64_t dim : view.shape)
    if (dim < 0)
      return mismatch("has a negative dimension");
  std::optional<int64_t> bytes = countBytes(info.dtype, view.shape);
  if (!bytes)
    return mismatch("has more than 2^63 bytes");
  view.bytes = *bytes;
  if (!isContiguous(tensor))
    return mismatch("must be C-contiguous; copy it first");
  if (!tensor.data && view.bytes > 0)
    return Status(Code::InvalidArgument, named("has no data"));

  alignas(64) static char nothing[64];
  view.data = tensor.data ? static_cast<char *>(tensor.data) + tensor.byte_offset : nothing;
  if (view.bytes > 0 && reinterpret_cast<uintptr_t>(view.data) % dtypeBytes(info.dtype) != 0)
    return mismatch("must be aligned to its element of " + std::to_string(dtypeBytes(info.dtype)) + " bytes");
  return {};
}
