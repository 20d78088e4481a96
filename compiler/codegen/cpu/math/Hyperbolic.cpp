#include "compiler/codegen/cpu/math/Elementary.h"

#include <limits>

namespace freestone::codegen {

namespace {

constexpr double ln2 = 0.693147180559945309417;

// (tanh(t) - t) / t³ in z = t², on |t| ≤ 0.64.
constexpr double tanhCoefficients[] = {-0.3333333134651184,  0.1333318054676056,    -0.05394331365823746,
                                       0.02168116718530655, -0.008127836510539055, 0.002096668118610978};

} // namespace

Real tanh(Real x) {
  Real t = abs(x);
  if (x.isDouble()) {
    Real e = expm1(select(t > 20.0, x.like(40), t * 2.0));
    Real value = e / (e + 2.0);
    return select(x == x, copySign(value, x), x);
  }
  Real z = x * x;
  Real small = fma(x * z, polynomial(z, tanhCoefficients), x);
  Real large = x.like(1) - x.like(2) / (exp(t * 2.0) + 1.0);
  return copySign(select(t < 0.625, small, large), x);
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
  return select(x > 0x1p28, log(x) + ln2, ordinary);
}

Real atanh(Real x) {
  if (!x.isDouble())
    return atanh(x.widened()).narrowed();
  Real t = abs(x);
  Real value = log1p(t * 2.0 / (x.like(1) - t)) * 0.5;
  return copySign(value, x);
}

} // namespace freestone::codegen
