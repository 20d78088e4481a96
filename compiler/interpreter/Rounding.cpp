#include "compiler/interpreter/Rounding.h"
#include "mlir/IR/BuiltinTypes.h"
#include <bit>
#include <cmath>
#include <limits>

using namespace mlir;

namespace freestone::interpreter {

namespace {

/// The fraction bits of a float format and the exponent of its smallest normal number.
struct Format {
  int fraction;
  int smallestExponent;
  double largest;
};

Format formatOf(Type type) {
  if (type.isF16())
    return {10, -14, 65504};
  return {7, -126, std::ldexp(255, 120)};
}

} // namespace

double roundTo(Type type, double value) {
  if (type.isF64() || !std::isfinite(value) || value == 0)
    return value;
  if (type.isF32())
    return static_cast<float>(value);
  Format format = formatOf(type);
  int exponent = std::max(std::ilogb(value), format.smallestExponent);
  // Scaling by a power of two is exact, so this line rounds only once.
  double rounded =
      std::ldexp(std::nearbyint(std::ldexp(value, format.fraction - exponent)), exponent - format.fraction);
  return std::abs(rounded) > format.largest ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

double roundInteger(Type type, int64_t value, bool isUnsigned) {
  bool isNegative = !isUnsigned && value < 0;
  uint64_t magnitude = isNegative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  // Bits beyond a double's fraction collapse into one sticky bit, which suffices to round to narrower types.
  if (!type.isF64() && magnitude >= 1ull << 53)
    magnitude = (magnitude & ~0xfffull) | ((magnitude & 0xfff) ? 0x800 : 0);
  double real = static_cast<double>(magnitude);
  return roundTo(type, isNegative ? -real : real);
}

int64_t wrapTo(Type type, int64_t value) {
  // Codes of floats have no sign.
  if (isa<FloatType>(type))
    return value & ((1 << type.getIntOrFloatBitWidth()) - 1);
  unsigned width = cast<IntegerType>(type).getWidth();
  if (width == 64)
    return value;
  int64_t low = value & ((int64_t(1) << width) - 1);
  bool hasSign = width > 1 && !type.isUnsignedInteger();
  return hasSign && (low >> (width - 1)) ? low - (int64_t(1) << width) : low;
}

int64_t getSmallest(Type type) {
  unsigned width = cast<IntegerType>(type).getWidth();
  return width == 1 || type.isUnsignedInteger() ? 0 : std::numeric_limits<int64_t>::min() >> (64 - width);
}

int64_t getLargest(Type type) {
  unsigned width = cast<IntegerType>(type).getWidth();
  if (width == 1 || type.isUnsignedInteger())
    return static_cast<int64_t>(~uint64_t(0) >> (64 - width));
  return std::numeric_limits<int64_t>::max() >> (64 - width);
}

double decodeNarrow(Type type, uint16_t bits) {
  Format format = formatOf(type);
  int fraction = bits & ((1 << format.fraction) - 1), exponent = (bits & 0x7fff) >> format.fraction;
  int highest = (1 << (15 - format.fraction)) - 1;
  double magnitude;
  if (exponent == highest)
    magnitude = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(fraction, format.smallestExponent - format.fraction);
  else
    magnitude = std::ldexp(fraction + (1 << format.fraction), format.smallestExponent - format.fraction + exponent - 1);
  return bits & 0x8000 ? -magnitude : magnitude;
}

uint16_t encodeNarrow(Type type, double value) {
  Format format = formatOf(type);
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  uint16_t infinity = 0x7fff & ~((1 << format.fraction) - 1);
  if (std::isnan(value))
    return sign | infinity | 1 << (format.fraction - 1);
  if (std::isinf(value))
    return sign | infinity;
  double magnitude = std::abs(value);
  if (magnitude < std::ldexp(1, format.smallestExponent))
    return sign | static_cast<uint16_t>(std::ldexp(magnitude, format.fraction - format.smallestExponent));
  int exponent = std::ilogb(magnitude);
  int fraction = static_cast<int>(std::ldexp(magnitude, format.fraction - exponent)) - (1 << format.fraction);
  return sign | (exponent - format.smallestExponent + 1) << format.fraction | fraction;
}

uint64_t toBits(Type type, double value) {
  if (type.isF64())
    return std::bit_cast<uint64_t>(value);
  if (type.isF32())
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  return encodeNarrow(type, roundTo(type, value));
}

double fromBits(Type type, uint64_t bits) {
  if (type.isF64())
    return std::bit_cast<double>(bits);
  if (type.isF32())
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return decodeNarrow(type, static_cast<uint16_t>(bits));
}

} // namespace freestone::interpreter
