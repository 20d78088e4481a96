#ifndef FREESTONE_COMPILER_CODEGEN_CPU_MATH_ELEMENTARY_H
#define FREESTONE_COMPILER_CODEGEN_CPU_MATH_ELEMENTARY_H

#include "compiler/codegen/cpu/math/Real.h"

// Elementary functions on f32 and f64, scalars and vectors alike, without branches, calls or tables. Errors are below 2
// ULP (tested); NaN, infinities, signed zeros and subnormal results are as of IEEE 754. Coefficients are near-minimax
// fits in the relative error, computed with 50 digits.
//
// The performance-critical functions (exp, log, tanh, erf, asin, acos, atan) compute f32 in f32; the others compute f32 in
// f64 and round once.
namespace freestone::codegen {

Real exp(Real x);
/// The same of f32, where an instruction multiplies by a power of two, rounding once: `scale(x, n)` is x * 2^n.
Real expScaled(Real x, llvm::function_ref<Real(Real, Real)> scale);
/// The same of f32 for shares of a sum of at least 1, the exponentials of distances to a maximum: x is at most 0, but
/// for rounding, or NaN. The result is 0 below 2^-125. Subnormal results are slow to make, and to multiply by.
Real expOfShare(Real x);
Real exp2(Real x);
Real expm1(Real x);
Real log(Real x);
Real log2(Real x);
Real log10(Real x);
Real log1p(Real x);
Real pow(Real x, Real y);
/// Beyond 2^20 in magnitude, accuracy decreases with the spacing of arguments; f32 is exact up to 2^50.
Real sin(Real x);
Real cos(Real x);
Real tan(Real x);
Real asin(Real x);
Real acos(Real x);
Real atan(Real x);
Real atan2(Real y, Real x);
Real sinh(Real x);
Real cosh(Real x);
Real tanh(Real x);
Real asinh(Real x);
Real acosh(Real x);
Real atanh(Real x);
Real erf(Real x);

/// e^x = scale * (1 + tail), unrounded, for functions that combine the parts themselves. For f32 with |x| < 87; for
/// NaN, the tail is NaN.
struct ExponentialParts {
  Real scale, tail;
};
ExponentialParts splitExponential(Real x);

/// x * 2^n for integral-valued n, with gradual underflow.
Real scaleByPowerOfTwo(Real x, Real n);

/// ln 2 in two parts; the first has few enough bits that its product with n is exact.
inline constexpr double ln2HighDouble = 6.93147180369123816490e-01, ln2LowDouble = 1.90821492927058770002e-10;
inline constexpr double ln2HighFloat = 0.693359375, ln2LowFloat = -2.12194440054690582767e-4;

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_MATH_ELEMENTARY_H
