#include "compiler/codegen/cpu/math/Elementary.h"

using namespace mlir;

namespace freestone::codegen {

namespace {

constexpr double log2e = 1.4426950408889634074;

// (e^r - 1 - r) / r² on |r| ≤ ln(2)/2.
constexpr double expFloatCoefficients[] = {0.5, 0.16666512191295624, 0.0416661873459816, 0.008369599469006062,
                                           0.0013951706932857633};
constexpr double expDoubleCoefficients[] = {0.5,
                                            0.16666666666666685,
                                            0.04166666666666673,
                                            0.008333333333315375,
                                            0.0013888888888856073,
                                            0.00019841269900463184,
                                            2.4801587377900728e-05,
                                            2.7557230813908497e-06,
                                            2.755723009474608e-07,
                                            2.5113439042878825e-08,
                                            2.092788818656313e-09};

/// x = n*ln2 + r with integral n and |r| ≤ ln(2)/2; tail = e^r - 1.
struct Reduced {
  Real n, tail;
};

Real tailOf(Real r) {
  Real p = r.isDouble() ? polynomial(r, expDoubleCoefficients) : polynomial(r, expFloatCoefficients);
  return fma(r * r, p, r);
}

Reduced reduce(Real x) {
  Real n = roundToEven(x * log2e);
  Real r = fma(n, x.isDouble() ? -ln2HighDouble : -ln2HighFloat, x);
  r = fma(n, x.isDouble() ? -ln2LowDouble : -ln2LowFloat, r);
  return {n, tailOf(r)};
}

/// Keep x where 2^n stays representable in two steps; beyond, the result is infinity, or 0, anyway. NaN passes.
Real clampAbove(Real x) {
  double high = x.isDouble() ? 710.0 : 89.0;
  return select(x > high, x.like(high), x);
}
Real clampBelow(Real x) {
  double low = x.isDouble() ? -746.0 : -104.5;
  return select(x < low, x.like(low), x);
}

} // namespace

Real scaleByPowerOfTwo(Real x, Real n) {
  auto &builder = x.getBuilder();
  auto power = [&](Real exponent) {
    Value integer = arith::FPToSIOp::create(builder, x.typeOf(x.intType()), exponent.get());
    Value biased = arith::AddIOp::create(builder, integer, x.integer(x.exponentBias()));
    return x.fromBits(arith::ShLIOp::create(builder, biased, x.integer(x.mantissaBits())));
  };
  // A NaN exponent has no integer; any will do, since x is NaN as well.
  Real finite = select(n == n, n, x.like(0)), half = floor(finite * 0.5);
  return x * power(half) * power(finite - half);
}

Real exp(Real x) {
  // Where e^x is less than half of the least number. Multiplied out it would be denormal first, which processors are
  // slow at, and masked attention is full of them.
  Mask vanishes = x < (x.isDouble() ? -745.1333 : -103.9721);
  auto [n, tail] = reduce(clampAbove(select(vanishes, x.like(0), x)));
  return select(vanishes, x.like(0), scaleByPowerOfTwo(tail + 1.0, n));
}

Real exp2(Real x) {
  if (!x.isDouble())
    return exp2(x.widened()).narrowed();
  Real high = select(x > 1025.0, x.like(1025.0), x);
  Real clamped = select(high < -1080.0, x.like(-1080.0), high);
  Real n = roundToEven(clamped);
  return scaleByPowerOfTwo(tailOf((clamped - n) * 0.693147180559945309417) + 1.0, n);
}

Real expm1(Real x) {
  if (!x.isDouble())
    return expm1(x.widened()).narrowed();
  auto [n, tail] = reduce(clampBelow(clampAbove(x)));
  // 2^n (1 + tail) - 1, without losing the tail of a small x. At the largest n, 2^n itself would overflow.
  Real scaled = scaleByPowerOfTwo(tail, n) + (scaleByPowerOfTwo(x.like(1), n) - 1.0);
  Real large = scaleByPowerOfTwo(tail + 1.0, n);
  Real value = select(x > 100.0, large, scaled);
  return select(x == 0.0, x, value);
}

} // namespace freestone::codegen
