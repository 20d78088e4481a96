#include "formats/HalfFloats.h"
#include <algorithm>
#include <bit>
#include <cmath>

namespace freestone::formats {

double halfToDouble(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  double mantissa = bits & 1023;
  double magnitude;
  if (exponent == 31)
    magnitude = mantissa == 0 ? INFINITY : NAN;
  else
    magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return std::copysign(magnitude, bits & 0x8000 ? -1.0 : 1.0);
}

double bfloatToDouble(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// Rounds to a binary format by scaling so that the last mantissa bit is worth one: nearbyint then rounds ties to even.
static uint16_t roundTo(double value, int exponentBits, int mantissaBits) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  uint16_t infinity = static_cast<uint16_t>(((1 << exponentBits) - 1) << mantissaBits);
  if (std::isnan(value))
    return sign | infinity | 1 << (mantissaBits - 1);
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  int bias = (1 << (exponentBits - 1)) - 1;
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  if (exponent > bias)
    return sign | infinity;
  auto scaled = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, mantissaBits - exponent)));
  // A carry out of the mantissa increments the exponent, up to infinity.
  auto bits = (static_cast<uint32_t>(exponent + bias - 1) << mantissaBits) + scaled;
  return sign | static_cast<uint16_t>(std::min<uint32_t>(bits, infinity));
}

uint16_t doubleToHalf(double value) { return roundTo(value, 5, 10); }
uint16_t doubleToBfloat(double value) { return roundTo(value, 8, 7); }

} // namespace freestone::formats
