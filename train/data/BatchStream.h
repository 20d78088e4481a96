#ifndef FREESTONE_TRAIN_DATA_BATCHSTREAM_H
#define FREESTONE_TRAIN_DATA_BATCHSTREAM_H

#include "train/data/BatchSource.h"
#include <functional>
#include <vector>

namespace freestone::train {

/// Batches that somebody else makes, one after the other. Looks one batch ahead to see where an epoch ends, so a batch
/// stays in use until two more were asked for beyond those that the training holds.
class BatchStream final : public BatchSource {
public:
  /// The next batch of an epoch, counted from 0; nothing at its end. Sets `samples`, `length` and `fields`.
  using Next = std::function<std::optional<Batch>(int64_t epoch)>;

  /// Begins at `start`: the batches of its epoch before that are asked for and dropped. Batches that were taken stay
  /// valid until `held` more were. Throws Error if an epoch has no batch.
  BatchStream(Next next, std::optional<int64_t> perEpoch, int64_t epochs, int held, LoaderPosition start = {});

  const Batch *take() override;
  LoaderPosition position() const override { return upcoming; }
  int64_t batchInEpoch(const LoaderPosition &place) const override { return place.sample; }
  std::optional<int64_t> batchesPerEpoch() const override { return perEpoch; }

private:
  /// Fetches the batch at a position, or the first one of the next epoch if its epoch has ended.
  void fetch(LoaderPosition place);

  const Next next;
  const std::optional<int64_t> perEpoch;
  const int64_t epochs;
  std::optional<Batch> ahead; ///< the batch to take next; nothing: there is no more
  LoaderPosition upcoming;
  std::vector<Batch> ring;
  size_t taken = 0;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_DATA_BATCHSTREAM_H
