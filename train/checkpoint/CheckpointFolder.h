#ifndef FREESTONE_TRAIN_CHECKPOINT_CHECKPOINTFOLDER_H
#define FREESTONE_TRAIN_CHECKPOINT_CHECKPOINTFOLDER_H

#include "train/checkpoint/Checkpoint.h"
#include "train/checkpoint/Shard.h"
#include <functional>
#include <optional>

namespace freestone::train {

struct CheckpointOptions {
  int keep = 3;                          ///< number of checkpoints to keep, newest first; at least 1
  uint64_t chunkBytes = usualChunkBytes; ///< larger groups are split into several files
};

/// The checkpoints of one training: `run/checkpoints/step-000123/`. A folder under such a name is complete: it is
/// written under another name, every file synced, the manifest last, and then renamed. Not thread-safe.
class CheckpointFolder {
public:
  /// Opens `path` for writing; creates it if needed, removes leftovers of killed writers, and holds a lock until
  /// destroyed. `others` write shards of each checkpoint, and must outlive it; null if there are none. Throws Error
  /// when another process holds the lock, or one of the others does not see the folder.
  explicit CheckpointFolder(std::string path, CheckpointOptions options = {}, OtherShards *others = nullptr);
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder &) = delete;

  /// Writes a checkpoint and returns its folder; then deletes those older than the newest `keep`. A checkpoint of the
  /// same step is replaced atomically. On return, the checkpoint survives a crash of the machine. On Error (no space)
  /// all older ones are intact.
  std::string save(const TrainingState &state, std::span<const TensorGroup> groups);

  // The same in two parts, of which the second may be on another thread.

  /// Makes the folder for the files of a step's checkpoint, and lets the others begin their shards.
  void begin(int64_t step);
  /// Writes the own shard, waits for the others', and then publishes the checkpoint.
  std::string finish(const TrainingState &state, std::span<const TensorGroup> groups);

  /// The newest complete checkpoint in `path`, or nothing. `skipped` receives each incomplete one with the reason,
  /// newest first. Needs no lock and writes nothing. `path` may also be a single checkpoint's folder, or a training's
  /// folder that contains `checkpoints`. Throws Error when there is no such folder.
  static std::optional<Checkpoint> newest(const std::string &path,
                                          const std::function<void(const std::string &reason)> &skipped = {},
                                          Checkpoint::Verify verify = Checkpoint::Verify::All);

private:
  void makeTemporary(int64_t step);
  void discard() noexcept;
  std::string publish(const TrainingState &state, std::vector<CheckpointFile> files);
  CheckpointFolder(std::string path, CheckpointOptions options, OtherShards *others, int lock)
      : path(std::move(path)), options(options), others(others), lock(lock) {}
  void removeLeftovers();
  void removeOld(int64_t saved);

  std::string path;
  CheckpointOptions options;
  OtherShards *others;
  std::string temporary;     ///< of the checkpoint that was begun last
  bool isCollecting = false; ///< the others' shards have begun
  int lock;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_CHECKPOINT_CHECKPOINTFOLDER_H
