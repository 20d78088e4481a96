#ifndef FREESTONE_TRAIN_CHECKPOINT_CHECKPOINTWRITER_H
#define FREESTONE_TRAIN_CHECKPOINT_CHECKPOINTWRITER_H

#include "train/checkpoint/Shard.h"
#include "train/report/Recorder.h"
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace freestone::train {

/// Writes checkpoints while the training continues: copies the state between two steps into a buffer that is allocated
/// once, and writes the copy on its own thread, one at a time.
///
/// For each checkpoint: `begin`; `copy` between two steps, on any thread; `write`. All functions but `copy` must be
/// called by one thread. Errors of writing are thrown by the next call.
class CheckpointWriter {
public:
  /// Stores a copied state, on the writer's thread, and returns its folder.
  using Store = std::function<std::string(const TrainingState &state, std::span<const TensorGroup> groups)>;
  explicit CheckpointWriter(Store store, Recorder recorder = {});
  /// Waits for the current write.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter &) = delete;

  /// Waits for the previous checkpoint. The views are read by `copy`.
  void begin(const TrainingState &state, std::vector<TensorGroup> groups);
  void copy() noexcept;
  /// Starts writing once `copy` has been called.
  void write();
  /// Waits until everything is written.
  void finish();

  /// The folder of a checkpoint completed since the last call, if any.
  std::optional<std::string> takeWritten();
  /// Total nanoseconds of waiting in `begin` and `finish`.
  int64_t waitedNs() const { return waited; }

private:
  enum class Stage { Idle, Begun, Writing };
  void work();
  void awaitIdle(std::unique_lock<std::mutex> &lock);

  const Store store;
  Recorder recorder;
  std::vector<TensorGroup> groups; ///< in the state; after `copy` in the buffer
  TrainingState state;
  std::unique_ptr<uint8_t[]> buffer;
  size_t bufferBytes = 0;
  int64_t waited = 0;

  std::mutex mutex; ///< protects all members below
  std::condition_variable changed;
  Stage stage = Stage::Idle;
  bool copied = false, stopping = false;
  std::exception_ptr error;
  std::optional<std::string> written;
  std::thread thread;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_CHECKPOINT_CHECKPOINTWRITER_H
