#include "train/data/TokenDataset.h"
#include "formats/ElementType.h"
#include "train/Error.h"
#include "train/data/CheckedCopy.h"
#include "train/data/FieldShape.h"
#include "train/data/RandomIndex.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::train {

Window parseWindow(const std::string &text) {
  size_t colon = text.find(':');
  std::optional<int64_t> first = fixedSize(text.substr(0, colon));
  std::optional<int64_t> last = colon == std::string::npos ? first : fixedSize(text.substr(colon + 1));
  if (!first || !last || *first < 1 || *last < *first)
    throw Error(
        fmt::format("'{}' is no window: write a number of tokens, 64, or the least and the most, 32:256", text));
  return {*first, *last};
}

static bool isInteger(freestone_dtype dtype) { return dtype >= FREESTONE_I8; }

static void checkField(const Field &field, Window window) {
  if (!isInteger(field.dtype) || field.shape.size() != 2)
    throw Error(fmt::format("the input '{}' is {}, but tokens are integers of shape [batch, length]", field.name,
                            describeField(field)));
  std::optional<int64_t> fixed = fixedSize(field.shape[1]);
  if (fixed && (window.shortest != *fixed || window.longest != *fixed))
    throw Error(
        fmt::format("the input '{}' is {}, so that its window must be {}", field.name, describeField(field), *fixed));
}

TokenDataset::TokenDataset(const formats::TensorView &tokens, Window window, Field inputs, Field labels)
    : tokens(tokens), window(window) {
  declared = {std::move(inputs), std::move(labels)};
  for (const Field &field : declared)
    checkField(field, window);
  if (!isInteger(tokens.dtype) || tokens.shape.size() != 1)
    throw Error(fmt::format("array '{}' is {}, but tokens are one-dimensional integers", tokens.name,
                            formats::describe(tokens.dtype, tokens.shape)));
  if (tokens.shape[0] <= window.longest)
    throw Error(fmt::format("array '{}' has {} tokens, too few for a window of {} and the token after it", tokens.name,
                            tokens.shape[0], window.longest));
  count = (tokens.shape[0] - 1) / window.longest;
}

int64_t TokenDataset::length(const BatchPlace &place) const {
  return window.shortest + randomBelow(window.longest - window.shortest + 1, place.seed, RandomUse::WindowLength,
                                       place.epoch, static_cast<uint64_t>(place.position));
}

void TokenDataset::sampleSizes(size_t field, int64_t length, std::vector<int64_t> &sizes) const {
  sizes.assign(1, length);
}

void TokenDataset::copySample(size_t field, int64_t sample, int64_t length, const BatchPlace &place,
                              uint8_t *target) const {
  int64_t starts = tokens.shape[0] - first - window.longest;
  int64_t origin = place.shuffle ? randomBelow(starts, place.seed, RandomUse::WindowOrigin, place.epoch, 0) : 0;
  int64_t begin = first + (sample * window.longest + origin) % starts + static_cast<int64_t>(field);
  auto width = static_cast<int64_t>(formats::elementBytes(tokens.dtype));
  const uint8_t *source = tokens.bytes.data() + begin * width;
  const Field &wanted = declared[field];
  IntegerRange range = wanted.range.value_or(IntegerRange{INT64_MIN, INT64_MAX, {}});
  int64_t wrong = convertIntegers(tokens.dtype, source, length, wanted.dtype, range, target);
  if (wrong >= 0)
    refuse(wanted, begin + wrong);
}

void TokenDataset::refuse(const Field &field, int64_t token) const {
  auto width = static_cast<int64_t>(formats::elementBytes(tokens.dtype));
  throw Error(fmt::format("array '{}', token {}: {} is out of range, which is {}", tokens.name, token,
                          readInteger(tokens.dtype, tokens.bytes.data() + token * width),
                          field.range ? describeRange(*field.range) : std::string(formats::typeName(field.dtype))));
}

/// Checks the tokens that can be labels: all but the first.
void TokenDataset::checkRanges() const {
  auto width = static_cast<int64_t>(formats::elementBytes(tokens.dtype));
  int64_t looked = std::min(tokens.shape[0] - 1, mostLookedAt / width);
  for (const Field &field : declared)
    if (field.range)
      if (int64_t wrong = findOutOfRange(tokens.dtype, tokens.bytes.data() + width, looked, *field.range); wrong >= 0)
        refuse(field, wrong + 1);
}

/// Whether a batch may be a single window of any length.
bool TokenDataset::takesOtherLengths() const {
  return std::ranges::all_of(declared, [](const Field &field) {
    return fixedSize(field.shape[0]).value_or(1) == 1 && !fixedSize(field.shape[1]);
  });
}

std::vector<std::unique_ptr<Dataset>> TokenDataset::evaluationParts() const {
  std::vector<std::unique_ptr<Dataset>> parts;
  auto whole = std::make_unique<TokenDataset>(*this);
  whole->window.shortest = window.longest;
  parts.push_back(std::move(whole));
  int64_t covered = count * window.longest, left = tokens.shape[0] - 1 - covered;
  if (left > 0 && takesOtherLengths()) {
    auto rest = std::make_unique<TokenDataset>(*this);
    rest->window = {left, left};
    rest->first = covered;
    rest->count = 1;
    parts.push_back(std::move(rest));
  }
  return parts;
}

} // namespace freestone::train
