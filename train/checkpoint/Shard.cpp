#include "train/checkpoint/Shard.h"
#include "formats/ElementType.h"
#include "formats/Safetensors.h"
#include "train/checkpoint/Durable.h"
#include <fmt/format.h>

using freestone::formats::TensorView;

namespace freestone::train {

/// Splits a group into ranges of tensors of about `chunkBytes`.
static std::vector<std::span<const TensorView>> cut(std::span<const TensorView> tensors, uint64_t chunkBytes) {
  std::vector<std::span<const TensorView>> chunks;
  size_t begin = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (i > begin && bytes + tensors[i].bytes.size() > chunkBytes) {
      chunks.push_back(tensors.subspan(begin, i - begin));
      begin = i;
      bytes = 0;
    }
    bytes += tensors[i].bytes.size();
  }
  chunks.push_back(tensors.subspan(begin));
  return chunks;
}

/// The elements in row-major order: in place, or copied to `rows`.
static formats::Bytes rowsOf(const TensorView &tensor, const TensorGroup &group, std::vector<uint8_t> &rows) {
  auto panels = group.panels.find(tensor.name);
  if (panels == group.panels.end())
    return tensor.bytes;
  rows.resize(tensor.bytes.size());
  panels->second.unpack(tensor.bytes.data(), rows.data(), tensor.shape, formats::countBytes(tensor.dtype, {}));
  return {rows.data(), rows.size()};
}

static void writeGroup(const std::string &folder, ShardPlace place, const TensorGroup &group, uint64_t chunkBytes,
                       std::vector<CheckpointFile> &files) {
  std::vector<std::span<const TensorView>> chunks = cut(group.tensors, chunkBytes);
  std::vector<uint8_t> rows;
  for (size_t i = 0; i < chunks.size(); ++i) {
    std::string name = group.name;
    if (place.ranks > 1)
      name += fmt::format("-rank-{:03}", place.rank);
    if (chunks.size() > 1)
      name += fmt::format("-{:05}-of-{:05}", i + 1, chunks.size());
    name += ".safetensors";
    DurableFile file(folder + "/" + name);
    file.write(formats::toBytes(formats::formatSafetensorsHeader(chunks[i])));
    for (const TensorView &tensor : chunks[i])
      file.write(rowsOf(tensor, group, rows));
    file.finish();
    files.push_back({name, group.name, file.size(), file.checksum()});
  }
}

std::vector<CheckpointFile> writeShard(const std::string &folder, ShardPlace place, std::span<const TensorGroup> groups,
                                       uint64_t chunkBytes) {
  std::vector<CheckpointFile> files;
  for (const TensorGroup &group : groups)
    writeGroup(folder, place, group, chunkBytes, files);
  syncFolder(folder);
  return files;
}

} // namespace freestone::train
