#include "train/data/ArrayDataset.h"
#include "formats/ElementType.h"
#include "train/Error.h"
#include "train/data/CheckedCopy.h"
#include "train/data/FieldShape.h"
#include "words/NearNames.h"
#include <fmt/ranges.h>
#include <map>

using freestone::formats::TensorView;

namespace freestone::train {

static const TensorView &findArray(const ArrayFiles &files, const Field &field) {
  const std::string &name = field.array.empty() ? field.name : field.array;
  const TensorView *array = files.find(name);
  if (!array)
    throw Error(fmt::format("there is no array '{}' in the data, which have {}{}", name, files.describe(),
                            words::suggest(name, files.names())));
  if (array->dtype != field.dtype)
    throw Error(fmt::format("array '{}' is {}, but the input '{}' is {}; convert it", name,
                            formats::describe(array->dtype, array->shape), field.name, describeField(field)));
  if (array->shape.size() != field.shape.size() || array->shape.empty())
    throw Error(fmt::format("array '{}' is {}, but the input '{}' is {}, of which the first dimension counts samples",
                            name, formats::describe(array->dtype, array->shape), field.name, describeField(field)));
  return *array;
}

ArrayDataset::ArrayDataset(const ArrayFiles &files, std::vector<Field> fields) {
  declared = std::move(fields);
  if (declared.empty())
    throw Error("the model takes no inputs, so that there is nothing to train it with");
  SymbolSizes symbols;
  for (const Field &field : declared) {
    const TensorView &array = findArray(files, field);
    for (size_t dim = 1; dim < array.shape.size(); ++dim)
      symbols.check(field, array, dim);
    const TensorView &first = arrays.empty() ? array : *arrays.front();
    if (array.shape[0] != first.shape[0])
      throw Error(fmt::format("array '{}' has {} samples, but '{}' has {}", array.name, array.shape[0], first.name,
                              first.shape[0]));
    arrays.push_back(&array);
  }
  count = arrays.front()->shape[0];
  if (count == 0)
    throw Error(fmt::format("array '{}' is empty", arrays.front()->name));
}

void ArrayDataset::sampleSizes(size_t field, int64_t length, std::vector<int64_t> &sizes) const {
  sizes.assign(arrays[field]->shape.begin() + 1, arrays[field]->shape.end());
}

/// The coordinates of the `index`-th element of a sample: "[2, 5]".
static std::string describeElement(const TensorView &array, int64_t index) {
  std::vector<int64_t> place(array.shape.size() - 1);
  for (size_t dim = place.size(); dim-- > 0; index /= array.shape[dim + 1])
    place[dim] = index % array.shape[dim + 1];
  return place.empty() ? "" : fmt::format(", element [{}]", fmt::join(place, ", "));
}

void ArrayDataset::refuse(size_t field, int64_t sample, int64_t wrong, const uint8_t *value) const {
  const TensorView &array = *arrays[field];
  throw Error(fmt::format("array '{}', sample {}{}: {} is out of range, which is {}", array.name, sample,
                          describeElement(array, wrong), readInteger(array.dtype, value),
                          describeRange(*declared[field].range)));
}

void ArrayDataset::checkRanges() const {
  for (size_t field = 0; field < declared.size(); ++field) {
    const TensorView &array = *arrays[field];
    if (!declared[field].range || formats::isFloat(array.dtype))
      continue;
    auto width = static_cast<int64_t>(formats::elementBytes(array.dtype));
    int64_t elements = static_cast<int64_t>(array.bytes.size()) / width;
    int64_t wrong = findOutOfRange(array.dtype, array.bytes.data(), std::min(elements, mostLookedAt / width),
                                   *declared[field].range);
    if (wrong >= 0)
      refuse(field, wrong / (elements / count), wrong % (elements / count), array.bytes.data() + wrong * width);
  }
}

void ArrayDataset::copySample(size_t field, int64_t sample, int64_t length, const BatchPlace &place,
                              uint8_t *target) const {
  const Field &wanted = declared[field];
  const TensorView &array = *arrays[field];
  auto bytes = static_cast<int64_t>(array.bytes.size()) / count;
  int64_t elements = bytes / static_cast<int64_t>(formats::elementBytes(array.dtype));
  const uint8_t *source = array.bytes.data() + sample * bytes;
  if (wanted.range && !formats::isFloat(array.dtype)) {
    int64_t wrong = convertIntegers(array.dtype, source, elements, array.dtype, *wanted.range, target);
    if (wrong >= 0)
      refuse(field, sample, wrong, source + wrong * (bytes / elements));
    return;
  }
  int64_t wrong = copyElements(array.dtype, source, elements, target);
  if (wrong >= 0)
    throw Error(fmt::format("array '{}', sample {}{} is NaN", array.name, sample, describeElement(array, wrong)));
}

} // namespace freestone::train
