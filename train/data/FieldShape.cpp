#include "train/data/FieldShape.h"
#include "formats/ElementType.h"
#include "train/Error.h"
#include <algorithm>
#include <charconv>
#include <fmt/ranges.h>

namespace freestone::train {

std::string describeField(const Field &field) {
  return fmt::format("[{}] {}", fmt::join(field.shape, ", "), formats::typeName(field.dtype));
}

std::string describeRange(const IntegerRange &range) {
  std::string text = range.highest == INT64_MAX ? fmt::format("{} and above", range.lowest)
                                                : fmt::format("{} to {}", range.lowest, range.highest);
  return range.ignored ? fmt::format("{}, or {}", text, *range.ignored) : text;
}

std::optional<int64_t> fixedSize(const std::string &dimension) {
  int64_t size;
  auto [end, error] = std::from_chars(dimension.data(), dimension.data() + dimension.size(), size);
  if (error != std::errc() || end != dimension.data() + dimension.size())
    return std::nullopt;
  return size;
}

static bool isSymbol(const std::string &dimension) {
  return std::ranges::all_of(dimension, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; });
}

void SymbolSizes::check(const Field &field, const formats::TensorView &array, size_t dim) {
  const std::string &wanted = field.shape[dim];
  int64_t actual = array.shape[dim];
  std::optional<int64_t> fixed = fixedSize(wanted);
  std::string reason;
  if (fixed && *fixed != actual)
    reason = fmt::format("dimension {} must be {}", dim, *fixed);
  if (!fixed && isSymbol(wanted)) {
    const Binding &binding = bindings.try_emplace(wanted, Binding{actual, array.name}).first->second;
    if (binding.size != actual)
      reason = fmt::format("array '{}' makes {} {}", binding.array, wanted, binding.size);
  }
  if (!reason.empty())
    throw Error(fmt::format("array '{}' is {}, but the input '{}' is {}: {}", array.name,
                            formats::describe(array.dtype, array.shape), field.name, describeField(field), reason));
}

} // namespace freestone::train
