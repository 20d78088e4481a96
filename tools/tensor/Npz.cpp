#include "tools/tensor/Npz.h"
#include "formats/ZipArchive.h"
#include "tools/tensor/Npy.h"
#include <fmt/format.h>

namespace freestone::tools {

static Tensor readTensor(const formats::ZipEntry &entry) {
  std::vector<uint8_t> unpacked;
  if (entry.deflated)
    unpacked = formats::inflateEntry(entry);
  else
    formats::verifyChecksum(entry);
  try {
    return parseNpy(entry.deflated ? unpacked : entry.packed);
  } catch (const TensorError &error) {
    throw TensorError(fmt::format("entry '{}': {}", entry.name, error.what()));
  }
}

std::vector<NamedTensor> parseNpz(Bytes bytes) {
  std::vector<NamedTensor> tensors;
  for (const formats::ZipEntry &entry : formats::readZipDirectory(bytes)) {
    std::string name = entry.name;
    if (name.ends_with(".npy"))
      name.resize(name.size() - 4);
    tensors.push_back({std::move(name), readTensor(entry)});
  }
  return tensors;
}

std::vector<uint8_t> formatNpz(const std::vector<NamedTensorRef> &tensors) {
  std::vector<std::vector<uint8_t>> files;
  std::vector<formats::ZipEntry> entries;
  for (const NamedTensorRef &named : tensors) {
    files.push_back(formatNpy(*named.tensor));
    entries.push_back({.name = named.name + ".npy", .packed = files.back()});
  }
  return formats::formatZip(entries);
}

} // namespace freestone::tools
