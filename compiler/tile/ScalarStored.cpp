// Casts from and to elements that are only stored: float8 and float4 by the bits of f32, integers below a byte by i8.
// Everything is exact in integers, or a product with a power of two: the interpreter, whose floats are doubles,
// computes the same.
#include "compiler/tile/Scalars.h"

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace freestone::tile {

namespace {

/// A float whose code is a sign, an exponent and a mantissa, of `getWidth()` bits.
struct FloatCode {
  int64_t mantissa, bias;
  /// The largest finite magnitude; the codes above it are infinity and NaN.
  int64_t largest;
  enum { None, SignedNaN, OnlyNaN, Infinity } specials;
  int64_t signBit;

  static FloatCode get(Type type) {
    if (isa<Float8E4M3FNType>(type))
      return {3, 7, 0x7e, SignedNaN, 7};
    if (isa<Float8E4M3FNUZType>(type))
      return {3, 8, 0x7f, OnlyNaN, 7};
    if (isa<Float8E5M2Type>(type))
      return {2, 15, 0x7b, Infinity, 7};
    if (isa<Float8E5M2FNUZType>(type))
      return {2, 16, 0x7f, OnlyNaN, 7};
    return {1, 1, 7, None, 3};
  }
};

constexpr int64_t bits32 = 32, mantissa32 = 23, bias32 = 127, infinity32 = 0x7f800000, nan32 = 0x7fc00000;

/// Arithmetic on the bits of f32.
class Bits {
public:
  explicit Bits(ImplicitLocOpBuilder &builder) : b(builder) {}

  Value constant(int64_t value) { return emitConstant(b, b.getI32Type(), static_cast<double>(value)); }
  Value land(Value x, int64_t mask) { return arith::AndIOp::create(b, x, constant(mask)); }
  Value lor(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value add(Value x, int64_t value) { return arith::AddIOp::create(b, x, constant(value)); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value shiftLeft(Value x, int64_t places) { return arith::ShLIOp::create(b, x, constant(places)); }
  Value shiftRight(Value x, int64_t places) { return arith::ShRUIOp::create(b, x, constant(places)); }
  Value is(arith::CmpIPredicate relation, Value x, int64_t value) {
    return arith::CmpIOp::create(b, relation, x, constant(value));
  }
  Value select(Value condition, Value yes, Value no) { return arith::SelectOp::create(b, condition, yes, no); }
  Value of(Value real) { return arith::BitcastOp::create(b, b.getI32Type(), real); }
  Value toReal(Value bits) { return arith::BitcastOp::create(b, b.getF32Type(), bits); }
  Value widen(Value code) { return arith::ExtUIOp::create(b, b.getI32Type(), code); }
  Value narrow(Value bits) { return arith::TruncIOp::create(b, b.getI8Type(), bits); }

  ImplicitLocOpBuilder &b;
};

using Predicate = arith::CmpIPredicate;

Value emitDecode(ImplicitLocOpBuilder &b, Value code, FloatCode format) {
  Bits bits(b);
  Value wide = bits.widen(code), magnitude = bits.land(wide, (1 << format.signBit) - 1);
  Value normal =
      bits.add(bits.shiftLeft(magnitude, mantissa32 - format.mantissa), (bias32 - format.bias) << mantissa32);
  Value unit = emitConstant(b, b.getF32Type(), std::ldexp(1.0, static_cast<int>(1 - format.bias - format.mantissa)));
  Value subnormal = bits.of(arith::MulFOp::create(b, arith::SIToFPOp::create(b, b.getF32Type(), magnitude), unit));
  Value result = bits.select(bits.is(Predicate::ult, magnitude, 1 << format.mantissa), subnormal, normal);
  if (format.specials == FloatCode::SignedNaN)
    result = bits.select(bits.is(Predicate::ugt, magnitude, format.largest), bits.constant(nan32), result);
  if (format.specials == FloatCode::Infinity)
    result = bits.select(bits.is(Predicate::ugt, magnitude, format.largest),
                         bits.lor(bits.shiftLeft(magnitude, mantissa32 - format.mantissa), bits.constant(infinity32)),
                         result);
  Value sign = bits.shiftLeft(bits.land(wide, 1 << format.signBit), bits32 - 1 - format.signBit);
  result = bits.lor(result, sign);
  if (format.specials == FloatCode::OnlyNaN)
    result = bits.select(bits.is(Predicate::eq, wide, 0x80), bits.constant(nan32), result);
  return bits.toReal(result);
}

/// To nearest, ties to even: half of the last place is added, less one bit where the last place is even.
Value emitEncode(ImplicitLocOpBuilder &b, Value x, FloatCode format, bool saturate) {
  Bits bits(b);
  int64_t dropped = mantissa32 - format.mantissa;
  Value whole = bits.of(x), magnitude = bits.land(whole, INT32_MAX);
  Value sign = bits.shiftLeft(bits.shiftRight(whole, bits32 - 1), format.signBit);
  Value last = bits.land(bits.shiftRight(magnitude, dropped), 1);
  Value rounded = bits.shiftRight(bits.add(bits.add(magnitude, (1 << (dropped - 1)) - 1), last), dropped);
  Value normal = bits.add(rounded, -((bias32 - format.bias) << format.mantissa));
  Value scale = emitConstant(b, b.getF32Type(), std::ldexp(1.0, static_cast<int>(format.bias - 1 + format.mantissa)));
  Value units = math::RoundEvenOp::create(b, arith::MulFOp::create(b, bits.toReal(magnitude), scale));
  Value isSubnormal = bits.is(Predicate::ult, magnitude, (bias32 + 1 - format.bias) << mantissa32);
  Value zero = emitConstant(b, b.getF32Type(), 0);
  Value subnormal = arith::FPToSIOp::create(b, b.getI32Type(), arith::SelectOp::create(b, isSubnormal, units, zero));
  Value code = bits.select(isSubnormal, subnormal, normal);

  Value isNaN = bits.is(Predicate::ugt, magnitude, infinity32);
  Value isAbove = bits.is(Predicate::ugt, code, format.largest);
  switch (format.specials) {
  case FloatCode::None:
    // NaN is the zero of the other sign, as of ml_dtypes.
    code = bits.select(isAbove, bits.constant(format.largest), code);
    code = bits.select(isNaN, bits.constant(1 << format.signBit), code);
    return bits.narrow(arith::XOrIOp::create(b, code, sign));
  case FloatCode::SignedNaN:
    code = bits.select(isAbove, bits.constant(saturate ? format.largest : format.largest + 1), code);
    code = bits.select(isNaN, bits.constant(format.largest + 1), code);
    return bits.narrow(bits.lor(code, sign));
  case FloatCode::Infinity:
    code = bits.select(isAbove, bits.constant(saturate ? format.largest : format.largest + 1), code);
    code = bits.select(isNaN, bits.constant(0x7e), code);
    return bits.narrow(bits.lor(code, sign));
  case FloatCode::OnlyNaN:
    break;
  }
  // There is no negative zero: its code is NaN.
  Value unsignedZero = bits.select(bits.is(Predicate::eq, code, 0), bits.constant(0), sign);
  Value result = bits.lor(saturate ? bits.select(isAbove, bits.constant(format.largest), code) : code, unsignedZero);
  Value isSpecial = saturate ? isNaN : isAbove;
  return bits.narrow(bits.select(isSpecial, bits.constant(0x80), result));
}

/// The code is the exponent of f32; 0 is 2^-127, 255 is NaN.
Value emitDecodeScale(ImplicitLocOpBuilder &b, Value code) {
  Bits bits(b);
  Value wide = bits.widen(code), result = bits.shiftLeft(wide, mantissa32);
  result = bits.select(bits.is(Predicate::eq, wide, 0), bits.constant(1 << (mantissa32 - 1)), result);
  result = bits.select(bits.is(Predicate::eq, wide, 0xff), bits.constant(nan32), result);
  return bits.toReal(result);
}

Value emitEncodeScale(ImplicitLocOpBuilder &b, Value x, CastMode mode) {
  Bits bits(b);
  Value magnitude = bits.land(bits.of(x), INT32_MAX), rounded = magnitude;
  constexpr int64_t half = 1 << (mantissa32 - 1);
  if (mode.round == graph::RoundMode::up)
    rounded = bits.add(magnitude, (1 << mantissa32) - 1);
  // Halves are rounded up, but a subnormal half is 2^-127 itself.
  if (mode.round == graph::RoundMode::nearest)
    rounded = bits.add(magnitude, bits.select(bits.is(Predicate::ult, magnitude, 1 << mantissa32),
                                              bits.constant(half - 1), bits.constant(half)));
  Value code = bits.shiftRight(rounded, mantissa32);
  if (mode.saturate)
    code = bits.select(bits.is(Predicate::ugt, code, 0xfe), bits.constant(0xfe), code);
  code = bits.select(bits.is(Predicate::uge, magnitude, infinity32), bits.constant(0xff), code);
  return bits.narrow(code);
}

} // namespace

Value emitStoredCast(ImplicitLocOpBuilder &b, Value operand, Type from, Type to, CastMode mode) {
  Type byte = b.getI8Type(), unsignedByte = b.getIntegerType(8, /*isSigned=*/false), real = b.getF32Type();
  auto cast = [&](Value value, Type source, Type target) {
    if (graph::isStorageOnly(target))
      return emitStoredCast(b, value, source, target, mode);
    return mode.saturate ? emitSaturatingCast(b, value, source, target) : emitCast(b, value, source, target);
  };
  if (graph::isStorageOnly(from)) {
    if (isa<IntegerType>(from))
      return cast(operand, from.isUnsignedInteger() ? unsignedByte : byte, to);
    bool isScale = isa<Float8E8M0FNUType>(from);
    return cast(isScale ? emitDecodeScale(b, operand) : emitDecode(b, operand, FloatCode::get(from)), real, to);
  }
  if (isa<FloatType>(to)) {
    Value wide = emitCast(b, operand, from, real);
    return isa<Float8E8M0FNUType>(to) ? emitEncodeScale(b, wide, mode)
                                      : emitEncode(b, wide, FloatCode::get(to), mode.saturate);
  }
  unsigned width = to.getIntOrFloatBitWidth();
  bool isUnsigned = to.isUnsignedInteger();
  Type target = isUnsigned ? unsignedByte : byte;
  if (mode.saturate) {
    Value clamped = emitSaturatingCast(b, operand, from, target);
    int64_t high = isUnsigned ? (1 << width) - 1 : (1 << (width - 1)) - 1, low = isUnsigned ? 0 : -high - 1;
    Value highest = emitConstant(b, target, static_cast<double>(high));
    if (isUnsigned)
      return arith::MinUIOp::create(b, clamped, highest);
    return arith::MinSIOp::create(
        b, arith::MaxSIOp::create(b, clamped, emitConstant(b, target, static_cast<double>(low))), highest);
  }
  // Floats take the low bits of the integer that they are; a direct conversion to a byte would clamp them.
  Type whole = isa<FloatType>(from) ? Type(b.getI32Type()) : from;
  Value low = emitCast(b, emitCast(b, operand, from, whole), whole, target);
  if (isUnsigned)
    return arith::AndIOp::create(b, low, emitConstant(b, target, (1 << width) - 1));
  Value places = emitConstant(b, target, 8 - width);
  return arith::ShRSIOp::create(b, arith::ShLIOp::create(b, low, places), places);
}

} // namespace freestone::tile
