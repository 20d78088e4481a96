// Conversions between f16 or bf16 and wider floats, rounded once, to nearest, ties to even; NaN keeps its sign.

namespace {

template <typename T> struct Format;
template <> struct Format<float> {
  using Bits = unsigned;
  static constexpr int mantissa = 23, bias = 127;
};
template <> struct Format<double> {
  using Bits = unsigned long;
  static constexpr int mantissa = 52, bias = 1023;
};
template <> struct Format<_Float16> {
  using Bits = unsigned short;
  static constexpr int mantissa = 10, bias = 15;
};
template <> struct Format<__bf16> {
  using Bits = unsigned short;
  static constexpr int mantissa = 7, bias = 127;
};

template <typename To, typename From> To narrow(From x) {
  using Bits = typename Format<From>::Bits;
  constexpr int fewer = Format<From>::mantissa - Format<To>::mantissa;
  constexpr Bits sign = Bits(1) << (sizeof(Bits) * 8 - 1);
  constexpr Bits infinity = (sign - 1) >> Format<From>::mantissa << Format<From>::mantissa;
  constexpr Bits one = Bits(1) << Format<From>::mantissa;
  constexpr unsigned narrowInfinity = 0x7fffu >> Format<To>::mantissa << Format<To>::mantissa;

  Bits bits = __builtin_bit_cast(Bits, x), magnitude = bits & ~sign;
  unsigned result;
  if (magnitude > infinity) {
    result =
        narrowInfinity | 1u << (Format<To>::mantissa - 1) | static_cast<unsigned>((magnitude & (one - 1)) >> fewer);
  } else if (magnitude == infinity) {
    result = narrowInfinity;
  } else {
    int exponent = static_cast<int>(magnitude >> Format<From>::mantissa);
    Bits significand = exponent == 0 ? magnitude : (magnitude & (one - 1)) | one;
    exponent = (exponent == 0 ? 1 : exponent) - Format<From>::bias + Format<To>::bias;
    // Subnormal results have fewer digits; below them, only a sticky bit remains.
    int dropped = fewer;
    if (exponent < 1) {
      dropped += 1 - exponent;
      exponent = 1;
    }
    if (dropped > Format<From>::mantissa + 2)
      dropped = Format<From>::mantissa + 2;
    Bits kept = significand >> dropped, rest = significand & ((Bits(1) << dropped) - 1),
         half = Bits(1) << (dropped - 1);
    kept += rest > half || (rest == half && (kept & 1));
    // A carry out of the significand increments the exponent, up to infinity.
    unsigned long rounded = (static_cast<unsigned long>(exponent - 1) << Format<To>::mantissa) + kept;
    result = rounded > narrowInfinity ? narrowInfinity : static_cast<unsigned>(rounded);
  }
  result |= static_cast<unsigned>(bits >> (sizeof(Bits) * 8 - 16)) & 0x8000u;
  return __builtin_bit_cast(To, static_cast<unsigned short>(result));
}

} // namespace

extern "C" _Float16 __truncsfhf2(float x) { return narrow<_Float16>(x); }
extern "C" _Float16 __truncdfhf2(double x) { return narrow<_Float16>(x); }
extern "C" __bf16 __truncsfbf2(float x) { return narrow<__bf16>(x); }
extern "C" __bf16 __truncdfbf2(double x) { return narrow<__bf16>(x); }

// The processor widens f16 itself (F16C).
extern "C" float __extendhfsf2(_Float16 x) { return x; }
extern "C" double __extendhfdf2(_Float16 x) { return static_cast<float>(x); }
