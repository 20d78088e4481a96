#ifndef FREESTONE_TRAIN_DATA_SAMPLEORDER_H
#define FREESTONE_TRAIN_DATA_SAMPLEORDER_H

#include <cstdint>

namespace freestone::train {

/// The order of an epoch's samples: a permutation of [0, samples), computed on demand and never stored; a function of
/// its arguments alone. Cheap to copy, immutable.
class SampleOrder {
public:
  /// `samples` > 0. Without `shuffle` it is the identity.
  SampleOrder(int64_t samples, uint64_t seed, int64_t epoch, bool shuffle);

  /// The sample at `position`, both in [0, samples).
  int64_t operator[](int64_t position) const;

private:
  uint64_t permute(uint64_t value) const;

  int64_t samples;
  uint64_t seed;
  int64_t epoch;
  bool shuffle;
  int leftBits, rightBits; ///< a value has a left and a right part; 2^(leftBits + rightBits) >= samples
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_DATA_SAMPLEORDER_H
