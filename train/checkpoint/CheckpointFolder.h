#ifndef FREESTONE_TRAIN_CHECKPOINTFOLDER_H
#define FREESTONE_TRAIN_CHECKPOINTFOLDER_H

#include "train/checkpoint/Checkpoint.h"
#include <functional>
#include <optional>

namespace freestone::train {

/// Tensors that are kept together: "parameters", "optimizer", "statistics".
struct TensorGroup {
  std::string name; ///< letters and digits: it begins the names of files
  std::vector<formats::TensorView> tensors;
  std::map<std::string, runtime::Panels> panels = {}; ///< of tensors that do not lie row-major, as they are saved
};

struct CheckpointOptions {
  int keep = 3;                     ///< the newest so many stay; at least 1
  uint64_t chunkBytes = 1ull << 30; ///< a group that is larger is cut into several files
};

/// The checkpoints of one training: `run/checkpoints/step-000123/`. A folder under such a name is complete: it is
/// written under another name, every file synced, the manifest last, and then renamed. Functions must not overlap.
class CheckpointFolder {
public:
  /// Opens `path` for writing; makes it if need be, removes what a killed writer left, and holds a lock until
  /// destroyed. Throws Error when another process holds it.
  explicit CheckpointFolder(std::string path, CheckpointOptions options = {});
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder &) = delete;

  /// Writes a checkpoint and returns its folder; then deletes those older than the newest `keep`. One of the same step
  /// is replaced atomically. When this returns, the checkpoint survives a crash of the machine. On Error (no space) the
  /// older ones are all there.
  std::string save(const TrainingState &state, std::span<const TensorGroup> groups);

  /// The newest checkpoint in `path` that is complete, or nothing. Each that has to be passed over is told to `skipped`
  /// with the reason, newest first. Needs no lock and writes nothing. `path` may also be a single checkpoint's folder,
  /// or a training's folder with `checkpoints` in it. Throws Error when there is no such folder.
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

#endif // FREESTONE_TRAIN_CHECKPOINTFOLDER_H
