#ifndef FREESTONE_TRAIN_DATA_CHECKEDCOPY_H
#define FREESTONE_TRAIN_DATA_CHECKEDCOPY_H

#include "train/data/Dataset.h"

namespace freestone::train {

/// Copies `count` elements and returns the index of the first NaN, or -1. i1 becomes 0 or 1; other integers are copied.
/// `source` need not be aligned.
int64_t copyElements(freestone_dtype dtype, const uint8_t *source, int64_t count, uint8_t *target);

/// Copies `count` integers from one integer type to another and returns the index of the first that is out of `range`
/// or does not fit, or -1.
int64_t convertIntegers(freestone_dtype from, const uint8_t *source, int64_t count, freestone_dtype to,
                        const IntegerRange &range, uint8_t *target);

/// The index of the first of `count` integers out of `range`, or -1.
int64_t findOutOfRange(freestone_dtype dtype, const uint8_t *source, int64_t count, const IntegerRange &range);

/// An integer of any integer type; u64 above INT64_MAX wraps.
int64_t readInteger(freestone_dtype dtype, const uint8_t *source);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_DATA_CHECKEDCOPY_H
