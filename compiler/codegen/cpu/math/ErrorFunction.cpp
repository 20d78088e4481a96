#include "compiler/codegen/cpu/math/Elementary.h"

using namespace mlir;

namespace freestone::codegen {

namespace {

// erf(t)/t - 1 in z = t²: f32 on |t| ≤ 0.93, f64 on |t| ≤ 1.
constexpr double floatSmall[] = {0.12837915122509003,   -0.3761248290538788,  0.112816721200943,
                                 -0.026760751381516457, 0.004983857739716768, -0.0005940503324382007};
constexpr double doubleSmall[] = {0.1283791670955126,     -0.37612638903183754,   0.1128379167095512,
                                  -0.026866170645129868,  0.005223977625423609,   -0.0008548327021955924,
                                  0.00012055332903808714, -1.492564759439839e-05, 1.646204597882307e-06,
                                  -1.636464953081542e-07, 1.4792469479792623e-08, -1.2164967777728501e-09,
                                  8.710462877513553e-11,  -4.233126396662516e-12};
// log(1 - erf(t)) / t up to where erf rounds to 1: f32 from 0.93 to 4, f64 from 1 to 6.
constexpr double floatLarge[] = {-1.1286522150039673,    -0.6351358294487,       -0.10626324266195297,
                                 0.023785434663295746,   -0.0036538075655698776, 0.00032566385925747454,
                                 -1.1523450666572899e-05};
constexpr double doubleLarge[] = {
    -1.1283792023029897,     -0.6366193529654697,    -0.10277495219542289,    0.01913667294807412,
    0.00018898814664220908,  -0.0016591970587662211, 0.000537703415115728,    3.286085913019353e-05,
    -0.00011724030048023856, 6.785993757467786e-05,  -2.5479990736929926e-05, 7.15728449637995e-06,
    -1.5621175371966375e-06, 2.660985091257973e-07,  -3.487117621551718e-08,  3.4031350088723417e-09,
    -2.331505626284227e-10,  1.0006275787896331e-11, -2.0235804412406195e-13};

} // namespace

Real erf(Real x) {
  bool isDouble = x.isDouble();
  double end = isDouble ? 6.0 : 4.0;
  Real t = abs(x);
  Real z = x * x;
  Real small = fma(x, isDouble ? polynomial(z, doubleSmall) : polynomial(z, floatSmall), x);
  Real clamped = select(t > end, x.like(end), t);
  Real exponent = clamped * (isDouble ? polynomial(clamped, doubleLarge) : polynomial(clamped, floatLarge));
  Real rest = exponent;
  if (isDouble) {
    rest = exp(exponent);
  } else {
    auto [scale, tail] = splitExponential(exponent);
    rest = fma(scale, tail, scale);
  }
  // Where it is used, 1 - rest is not negative: it takes the sign of x as it is.
  Value sign = arith::XOrIOp::create(x.getBuilder(), x.bits(), t.bits());
  Real large = x.fromBits(arith::OrIOp::create(x.getBuilder(), (x.like(1) - rest).bits(), sign));
  return select(t < (isDouble ? 1.0 : 0.9277), small, large);
}

} // namespace freestone::codegen
