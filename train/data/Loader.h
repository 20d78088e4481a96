#ifndef FREESTONE_TRAIN_DATA_LOADER_H
#define FREESTONE_TRAIN_DATA_LOADER_H

#include "train/data/BatchSource.h"
#include "train/data/Dataset.h"
#include "train/data/SampleOrder.h"
#include "train/report/Recorder.h"
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace freestone::train {

struct LoaderOptions {
  int64_t batch = 1; ///< samples of a batch; the last batch of an epoch may be smaller
  uint64_t seed = 0;
  bool shuffle = true;
  int64_t epochs = INT64_MAX;                       ///< the data end before epoch `epochs`
  int depth = 2;                                    ///< batches prepared ahead
  int held = 1;                                     ///< number of taken batches that stay valid
  std::optional<std::set<std::string>> fields = {}; ///< if set, all that are read
  Recorder recorder = {};
};

/// Throws Error if a model exported with a fixed batch size can't be fed batches of that size only.
void checkFixedBatch(const Dataset &dataset, int64_t batch);

/// Prepares batches on its own thread, in reused buffers: nothing is allocated per batch. The sequence of batches is a
/// function of dataset, options and position alone. One thread may call it at a time.
class Loader final : public BatchSource {
public:
  /// `dataset` must outlive the loader. Starts at once. Throws Error for an invalid batch size or position, including a
  /// field whose first dimension is a number that differs from the batch size.
  Loader(const Dataset &dataset, const LoaderOptions &options, LoaderPosition start = {});
  /// Waits for the batch in preparation at most.
  ~Loader() override;

  /// The next batch, or null after the last epoch. Valid until `held` more have been taken. Throws the Error of its
  /// preparation, prefixed with "step 17: "; so does every later call.
  const Batch *take() override;

  /// The position of the next batch to take: to be saved, and to resume from.
  LoaderPosition position() const override { return upcoming; }

  int64_t batchInEpoch(const LoaderPosition &place) const override { return place.sample / options.batch; }
  std::optional<int64_t> batchesPerEpoch() const override;
  /// Bytes of all buffers.
  int64_t bufferBytes() const { return reserved; }
  /// Total nanoseconds of waiting in `take`: shows whether the data come fast enough.
  int64_t waitedNs() const { return waited; }

private:
  /// A batch with its buffers.
  struct Slot {
    Batch batch;
    std::vector<std::unique_ptr<uint8_t, void (*)(void *)>> buffers;
    std::exception_ptr error;
    bool isEnd = false;
  };

  bool reads(const Field &field) const { return !options.fields || options.fields->contains(field.name); }
  void reserve(Slot &slot);
  void work(LoaderPosition place);
  void prepare(Slot &slot, LoaderPosition place) const;
  LoaderPosition after(const LoaderPosition &place) const;

  const Dataset &dataset;
  const LoaderOptions options;
  std::vector<Slot> ring; ///< depth + held slots; the caller uses `held` of them
  LoaderPosition upcoming;
  int64_t reserved = 0;
  int64_t waited = 0;

  std::mutex mutex;
  std::condition_variable changed;
  int64_t prepared = 0; ///< batches prepared; batch i is in slot i modulo the ring's size
  int64_t taken = 0;    ///< batches taken; the last `held` of them are in use
  bool stopping = false;
  std::thread thread;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_DATA_LOADER_H
