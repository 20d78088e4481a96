#include "tools/tensor/Npy.h"
#include "formats/NpyHeader.h"
#include <algorithm>

namespace freestone::tools {

Tensor parseNpy(Bytes bytes) {
  formats::NpyHeader header = formats::parseNpyHeader(bytes);
  Tensor tensor(header.dtype, header.shape);
  formats::copyNpyElements(bytes, header, tensor.data());
  if (header.dtype == FREESTONE_I1)
    std::for_each_n(tensor.as<uint8_t>(), tensor.count(), [](uint8_t &value) { value = value != 0; });
  if (header.isUnnamed)
    tensor.markUnnamed();
  return tensor;
}

std::vector<uint8_t> formatNpy(const Tensor &tensor) {
  std::string header = formats::formatNpyHeader(tensor.dtype(), tensor.shape());
  bool isPacked = elementsPerByte(tensor.dtype()) > 1;
  size_t size = isPacked ? static_cast<size_t>(tensor.count()) : tensor.bytes();
  std::vector<uint8_t> bytes(header.size() + size);
  std::copy(header.begin(), header.end(), bytes.begin());
  if (isPacked)
    for (int64_t i = 0; i < tensor.count(); ++i)
      bytes[header.size() + static_cast<size_t>(i)] = tensor.code(i);
  else if (tensor.count() != 0)
    std::memcpy(bytes.data() + header.size(), tensor.data(), size);
  return bytes;
}

} // namespace freestone::tools
