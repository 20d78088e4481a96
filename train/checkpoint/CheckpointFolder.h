#ifndef FREESTONE_TRAIN_CHECKPOINT_CHECKPOINTFOLDER_H
#define FREESTONE_TRAIN_CHECKPOINT_CHECKPOINTFOLDER_H

#include "train/checkpoint/Checkpoint.h"
#include <functional>
#include <optional>

namespace freestone::train {

/// Tensors that are stored together: "parameters", "optimizer", "statistics".
struct TensorGroup {
  std::string name; ///< letters and digits: the prefix of the files' names
  std::vector<formats::TensorView> tensors;
  std::map<std::string, runtime::Panels> panels = {}; ///< of tensors that are packed in memory
};

struct CheckpointOptions {
  int keep = 3;                     ///< number of checkpoints to keep, newest first; at least 1
  uint64_t chunkBytes = 1ull << 30; ///< larger groups are split into several files
};

/// The checkpoints of one training: `run/checkpoints/step-000123/`. A folder under such a name is complete: it is
/// written under another name, every file synced, the manifest last, and then renamed. Not thread-safe.
class CheckpointFolder {
public:
  /// Opens `path` for writing; creates it if needed, removes leftovers of killed writers, and holds a lock until
  /// destroyed. Throws Error when another process holds it.
  explicit CheckpointFolder(std::string path, CheckpointOptions options = {});
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder &) = delete;

  /// Writes a checkpoint and returns its folder; then deletes those older than the newest `keep`. A checkpoint of the
  /// same step is replaced atomically. On return, the checkpoint survives a crash of the machine. On Error (no space)
  /// all older ones are intact.
  std::string save(const TrainingState &state, std::span<const TensorGroup> groups);

  /// The newest complete checkpoint in `path`, or nothing. `skipped` receives each incomplete one with the reason,
  /// newest first. Needs no lock and writes nothing. `path` may also be a single checkpoint's folder, or a training's
  /// folder that contains `checkpoints`. Throws Error when there is no such folder.
  static std::optional<Checkpoint> newest(const std::string &path,
                                          const std::function<void(const std::string &reason)> &skipped = {});

private:
  void removeLeftovers();
  void removeOld(int64_t saved);

  std::string path;
  CheckpointOptions options;
  int lock = -1;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_CHECKPOINT_CHECKPOINTFOLDER_H
