// Samples by number, in the form of a training step's inputs.
#ifndef FREESTONE_TRAIN_DATA_DATASET_H
#define FREESTONE_TRAIN_DATA_DATASET_H

#include "freestone/runtime.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace freestone::train {

/// Valid integers: class numbers, token numbers.
struct IntegerRange {
  int64_t lowest = 0;
  int64_t highest = INT64_MAX;    ///< inclusive
  std::optional<int64_t> ignored; ///< also valid, such as -100 for labels that the loss leaves out
};

/// An input of the step that comes from data.
struct Field {
  std::string name; ///< of the step's input
  freestone_dtype dtype = FREESTONE_F32;
  /// As of freestone_value_info: the first dimension counts the samples of a batch, numbers are checked, and equal
  /// names must be equal sizes in all fields. The runtime checks expressions.
  std::vector<std::string> shape;
  std::string array = {};                 ///< the array's name in the files, if it differs from the input's
  std::optional<IntegerRange> range = {}; ///< of integers; others are errors
};

/// The position of a batch in a training. All randomness of the batch is a function of this.
struct BatchPlace {
  uint64_t seed = 0;
  int64_t epoch = 0;
  int64_t position = 0; ///< of its first sample in the epoch's order
  bool shuffle = true;  ///< false: samples in order, windows from the first token on
};

/// What the data of a training are for.
enum class DataUse { Training, Evaluation };

/// A dataset, for other processes that open the same data: that of a use, or one of its `evaluationParts`.
struct DataName {
  DataUse use = DataUse::Training;
  size_t part = 0; ///< of an evaluation
};

/// Numbered samples of several fields. Immutable, thread-safe. Throws Error.
class Dataset {
public:
  virtual ~Dataset() = default;

  const std::vector<Field> &fields() const { return declared; }
  /// Samples in an epoch; at least one.
  int64_t samples() const { return count; }

  /// Elements along the axis that varies from batch to batch: tokens of a window. 1 without such an axis.
  virtual int64_t length(const BatchPlace &place) const { return 1; }
  /// Upper bound of `length`.
  virtual int64_t longest() const { return 1; }
  /// Sizes of one sample of a field, without the batch dimension; `sizes` is overwritten.
  virtual void sampleSizes(size_t field, int64_t length, std::vector<int64_t> &sizes) const = 0;
  /// Copies one sample to `target`, in the field's element type, and checks every value for NaN and integers out of
  /// range. Throws Error, naming array and sample.
  virtual void copySample(size_t field, int64_t sample, int64_t length, const BatchPlace &place,
                          uint8_t *target) const = 0;

  /// Searches for integers out of their field's range before a batch contains one: in the first `mostLookedAt` bytes of
  /// each array, which takes a moment. Throws Error as `copySample` does.
  virtual void checkRanges() const {}

  /// The datasets that an evaluation reads instead, one after another, if lengths are drawn at random: these have fixed
  /// lengths and every element exactly once. Empty if that is true of this dataset. They refer to this dataset's data.
  virtual std::vector<std::unique_ptr<Dataset>> evaluationParts() const { return {}; }

protected:
  static constexpr int64_t mostLookedAt = 1 << 28;

  std::vector<Field> declared;
  int64_t count = 0;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_DATA_DATASET_H
