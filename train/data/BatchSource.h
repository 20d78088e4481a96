#ifndef FREESTONE_TRAIN_DATA_BATCHSOURCE_H
#define FREESTONE_TRAIN_DATA_BATCHSOURCE_H

#include "formats/TensorView.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace freestone::train {

/// The beginning of the next batch; the data's part of a checkpoint.
struct LoaderPosition {
  int64_t step = 0;   ///< number of batches since the training began
  int64_t epoch = 0;  ///< from 0
  int64_t sample = 0; ///< position in the epoch's order

  bool operator==(const LoaderPosition &) const = default;
};

/// A batch of samples.
struct Batch {
  LoaderPosition place; ///< of this batch
  LoaderPosition next;  ///< of the next batch
  int64_t samples = 0;
  int64_t length = 1; ///< tokens of each sample
  /// One for each field of the dataset; 64-byte aligned, the first dimension counts samples. Fields that are not read
  /// have a shape, but no bytes.
  std::vector<formats::TensorView> fields;
};

/// Where the batches of a training come from.
class BatchSource {
public:
  virtual ~BatchSource() = default;

  /// The next batch, or null after the last epoch. How many more may be taken before it becomes invalid, each source
  /// says. Throws Error.
  virtual const Batch *take() = 0;
  /// The position of the next batch to take.
  virtual LoaderPosition position() const = 0;
  /// The number, from 0, of the batch that begins at a position of an epoch.
  virtual int64_t batchInEpoch(const LoaderPosition &place) const = 0;
  /// Nothing if only the end of an epoch will tell.
  virtual std::optional<int64_t> batchesPerEpoch() const = 0;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_DATA_BATCHSOURCE_H
