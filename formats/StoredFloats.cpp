#include "formats/StoredFloats.h"
#include <algorithm>
#include <cmath>

namespace freestone::formats {

namespace {

/// The fields of a code, from the highest bit: sign, exponent, mantissa.
struct Format {
  int mantissaBits, bias;
  uint8_t largest, sign;
  uint8_t nan;      ///< 0: none
  uint8_t infinity; ///< 0: none
};

Format formatOf(freestone_dtype dtype) {
  switch (dtype) {
  case FREESTONE_F8E4M3FN:
    return {3, 7, 0x7e, 0x80, 0x7f, 0};
  case FREESTONE_F8E4M3FNUZ:
    return {3, 8, 0x7f, 0x80, 0x80, 0};
  case FREESTONE_F8E5M2:
    return {2, 15, 0x7b, 0x80, 0x7e, 0x7c};
  case FREESTONE_F8E5M2FNUZ:
    return {2, 16, 0x7f, 0x80, 0x80, 0};
  case FREESTONE_F8E8M0:
    return {0, 127, 0xfe, 0, 0xff, 0};
  default:
    return {1, 1, 7, 8, 0, 0};
  }
}

double magnitudeOf(const Format &format, int code) {
  int exponent = code >> format.mantissaBits, mantissa = code & ((1 << format.mantissaBits) - 1);
  // A code without a mantissa is a power of two.
  if (exponent == 0 && format.mantissaBits > 0)
    return std::ldexp(mantissa, 1 - format.bias - format.mantissaBits);
  return std::ldexp(mantissa + (1 << format.mantissaBits), exponent - format.bias - format.mantissaBits);
}

} // namespace

double storedToDouble(freestone_dtype dtype, uint8_t code) {
  Format format = formatOf(dtype);
  bool isNegative = code & format.sign;
  uint8_t magnitude = code & static_cast<uint8_t>(~format.sign);
  if (format.nan == format.sign && code == format.nan)
    return NAN;
  if (magnitude > format.largest) {
    double special = format.infinity && magnitude == format.infinity ? INFINITY : NAN;
    return isNegative ? -special : special;
  }
  double value = magnitudeOf(format, magnitude);
  return isNegative ? -value : value;
}

uint8_t doubleToStored(freestone_dtype dtype, double value) {
  Format format = formatOf(dtype);
  uint8_t sign = std::signbit(value) ? format.sign : 0;
  if (std::isnan(value))
    return format.nan ? format.nan : format.sign;
  double magnitude = std::fabs(value);
  int code = 0;
  while (code < format.largest) {
    double middle = (magnitudeOf(format, code) + magnitudeOf(format, code + 1)) / 2;
    if (magnitude < middle || (magnitude == middle && code % 2 == 0))
      break;
    ++code;
  }
  bool hasOneZero = format.nan == format.sign;
  return code == 0 && hasOneZero ? 0 : static_cast<uint8_t>(sign | code);
}

} // namespace freestone::formats
