// Computes the sizes of an entry from those that its inputs have, as compiler/dialect/sym/Evaluate.cpp does.

#include "compiler/codegen/cpu/SizeSteps.h"

using namespace freestone::codegen;

namespace {

struct Values {
  long *slots;
  long slotCount;
  StepValue *others;

  StepValue get(long index) const { return index < slotCount ? StepValue{slots[index], 0} : others[index - slotCount]; }
};

/// Moves `word` behind the terms.
template <typename Word> StepValue addTerms(const Values &values, const long *&word, long terms) {
  Word total = 0;
  bool isOverflow = false;
  for (; terms > 0; --terms) {
    Word product = *word++;
    for (long factors = *word++; factors > 0; --factors) {
      StepValue factor = values.get(*word++);
      isOverflow |= factor.isOverflow | __builtin_mul_overflow(product, static_cast<Word>(factor.value), &product);
    }
    isOverflow |= __builtin_add_overflow(total, product, &total);
  }
  long narrow = static_cast<long>(total);
  return {narrow, isOverflow | (narrow != total)};
}

StepValue divide(StepValue dividend, StepValue divisor, bool isRoundedDown) {
  bool isOverflow = dividend.isOverflow | divisor.isOverflow;
  if (isOverflow || divisor.value == 0)
    return {0, isOverflow};
  if (divisor.value < 0) {
    isOverflow |= __builtin_sub_overflow(0L, dividend.value, &dividend.value);
    isOverflow |= __builtin_sub_overflow(0L, divisor.value, &divisor.value);
    if (isOverflow)
      return {0, true};
  }
  long quotient = dividend.value / divisor.value, remainder = dividend.value % divisor.value;
  return {isRoundedDown ? quotient - (remainder < 0) : quotient + (remainder > 0), false};
}

} // namespace

/// Computes all slots behind those of symbols. Slots before `checkedCount` must not overflow; the others become
/// INT64_MAX where they do. Returns 1 if one has overflowed that must not, else 0.
extern "C" int freestone_compute_sizes(const long *word, const long *end, long *slots, long slotCount,
                                       long checkedCount, StepValue *others) {
  Values values{slots, slotCount, others};
  int failed = 0;
  while (word != end) {
    long kind = word[0], target = word[1], parts = word[2];
    word += 3;
    StepValue value;
    if (kind == sum) {
      value = addTerms<long>(values, word, parts);
    } else if (kind == wideSum) {
      value = addTerms<__int128>(values, word, parts);
    } else {
      value = values.get(*word++);
      for (; parts > 1; --parts) {
        StepValue other = values.get(*word++);
        if (kind == floorDivision || kind == ceilDivision)
          value = divide(value, other, kind == floorDivision);
        else
          value = {(other.value < value.value) == (kind == minimum) ? other.value : value.value,
                   value.isOverflow | other.isOverflow};
      }
    }
    if (target >= slotCount) {
      others[target - slotCount] = value;
      continue;
    }
    if (value.isOverflow && target < checkedCount)
      failed = 1;
    slots[target] = value.isOverflow ? 0x7fffffffffffffff : value.value;
  }
  return failed;
}
