#include "compiler/codegen/cpu/math/Elementary.h"

#include <limits>

using namespace mlir;

namespace freestone::codegen {

namespace {

constexpr double halfPi = 1.57079632679489661923;
/// The double next to π/2, and what it lacks, in two parts.
constexpr double halfPiHigh = 0x1.921fb54442d18p+0, halfPiMiddle = 0x1.1a62633145c07p-54,
                 halfPiLow = -0x1.f1976b7ed8fbcp-110;

// (sin(t) - t) / t³ and (cos(t) - 1 + t²/2) / t⁴ in z = t², on |t| ≤ π/4.
constexpr double sinCoefficients[] = {-0.1666666666666663,    0.008333333333321868,    -0.00019841269829352218,
                                      2.7557313527929308e-06, -2.5050731587211577e-08, 1.5895212368736475e-10};
constexpr double cosCoefficients[] = {0.041666666666666595,    -0.0013888888888873385, 2.480158728900043e-05,
                                      -2.7557314207750356e-07, 2.087570294154383e-09,  -1.1358562462532865e-11};
// sin(t) / t in z = t², on |t| ≤ π/2, for f32.
constexpr double sinFloatCoefficients[] = {1.0,
                                           -0.16666666666504604,
                                           0.008333333321087136,
                                           -0.00019841266729692537,
                                           2.7556953109294864e-06,
                                           -2.5030196792044663e-08,
                                           1.5409526497035676e-10};
// (atan(t) - t) / t³ in z = t², on |t| ≤ tan(π/8).
constexpr double atanCoefficients[] = {-0.33333333333333326, 0.1999999999999745,   -0.14285714285360587,
                                       0.11111111086467873,  -0.09090908082851618, 0.07692281365162743,
                                       -0.06666206202189086, 0.05876820772564594,  -0.052171121210848014,
                                       0.044983021485645376, -0.03335246547200582, 0.01507142675082315};
// The same for f32, on |t| ≤ 1.
constexpr double atanFloatCoefficients[] = {-0.3333329909082896,   0.199985483314045,     -0.1426424209137009,
                                            0.10952187545289903,   -0.084034546905104445, 0.057957658146418364,
                                            -0.031177902590118643, 0.01091463297113597,   -0.0017936271915089381};
// (asin(t) - t) / t³ in z = t², on |t| ≤ 1/2.
constexpr double asinCoefficients[] = {
    0.16666666666666777,  0.07499999999965792,   0.04464285717959386,  0.030381942459784934, 0.022372222205207352,
    0.017351478575966188, 0.013982462141324913,  0.011385160471093355, 0.010859020191031327, 0.003402826331413396,
    0.022460178940439775, -0.022083440654437677, 0.033318300305121916};
constexpr double asinFloatCoefficients[] = {0.1666675248155347, 0.07495297664934861, 0.045470372906050466,
                                            0.024179531056241887, 0.04216627865862441};
/// π/2 is the sum of the number next to it and this.
constexpr double halfPiRestFloat = -4.37113900018624283e-8, halfPiRestDouble = 6.12323399573676603587e-17;

/// x - quarters*n*π/2, but for the last part of π/2.
Real withoutQuarters(Real x, Real n, double quarters) {
  Real t = fma(n, -quarters * halfPiHigh, x);
  return fma(n, -quarters * halfPiMiddle, t);
}

/// x = n*π/2 + t with |t| ≤ π/4; quadrant is n modulo 4.
struct Angle {
  Real sine, cosine, quadrant;
};

Angle reduceAngle(Real x) {
  Real n = roundToEven(x * (1 / halfPi)), t = fma(n, -halfPiLow, withoutQuarters(x, n, 1));
  Real z = t * t;
  Real sine = fma(t * z, polynomial(z, sinCoefficients), t);
  Real cosine = fma(z * z, polynomial(z, cosCoefficients), fma(z, -0.5, x.like(1)));
  return {sine, cosine, fma(floor(n * 0.25), -4.0, n)};
}

/// sin of the angle plus `quarter` times π/2.
Real sineOf(Real x, double quarter) {
  auto [sine, cosine, quadrant] = reduceAngle(x);
  Real turned = quadrant + quarter;
  turned = select(turned >= 4.0, turned - 4.0, turned);
  Real upper = select(turned == 1.0, cosine, select(turned == 2.0, -sine, -cosine));
  return select(turned == 0.0, sine, upper);
}

/// sin(x + quarters*π/2) of an f32, for 0 or 1 quarters, in f64: x is n half turns and |t| ≤ π/2, less the quarters. A
/// half turn changes the sign. No angle below 2^50 is so near to half turns that the last part of π/2 would count.
Real sineOfFloat(Real narrow, int64_t quarters) {
  // Rounds a sum to an integer, whose lowest bit is that of its bits.
  constexpr double integerInBits = 0x1.8p52;
  Real x = narrow.widened(), halfTurns = fma(x, 0.5 / halfPi, x.like(0.5 * static_cast<double>(quarters)));
  Real shifted = halfTurns + integerInBits, n = shifted - integerInBits;
  Real t = withoutQuarters(x, n - 0.5 * static_cast<double>(quarters), 2), z = t * t;
  Real sine = t * polynomial(z, sinFloatCoefficients);
  auto &builder = x.getBuilder();
  Value sign = arith::ShLIOp::create(builder, shifted.bits(), x.integer(63));
  return x.fromBits(arith::XOrIOp::create(builder, sine.bits(), sign)).narrowed();
}

} // namespace

Real sin(Real x) {
  if (!x.isDouble())
    return sineOfFloat(x, 0);
  return select(x == 0.0, x, sineOf(x, 0));
}

Real cos(Real x) {
  if (!x.isDouble())
    return sineOfFloat(x, 1);
  return sineOf(x, 1);
}

Real tan(Real x) {
  if (!x.isDouble())
    return tan(x.widened()).narrowed();
  auto [sine, cosine, quadrant] = reduceAngle(x);
  Real odd = fma(floor(quadrant * 0.5), -2.0, quadrant);
  Real value = select(odd == 0.0, sine / cosine, -cosine / sine);
  return select(x == 0.0, x, value);
}

namespace {

/// asin(t) for 0 ≤ t ≤ 1 is root + tail, or π/2 - 2 (root + tail) where t is large.
struct ArcSine {
  Mask isLarge;
  Real root, tail;
};

ArcSine reduceArcSine(Real t) {
  Mask isLarge = t > 0.5;
  Real square = select(isLarge, (t.like(1) - t) * 0.5, t * t), root = select(isLarge, sqrt(square), t);
  Real p = t.isDouble() ? polynomial(square, asinCoefficients) : polynomial(square, asinFloatCoefficients);
  return {isLarge, root, root * square * p};
}

/// quarters*π/2 - times*(root + tail). What the difference of the larger parts loses goes to the smaller parts.
Real fromHalfPi(double quarters, double times, Real root, Real tail) {
  Real high = root.like(quarters * halfPi), difference = fma(root, -times, high);
  Real lost = fma(root, -times, high - difference);
  Real rest = lost + quarters * (root.isDouble() ? halfPiRestDouble : halfPiRestFloat);
  return difference + fma(tail, -times, rest);
}

} // namespace

/// atan(t) and atan(1/t) are π/2 apart: one division.
static Real atanOfFloat(Real x) {
  Real t = abs(x);
  Mask isLarge = t > 1.0;
  Real root = select(isLarge, x.like(1) / t, t), square = root * root;
  Real tail = root * square * polynomial(square, atanFloatCoefficients);
  return copySign(select(isLarge, fromHalfPi(1, 1, root, tail), root + tail), x);
}

Real atan(Real x) {
  if (!x.isDouble())
    return atanOfFloat(x);
  constexpr double tanEighth = 0.41421356237309504880, tanThreeEighths = 2.41421356237309504880;
  Real t = abs(x);
  Mask large = t > tanThreeEighths, middle = t > tanEighth;
  Real reduced = select(large, x.like(-1) / t, select(middle, (t - 1.0) / (t + 1.0), t));
  Real base = select(large, x.like(halfPi), select(middle, x.like(halfPi / 2), x.like(0)));
  Real z = reduced * reduced;
  Real value = base + fma(reduced * z, polynomial(z, atanCoefficients), reduced);
  return copySign(value, x);
}

Real atan2(Real y, Real x) {
  if (!x.isDouble())
    return atan2(y.widened(), x.widened()).narrowed();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Real ratio = abs(y) / abs(x);
  Real angle = atan(ratio);
  angle = select(both(x, x == 0.0, y == 0.0), x.like(0), angle);
  angle = select(both(x, abs(x) == infinity, abs(y) == infinity), x.like(halfPi / 2), angle);
  Real sign = copySign(x.like(1), x);
  angle = select(sign < 0.0, x.like(2 * halfPi) - angle, angle);
  angle = copySign(angle, y);
  return select(x == x, select(y == y, angle, y), x);
}

Real asin(Real x) {
  auto [isLarge, root, tail] = reduceArcSine(abs(x));
  return copySign(select(isLarge, fromHalfPi(1, 2, root, tail), root + tail), x);
}

Real acos(Real x) {
  auto [isLarge, root, tail] = reduceArcSine(abs(x));
  Real large = select(x > 0.0, (root + tail) * 2.0, fromHalfPi(2, 2, root, tail));
  return select(isLarge, large, fromHalfPi(1, 1, x, copySign(tail, x)));
}

} // namespace freestone::codegen
