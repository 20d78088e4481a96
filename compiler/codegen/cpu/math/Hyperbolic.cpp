#include "compiler/codegen/cpu/math/Elementary.h"

#include <limits>

namespace freestone::codegen {

namespace {

constexpr double ln2 = 0.693147180559945309417;

} // namespace

Real tanh(Real x) {
  Real t = abs(x);
  if (x.isDouble()) {
    Real e = expm1(select(t > 20.0, x.like(40), t * 2.0));
    Real value = e / (e + 2.0);
    return select(x == x, copySign(value, x), x);
  }
  // e = e^2t - 1, with 2t clamped: from `end` on, the result is 1.
  constexpr double end = 18.5;
  Real twice = t * 2.0;
  auto [scale, tail] = splitExponential(select(twice > end, x.like(end), twice));
  Real e = fma(scale, tail, scale - 1.0), quotient = e / (e + 2.0), half = e * 0.5;
  // For small e, h - h*q (h = e/2, q = e/(e+2)) avoids the rounding errors of the quotient.
  return copySign(select(e < 1.0, fma(-half, quotient, half), quotient), x);
}

Real sinh(Real x) {
  if (!x.isDouble())
    return sinh(x.widened()).narrowed();
  Real t = abs(x);
  Real e = expm1(t);
  Real ordinary = (e + e / (e + 1.0)) * 0.5;
  Real root = exp(t * 0.5);
  Real value = select(t > 700.0, root * 0.5 * root, ordinary);
  return copySign(value, x);
}

Real cosh(Real x) {
  if (!x.isDouble())
    return cosh(x.widened()).narrowed();
  Real t = abs(x);
  Real e = exp(t);
  Real root = exp(t * 0.5);
  return select(t > 700.0, root * 0.5 * root, e * 0.5 + x.like(0.5) / e);
}

Real asinh(Real x) {
  if (!x.isDouble())
    return asinh(x.widened()).narrowed();
  Real t = abs(x);
  Real square = t * t;
  Real ordinary = log1p(t + square / (sqrt(square + 1.0) + 1.0));
  Real value = select(t > 0x1p28, log(t) + ln2, ordinary);
  return copySign(value, x);
}

Real acosh(Real x) {
  if (!x.isDouble())
    return acosh(x.widened()).narrowed();
  Real t = x - 1.0;
  Real ordinary = log1p(t + sqrt(fma(t, t, t * 2.0)));
  Real value = select(x > 0x1p28, log(x) + ln2, ordinary);
  // Far below 1, where there is none, the square overflows.
  return select(x < 1.0, x.like(std::numeric_limits<double>::quiet_NaN()), value);
}

Real atanh(Real x) {
  if (!x.isDouble())
    return atanh(x.widened()).narrowed();
  Real t = abs(x);
  Real value = log1p(t * 2.0 / (x.like(1) - t)) * 0.5;
  return copySign(value, x);
}

} // namespace freestone::codegen
