// The part of a checkpoint that one rank of a training writes: all of it, where there is one.
#ifndef FREESTONE_TRAIN_CHECKPOINT_SHARD_H
#define FREESTONE_TRAIN_CHECKPOINT_SHARD_H

#include "formats/TensorView.h"
#include "runtime/artifact/Panels.h"
#include "train/checkpoint/Manifest.h"
#include <map>
#include <span>

namespace freestone::train {

/// Tensors that are stored together: "parameters", "optimizer", "statistics".
struct TensorGroup {
  std::string name; ///< letters and digits: the prefix of the files' names
  std::vector<formats::TensorView> tensors;
  std::map<std::string, runtime::Panels> panels = {}; ///< of tensors that are packed in memory
};

inline constexpr uint64_t usualChunkBytes = 1ull << 30;

/// Which shard of a checkpoint it is.
struct ShardPlace {
  int rank = 0, ranks = 1;
};

/// Writes the groups to safetensors files in `folder`, row-major, and waits until they are on the disk: each group to
/// one file, or several of about `chunkBytes`. The names of files differ from rank to rank. Throws Error.
std::vector<CheckpointFile> writeShard(const std::string &folder, ShardPlace place, std::span<const TensorGroup> groups,
                                       uint64_t chunkBytes = usualChunkBytes);

/// The other ranks of a training, which write their shards themselves.
class OtherShards {
public:
  virtual ~OtherShards() = default;

  virtual int ranks() const = 0; ///< with this one, which has number 0
  /// Throws Error, naming the rank and its machine, if one does not see the folder.
  virtual void requireFolder(const std::string &folder) = 0;
  /// Has all of them copy their states after the steps submitted so far, and write them to the folder.
  virtual void begin(const std::string &folder) = 0;
  /// Waits until they are written, and returns the files. On any one thread. Throws Error, naming the rank.
  virtual std::vector<CheckpointFile> collect() = 0;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_CHECKPOINT_SHARD_H
