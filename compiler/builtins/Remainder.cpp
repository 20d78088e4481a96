// C's fmod: the exact remainder of a truncating division, of the dividend's sign.

namespace {

template <typename T> struct Format;
template <> struct Format<float> {
  using Bits = unsigned;
  static constexpr int mantissa = 23;
};
template <> struct Format<double> {
  using Bits = unsigned long;
  static constexpr int mantissa = 52;
};

/// A finite positive number as significand * 2^(exponent - 1); subnormal numbers have exponent 1 and a short
/// significand.
struct Scaled {
  unsigned long significand;
  int exponent;
};

template <typename T> Scaled split(typename Format<T>::Bits magnitude) {
  using Bits = typename Format<T>::Bits;
  constexpr Bits one = Bits(1) << Format<T>::mantissa;
  int exponent = static_cast<int>(magnitude >> Format<T>::mantissa);
  if (exponent == 0)
    return {magnitude, 1};
  return {(magnitude & (one - 1)) | one, exponent};
}

/// The bits of a number whose significand may have leading zeros (a subnormal one).
template <typename T> typename Format<T>::Bits join(Scaled number) {
  using Bits = typename Format<T>::Bits;
  if (number.significand == 0)
    return 0;
  int shift = __builtin_clzl(number.significand) - (63 - Format<T>::mantissa);
  if (shift > number.exponent - 1)
    shift = number.exponent - 1;
  Bits significand = static_cast<Bits>(number.significand << shift);
  int exponent = number.exponent - shift;
  // A normal number's implicit leading digit increments the exponent field.
  return significand + (static_cast<Bits>(exponent - 1) << Format<T>::mantissa);
}

template <typename T> T remainderOf(T x, T y) {
  using Bits = typename Format<T>::Bits;
  constexpr Bits sign = Bits(1) << (sizeof(Bits) * 8 - 1);
  constexpr Bits infinity = (sign - 1) >> Format<T>::mantissa << Format<T>::mantissa;
  Bits dividend = __builtin_bit_cast(Bits, x) & ~sign, divisor = __builtin_bit_cast(Bits, y) & ~sign;
  if (divisor == 0 || dividend >= infinity || divisor > infinity)
    return (x * y) / (x * y);
  if (dividend < divisor)
    return x;

  Scaled rest = split<T>(dividend), unit = split<T>(divisor);
  // Reduces by as many binary digits a step as fit into 64 bits beside a significand.
  constexpr int step = 63 - Format<T>::mantissa;
  rest.significand %= unit.significand;
  while (rest.exponent > unit.exponent && rest.significand != 0) {
    int digits = rest.exponent - unit.exponent < step ? rest.exponent - unit.exponent : step;
    rest.significand = (rest.significand << digits) % unit.significand;
    rest.exponent -= digits;
  }
  rest.exponent = unit.exponent;
  Bits result = join<T>(rest) | (__builtin_bit_cast(Bits, x) & sign);
  return __builtin_bit_cast(T, result);
}

} // namespace

extern "C" float fmodf(float x, float y) { return remainderOf(x, y); }
extern "C" double fmod(double x, double y) { return remainderOf(x, y); }
