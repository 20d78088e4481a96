#ifndef FREESTONE_TRAIN_DATA_ARRAYDATASET_H
#define FREESTONE_TRAIN_DATA_ARRAYDATASET_H

#include "train/data/ArrayFiles.h"
#include "train/data/Dataset.h"

namespace freestone::train {

/// A dataset whose sample i is row i of every array.
class ArrayDataset : public Dataset {
public:
  /// `files` must outlive the dataset. Throws Error when an array is missing (listing those present), differs from its
  /// field in element type or shape (naming both), disagrees with another array in a symbolic size or in the number of
  /// samples, or is empty.
  ArrayDataset(const ArrayFiles &files, std::vector<Field> fields);

  void sampleSizes(size_t field, int64_t length, std::vector<int64_t> &sizes) const override;
  void copySample(size_t field, int64_t sample, int64_t length, const BatchPlace &place,
                  uint8_t *target) const override;
  void checkRanges() const override;

private:
  /// Throws Error for the `wrong`-th element of a sample, which is out of its field's range.
  [[noreturn]] void refuse(size_t field, int64_t sample, int64_t wrong, const uint8_t *value) const;

  std::vector<const formats::TensorView *> arrays; ///< one for each field
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_DATA_ARRAYDATASET_H
