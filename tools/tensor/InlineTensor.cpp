#include "tools/tensor/InlineTensor.h"
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <span>

namespace freestone::tools {

static std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

template <typename T> static std::optional<T> parseNumber(std::string_view text) {
  T value;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

static std::optional<Tensor> parseType(std::string_view text) {
  std::vector<std::string_view> parts = split(text, 'x');
  std::optional<freestone_dtype> dtype = typeFromName(parts.back());
  if (!dtype)
    return std::nullopt;
  std::vector<int64_t> shape;
  for (std::string_view part : std::span(parts).first(parts.size() - 1)) {
    std::optional<int64_t> size = parseNumber<int64_t>(part);
    if (!size || *size < 0)
      return std::nullopt;
    shape.push_back(*size);
  }
  return Tensor(*dtype, std::move(shape));
}

/// Integers are not parsed as doubles, which are inexact above 2^53.
static void setElement(Tensor &tensor, int64_t index, std::string_view text) {
  if (tensor.dtype() == FREESTONE_I1 && (text == "true" || text == "false"))
    return tensor.setNumber(index, text == "true");
  if (tensor.dtype() == FREESTONE_I64) {
    if (std::optional<int64_t> value = parseNumber<int64_t>(text)) {
      tensor.as<int64_t>()[index] = *value;
      return;
    }
  } else if (tensor.dtype() == FREESTONE_U64) {
    if (std::optional<uint64_t> value = parseNumber<uint64_t>(text)) {
      tensor.as<uint64_t>()[index] = *value;
      return;
    }
  } else if (std::optional<double> value = parseNumber<double>(text)) {
    tensor.setNumber(index, *value);
    if (isFloat(tensor.dtype()) || tensor.number(index) == *value)
      return;
  }
  throw TensorError(fmt::format("'{}' is not a value of type {}", text, typeName(tensor.dtype())));
}

/// SplitMix64: the same numbers on every machine.
static uint64_t randomBits(uint64_t seed, uint64_t index) {
  uint64_t z = (seed + 1) * 0xD1B54A32D192ED03 + (index + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

static void fillRandom(Tensor &tensor, std::string_view arguments) {
  std::vector<std::string_view> parts = split(arguments, ':');
  std::optional<uint64_t> seed = parseNumber<uint64_t>(parts[0]);
  bool floats = isFloat(tensor.dtype());
  std::optional<double> low = floats ? -1 : 0, high = floats ? 1 : tensor.dtype() == FREESTONE_I1 ? 2 : 10;
  if (parts.size() == 3) {
    low = parseNumber<double>(parts[1]);
    high = parseNumber<double>(parts[2]);
  }
  if (!seed || (parts.size() != 1 && parts.size() != 3) || !low || !high || !(*low < *high))
    throw TensorError(fmt::format("'random:{}' is not random:SEED or random:SEED:LOW:HIGH", arguments));
  for (int64_t i = 0; i < tensor.count(); ++i) {
    double unit = static_cast<double>(randomBits(*seed, static_cast<uint64_t>(i)) >> 11) * 0x1p-53;
    double value = *low + unit * (*high - *low);
    tensor.setNumber(i, floats ? value : std::floor(value));
  }
}

bool isInlineTensor(std::string_view text) {
  size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return false;
  size_t type = text.substr(0, equals).rfind('x');
  return typeFromName(text.substr(0, equals).substr(type == std::string_view::npos ? 0 : type + 1)).has_value();
}

Tensor parseInlineTensor(std::string_view text) {
  size_t equals = text.find('=');
  std::optional<Tensor> tensor = parseType(text.substr(0, equals));
  if (!tensor || equals == std::string_view::npos)
    throw TensorError(fmt::format("'{}' is not a tensor such as 2x3xf32=0.5", text));
  std::string_view value = text.substr(equals + 1);
  if (value.starts_with("random:")) {
    fillRandom(*tensor, value.substr(7));
    return std::move(*tensor);
  }
  std::vector<std::string_view> values = split(value, ',');
  if (values.size() != 1 && static_cast<int64_t>(values.size()) != tensor->count())
    throw TensorError(fmt::format("'{}' gives {} values for {} elements", text, values.size(), tensor->count()));
  for (int64_t i = 0; i < tensor->count(); ++i)
    setElement(*tensor, i, values[values.size() == 1 ? 0 : static_cast<size_t>(i)]);
  return std::move(*tensor);
}

} // namespace freestone::tools
