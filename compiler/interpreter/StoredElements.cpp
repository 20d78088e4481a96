#include "compiler/interpreter/StoredElements.h"

#include "llvm/ADT/APFloat.h"
#include <bit>
#include <cmath>

using namespace mlir;

namespace freestone::interpreter {

double decodeStored(FloatType type, int64_t code) {
  unsigned width = type.getWidth();
  APFloat value(type.getFloatSemantics(), APInt(width, static_cast<uint64_t>(code) & ((1 << width) - 1)));
  bool inexact;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}

/// The code with the nearest magnitude; of two that are equally near the even one. `largest` + 1 where the magnitude
/// would be rounded beyond `largest`.
static int64_t findNearest(FloatType type, double magnitude, int64_t largest) {
  int64_t low = 0, high = largest;
  while (low < high) {
    int64_t middle = (low + high + 1) / 2;
    if (decodeStored(type, middle) <= magnitude)
      low = middle;
    else
      high = middle - 1;
  }
  double below = decodeStored(type, low);
  double step = low == largest ? below - decodeStored(type, low - 1) : decodeStored(type, low + 1) - below;
  double beyond = magnitude - below, half = step / 2;
  return low + (beyond > half || (beyond == half && low % 2 == 1));
}

/// By the exponent of f32 and ONNX's rules for its fraction.
static int64_t encodeScale(float value, bool saturate, graph::RoundMode round) {
  uint32_t bits = std::bit_cast<uint32_t>(value), exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
  if (exponent == 0xff)
    return 0xff;
  bool isAbove = false;
  if (round == graph::RoundMode::up)
    isAbove = fraction != 0;
  else if (round == graph::RoundMode::nearest)
    isAbove = exponent > 0 ? fraction >= 0x400000 : fraction > 0x400000;
  return isAbove && !(saturate && exponent == 0xfe) ? exponent + 1 : exponent;
}

int64_t encodeStored(FloatType type, double given, bool saturate, graph::RoundMode round) {
  auto value = static_cast<float>(given);
  if (isa<Float8E8M0FNUType>(type))
    return encodeScale(value, saturate, round);
  bool isFour = isa<Float4E2M1FNType>(type), isTwo = isa<Float8E5M2Type>(type);
  bool hasOneZero = isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(type);
  int64_t sign = std::signbit(value) ? (isFour ? 8 : 0x80) : 0;
  if (std::isnan(value))
    return hasOneZero ? 0x80 : isFour ? 8 ^ sign : sign | (isTwo ? 0x7e : 0x7f);
  int64_t largest = isFour ? 7 : isTwo ? 0x7b : hasOneZero ? 0x7f : 0x7e;
  int64_t code = findNearest(type, std::fabs(value), largest);
  if (code > largest) {
    if (hasOneZero && !saturate)
      return 0x80;
    code = saturate || isFour ? largest : largest + 1;
  }
  return code == 0 && hasOneZero ? 0 : sign | code;
}

std::vector<char> unpackBytes(Type elementType, ArrayRef<char> packed, int64_t count) {
  int64_t width = elementType.getIntOrFloatBitWidth(), perByte = 8 / width;
  bool hasSign = elementType.isSignlessInteger();
  std::vector<char> unpacked(count);
  for (int64_t i = 0; i < count; ++i) {
    int bits = static_cast<uint8_t>(packed[i / perByte]) >> (i % perByte * width) & ((1 << width) - 1);
    unpacked[i] = static_cast<char>(hasSign && bits >> (width - 1) ? bits - (1 << width) : bits);
  }
  return unpacked;
}

std::vector<char> packBytes(Type elementType, ArrayRef<char> unpacked) {
  int64_t width = elementType.getIntOrFloatBitWidth(), perByte = 8 / width;
  std::vector<char> packed((unpacked.size() + perByte - 1) / perByte);
  for (size_t i = 0; i < unpacked.size(); ++i)
    packed[i / perByte] |= (unpacked[i] & ((1 << width) - 1)) << (i % perByte * width);
  return packed;
}

} // namespace freestone::interpreter
