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

/// Adding it to an f32 of magnitude below 2^22 rounds that to an integer, in the lowest bits of the sum.
constexpr double integerInBits = 0x1.8p23;

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
  Real r = fma(n, -ln2HighDouble, x);
  return {n, tailOf(fma(n, -ln2LowDouble, r))};
}

/// x = n*ln2 + r in f32. `scale` has the bits of 2^(n + more), for as long as that is a normal number; beyond, its
/// exponent, as an integer, goes on to count.
struct ReducedFloat {
  Real n, r;
  Value scale;
};

ReducedFloat reduceFloat(Real x, int64_t more = 0) {
  double shift = integerInBits + static_cast<double>(x.exponentBias() + more);
  Real shifted = fma(x, x.like(log2e), shift), n = shifted - shift;
  Value scale = arith::ShLIOp::create(x.getBuilder(), shifted.bits(), x.integer(x.mantissaBits()));
  return {n, fma(n, -ln2LowFloat, fma(n, -ln2HighFloat, x)), scale};
}

/// Bounds x so that 2^n is representable in two steps; beyond, the result is infinity or 0 anyway. NaN passes.
Real clampAbove(Real x) {
  double high = x.isDouble() ? 710.0 : 89.0;
  return select(x > high, x.like(high), x);
}
Real clampBelow(Real x, double low) { return select(x < low, x.like(low), x); }

/// Below, the result is 0. The factor of `expOfFloat` that holds what a normal number's exponent can't is 0 here, so
/// that the products do not pass through denormals, which are slow, and masked attention is full of them.
constexpr double lowestFloat = -252 * 0.693147180559945309417;

/// times * e^r.
Real powerOf(Real r, double times) {
  SmallVector<double> coefficients = {times, times};
  for (double coefficient : expFloatCoefficients)
    coefficients.push_back(times * coefficient);
  return polynomial(r, coefficients);
}

/// 2 e^r times 2^(n-1), so that the largest n has a normal number, too. The exponent that is below a normal number's is
/// multiplied first: only the last product may be denormal, so that the result is rounded once.
Real expOfFloat(Real x) {
  auto [n, r, scale] = reduceFloat(clampBelow(clampAbove(x), lowestFloat), -1);
  auto &builder = x.getBuilder();
  auto power = [&](int64_t exponent) { return x.integer((exponent + x.exponentBias()) << x.mantissaBits()); };
  Value normal = arith::MaxSIOp::create(builder, scale, power(-126));
  Value beyond = arith::AddIOp::create(builder, arith::SubIOp::create(builder, scale, normal), power(0));
  return powerOf(r, 2) * x.fromBits(beyond) * x.fromBits(normal);
}

} // namespace

Real scaleByPowerOfTwo(Real x, Real n) {
  auto &builder = x.getBuilder();
  auto power = [&](Real exponent) {
    Value integer = arith::FPToSIOp::create(builder, x.typeOf(x.intType()), exponent.get());
    Value biased = arith::AddIOp::create(builder, integer, x.integer(x.exponentBias()));
    return x.fromBits(arith::ShLIOp::create(builder, biased, x.integer(x.mantissaBits())));
  };
  // A NaN exponent has no integer value; any will do, since x is NaN as well.
  Real finite = select(n == n, n, x.like(0)), half = floor(finite * 0.5);
  return x * power(half) * power(finite - half);
}

Real exp(Real x) {
  if (!x.isDouble())
    return expOfFloat(x);
  // Results below half of the smallest number are set to 0 directly, as those of f32.
  Mask vanishes = x < -745.1333;
  auto [n, tail] = reduce(clampAbove(select(vanishes, x.like(0), x)));
  return select(vanishes, x.like(0), scaleByPowerOfTwo(tail + 1.0, n));
}

Real expScaled(Real x, llvm::function_ref<Real(Real, Real)> scale) {
  // Below half of the smallest number the result is 0: scaling down to it is as slow as denormals.
  Mask vanishes = x < -103.972084;
  auto [n, r, bits] = reduceFloat(clampAbove(select(vanishes, x.like(0), x)));
  return select(vanishes, x.like(0), scale(powerOf(r, 1), n));
}

Real expOfShare(Real x) {
  // -126 ln 2: 2^(n-1) has the bits of 0 there.
  auto [n, r, scale] = reduceFloat(clampBelow(x, -87.33654), -1);
  return powerOf(r, 2) * x.fromBits(scale);
}

ExponentialParts splitExponential(Real x) {
  auto [n, r, scale] = reduceFloat(x);
  return {x.fromBits(scale), tailOf(r)};
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
  if (!x.isDouble()) {
    // Below -25 the result is -1. Half of 2^n never overflows.
    auto [n, r, bits] = reduceFloat(clampBelow(clampAbove(x), -25.0), -1);
    Real half = x.fromBits(bits), value = fma(half, tailOf(r), half - 0.5) * 2.0;
    return select(x == 0.0, x, value);
  }
  auto [n, tail] = reduce(clampBelow(clampAbove(x), -746.0));
  // 2^n (1 + tail) - 1, without losing the tail of a small x. At the largest n, 2^n itself would overflow.
  Real scaled = scaleByPowerOfTwo(tail, n) + (scaleByPowerOfTwo(x.like(1), n) - 1.0);
  Real large = scaleByPowerOfTwo(tail + 1.0, n);
  Real value = select(x > 100.0, large, scaled);
  return select(x == 0.0, x, value);
}

} // namespace freestone::codegen
