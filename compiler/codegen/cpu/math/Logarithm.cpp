#include "compiler/codegen/cpu/math/Elementary.h"

#include <limits>

using namespace mlir;

namespace freestone::codegen {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// (2*atanh(s) - 2*s) / s³ in z = s², for m = (1+s)/(1-s) in [sqrt(1/2), sqrt(2)).
constexpr double logFloatCoefficients[] = {0.6666666269302368, 0.40000346302986145, 0.285366028547287,
                                           0.23596347868442535};
constexpr double logDoubleCoefficients[] = {0.6666666666666666, 0.400000000000067,   0.28571428568940044,
                                            0.2222222266877832, 0.18181773905539775, 0.1538716774963438,
                                            0.132483813353753,  0.13267128069789103};

/// x = m * 2^e with m in [sqrt(1/2), sqrt(2)), for positive finite x.
struct Split {
  Real m, e;
};

Split split(Real x) {
  auto &builder = x.getBuilder();
  // Subnormal numbers are first scaled to normal ones.
  double smallest = x.isDouble() ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  double lift = x.isDouble() ? 54 : 25;
  Mask subnormal = x < smallest;
  Real normal = select(subnormal, x * (x.isDouble() ? 0x1p54 : 0x1p25), x);
  Real offset = select(subnormal, x.like(-lift), x.like(0));

  // Moves sqrt(1/2) to a power of two, so that the exponent field changes exactly there.
  int64_t sqrtHalf = x.isDouble() ? 0x3fe6a09e667f3bcdLL : 0x3f3504f3LL;
  Value shifted = arith::SubIOp::create(builder, normal.bits(), x.integer(sqrtHalf));
  Value exponent = arith::ShRSIOp::create(builder, shifted, x.integer(x.mantissaBits()));
  Value field = arith::ShLIOp::create(builder, exponent, x.integer(x.mantissaBits()));
  Real m = x.fromBits(arith::SubIOp::create(builder, normal.bits(), field));
  Real e = x.with(arith::SIToFPOp::create(builder, x.type(), exponent));
  return {m, e + offset};
}

/// log(m) for m in [sqrt(1/2), sqrt(2)), as f - correction with f = m - 1.
struct NearOne {
  Real f, correction;
};

NearOne logNearOne(Real m) {
  Real f = m - 1.0;
  Real s = f / (f + 2.0);
  Real z = s * s;
  Real r = z * (m.isDouble() ? polynomial(z, logDoubleCoefficients) : polynomial(z, logFloatCoefficients));
  Real half = f * f * 0.5;
  return {f, half - s * (half + r)};
}

/// Zero, negative, infinite and NaN arguments.
Real withSpecialCases(Real x, Real value) {
  value = select(x == infinity, x, value);
  value = select(x == 0.0, x.like(-infinity), value);
  value = select(x < 0.0, x.like(nan), value);
  return select(x == x, value, x);
}

} // namespace

Real log(Real x) {
  auto [m, e] = split(x);
  auto [f, correction] = logNearOne(m);
  double high = x.isDouble() ? ln2HighDouble : ln2HighFloat, low = x.isDouble() ? ln2LowDouble : ln2LowFloat;
  Real value = fma(e, high, f - fma(e, -low, correction));
  return withSpecialCases(x, value);
}

Real log2(Real x) {
  if (!x.isDouble())
    return log2(x.widened()).narrowed();
  constexpr double log2eHigh = 0x1.71547652p+0, log2eLow = 1.4426950408889634074 - 0x1.71547652p+0;
  auto [m, e] = split(x);
  auto [f, correction] = logNearOne(m);
  Real y = f - correction;
  Real rest = (f - y) - correction;
  Real value = fma(y, log2eHigh, fma(y, log2eLow, rest * log2eHigh)) + e;
  return withSpecialCases(x, value);
}

Real log10(Real x) {
  if (!x.isDouble())
    return log10(x.widened()).narrowed();
  return log(x) * 0.43429448190325182765;
}

Real log1p(Real x) {
  Real u = x + 1.0;
  Real lost = (x - (u - 1.0)) / u;
  Real value = select(u == 1.0, x, log(u) + lost);
  Mask ordinary = both(x, x > -1.0, x < infinity);
  return select(ordinary, value, select(x == 0.0, x, log(u)));
}

/// x^y in double precision, within an ulp.
static Real powerOfDoubles(Real x, Real y) {
  Real magnitude = abs(x);
  // The logarithm in two parts, since its error is multiplied by y.
  auto [m, e] = split(magnitude);
  Real f = m - 1.0;
  Real s = f / (f + 2.0);
  Real divisorRest = f - ((f + 2.0) - 2.0);
  Real sLow = (fma(-s, f + 2.0, f) - s * divisorRest) / (f + 2.0);
  Real z = s * s;
  Real series = s * z * polynomial(z, logDoubleCoefficients);
  Real small = sLow * 2.0 + series;
  Real head = s * 2.0;
  Real high = fma(e, ln2HighDouble, head);
  Real low = (fma(e, ln2HighDouble, -high) + head) + fma(e, ln2LowDouble, small);
  Real sum = high + low;
  low = low - (sum - high);

  Real product = sum * y;
  Real rest = fma(sum, y, -product) + low * y;
  rest = select(abs(product) < 1000.0, rest, x.like(0));
  Real power = exp(product);
  power = select(power < infinity, fma(power, rest, power), power);

  // Zeros and infinities: |x|^y is 0 or infinity by the sign of y.
  Real positiveExponent = select(y > 0.0, x.like(0), x.like(infinity));
  power = select(magnitude == 0.0, positiveExponent, power);
  power = select(magnitude == infinity, select(y > 0.0, x.like(infinity), x.like(0)), power);
  Real grows = select(magnitude > 1.0, x.like(infinity), x.like(0));
  Real shrinks = select(magnitude > 1.0, x.like(0), x.like(infinity));
  power = select(y == infinity, grows, power);
  power = select(y == -infinity, shrinks, power);

  Mask integral = floor(y) == y;
  Real halfY = y * 0.5;
  Mask even = floor(halfY) == halfY;
  Real negative = select(integral, select(even, power, -power), x.like(nan));
  negative = select(magnitude == 0.0, select(integral, select(even, power, -power), power), negative);
  negative = select(magnitude == infinity, select(integral, select(even, power, -power), power), negative);
  // The sign is copied from x, since a negative zero counts as negative.
  Real sign = copySign(x.like(1), x);
  Real value = select(sign < 0.0, negative, power);
  value = select(x == x, value, x);
  value = select(y == y, value, y);
  value = select(both(x, magnitude == 1.0, abs(y) == infinity), x.like(1), value);
  value = select(x == 1.0, x.like(1), value);
  return select(y == 0.0, x.like(1), value);
}

Real pow(Real x, Real y) {
  if (!x.isDouble())
    return powerOfDoubles(x.widened(), y.widened()).narrowed();
  Real power = powerOfDoubles(x, y);
  // Integer powers of integers are integers: a caller that truncates would otherwise lose 1 to the last bit.
  Mask whole = both(x, both(x, floor(x) == x, floor(y) == y), y > 0.0);
  return select(whole, roundToEven(power), power);
}

} // namespace freestone::codegen
