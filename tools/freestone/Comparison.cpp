#include "tools/freestone/Comparison.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/ranges.h>

namespace freestone::tools {

/// Index of a representable number counted from zero: neighbours differ by one, -0 is 0.
template <typename Bits> static int64_t ordinal(Bits bits) {
  constexpr Bits sign = Bits(1) << (sizeof(Bits) * 8 - 1);
  return bits & sign ? -static_cast<int64_t>(bits & static_cast<Bits>(~sign)) : static_cast<int64_t>(bits);
}

/// float8 and float4 by way of f32, in which they are exact.
static int64_t ordinal(const Tensor &tensor, int64_t index) {
  if (formats::isStorageOnly(tensor.dtype()))
    return ordinal(std::bit_cast<uint32_t>(static_cast<float>(tensor.number(index))));
  switch (tensor.dtype()) {
  case FREESTONE_F16:
  case FREESTONE_BF16:
    return ordinal(tensor.as<uint16_t>()[index]);
  case FREESTONE_F32:
    return ordinal(tensor.as<uint32_t>()[index]);
  default:
    return ordinal(tensor.as<uint64_t>()[index]);
  }
}

static bool isClose(const Tensor &actual, const Tensor &expected, int64_t index, const Tolerance &tolerance) {
  double a = actual.number(index), e = expected.number(index);
  if (std::isnan(a) || std::isnan(e))
    return std::isnan(a) && std::isnan(e);
  if (a == e)
    return true;
  if (tolerance.ulp) {
    int64_t distance;
    return !__builtin_sub_overflow(ordinal(actual, index), ordinal(expected, index), &distance) &&
           std::abs(distance) <= *tolerance.ulp;
  }
  return std::isfinite(a) && std::isfinite(e) && std::fabs(a - e) <= tolerance.atol + tolerance.rtol * std::fabs(e);
}

static std::string position(const Tensor &tensor, int64_t index) {
  std::vector<int64_t> indices(tensor.shape().size());
  for (size_t dim = indices.size(); dim-- > 0;) {
    indices[dim] = index % tensor.shape()[dim];
    index /= tensor.shape()[dim];
  }
  return fmt::format("[{}]", fmt::join(indices, ", "));
}

static std::string report(const Tensor &actual, const Tensor &expected, int64_t wrong, int64_t worst) {
  auto format = [&](const Tensor &tensor) -> std::string {
    if (tensor.dtype() == FREESTONE_I64)
      return fmt::format("{}", tensor.as<int64_t>()[worst]);
    if (tensor.dtype() == FREESTONE_U64)
      return fmt::format("{}", tensor.as<uint64_t>()[worst]);
    return fmt::format("{:.9g}", tensor.number(worst));
  };
  return fmt::format("{} of {} elements differ, most at {}: {} instead of {}", wrong, actual.count(),
                     position(actual, worst), format(actual), format(expected));
}

Comparison compare(const Tensor &actual, const Tensor &expected, const Tolerance &given) {
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape())
    return {fmt::format("it is {} instead of {}", describe(actual.dtype(), actual.shape()),
                        describe(expected.dtype(), expected.shape())),
            0};
  bool floats = isFloat(actual.dtype());
  Tolerance tolerance = given;
  if (actual.dtype() == FREESTONE_BF16)
    tolerance.rtol = std::max(tolerance.rtol, 0x1p-6);

  int64_t wrong = 0, worst = 0;
  double worstError = -1, largestError = 0, largestMagnitude = 0;
  size_t width = elementBytes(actual.dtype());
  bool isPacked = elementsPerByte(actual.dtype()) > 1;
  for (int64_t i = 0; i < actual.count(); ++i) {
    size_t at = static_cast<size_t>(i) * width;
    // Packed elements have few values, none of them NaN.
    bool same = isPacked ? actual.number(i) == expected.number(i)
                         : std::memcmp(actual.as<char>() + at, expected.as<char>() + at, width) == 0;
    double error = same ? 0 : std::fabs(actual.number(i) - expected.number(i)),
           magnitude = std::fabs(expected.number(i));
    if (floats && std::isfinite(magnitude))
      largestMagnitude = std::max(largestMagnitude, magnitude);
    if (std::isfinite(error))
      largestError = std::max(largestError, error);
    if (same || (floats && isClose(actual, expected, i, tolerance)))
      continue;
    ++wrong;
    // Infinite and NaN errors rank as the largest.
    double rank = std::isfinite(error) ? error : INFINITY;
    if (rank > worstError) {
      worstError = rank;
      worst = i;
    }
  }
  Comparison comparison;
  if (floats && largestMagnitude > 0)
    comparison.largestError = largestError / largestMagnitude;
  if (wrong)
    comparison.difference = report(actual, expected, wrong, worst);
  return comparison;
}

} // namespace freestone::tools
