#ifndef FREESTONE_TRAIN_LOADER_H
#define FREESTONE_TRAIN_LOADER_H

#include "formats/TensorView.h"
#include "train/data/Dataset.h"
#include "train/data/SampleOrder.h"
#include "train/report/Recorder.h"
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace freestone::train {

/// Where the next batch begins; what a checkpoint keeps of the data.
struct LoaderPosition {
  int64_t step = 0;   ///< batches taken since the training began
  int64_t epoch = 0;  ///< from 0
  int64_t sample = 0; ///< position in the epoch's order

  bool operator==(const LoaderPosition &) const = default;
};

struct LoaderOptions {
  int64_t batch = 1; ///< samples of a batch; the last of an epoch has what is left
  uint64_t seed = 0;
  bool shuffle = true;
  int64_t epochs = INT64_MAX; ///< the data end before epoch `epochs`
  int depth = 2;              ///< batches prepared ahead
  int held = 1;               ///< so many of those that were taken last stay valid
  Recorder recorder = {};
};

struct Batch {
  LoaderPosition place; ///< its own
  LoaderPosition next;  ///< of the batch after it
  int64_t samples = 0;
  int64_t length = 1;                      ///< tokens of each sample
  std::vector<formats::TensorView> fields; ///< as the dataset's; 64-byte aligned, the first dimension counts samples
};

/// Throws Error where a model that was exported with a fixed batch size can't have batches of just that.
void checkFixedBatch(const Dataset &dataset, int64_t batch);

/// Prepares batches on a thread of its own, in buffers that are made once and used again: nothing is allocated per
/// batch. Which batch comes is a function of dataset, options and position alone. One thread may call it at a time.
class Loader {
public:
  /// `dataset` must outlive the loader. Begins at once. Throws Error when the batch size or the position make no sense:
  /// also when a field's first dimension is a number that the batches can't have.
  Loader(const Dataset &dataset, const LoaderOptions &options, LoaderPosition start = {});
  /// Waits for the batch in work at most.
  ~Loader();

  /// The next batch, or null after the last epoch. Valid until `held` more have been taken. Throws the Error that its
  /// preparation met, beginning with "step 17: "; so does every later call.
  const Batch *take();

  /// Of the batch that the next call of `take` gives: what to save, and to begin with in order to go on.
  LoaderPosition position() const { return upcoming; }

  /// Batches of an epoch.
  int64_t batchesPerEpoch() const;
  /// Bytes of all buffers.
  int64_t bufferBytes() const { return reserved; }
  /// Nanoseconds that `take` has waited so far: whether the data come fast enough.
  int64_t waitedNs() const { return waited; }

private:
  /// A batch and the memory behind it.
  struct Slot {
    Batch batch;
    std::vector<std::unique_ptr<uint8_t, void (*)(void *)>> buffers;
    std::exception_ptr error;
    bool isEnd = false;
  };

  void reserve(Slot &slot);
  void work(LoaderPosition place);
  void prepare(Slot &slot, LoaderPosition place) const;
  LoaderPosition after(const LoaderPosition &place) const;

  const Dataset &dataset;
  const LoaderOptions options;
  std::vector<Slot> ring; ///< depth + held: so many are with the caller
  LoaderPosition upcoming;
  int64_t reserved = 0;
  int64_t waited = 0;

  std::mutex mutex;
  std::condition_variable changed;
  int64_t prepared = 0; ///< batches made; batch i is in slot i modulo the ring
  int64_t taken = 0;    ///< batches handed out; the last `held` of them are in use
  bool stopping = false;
  std::thread thread;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_LOADER_H
