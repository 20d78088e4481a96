// The functions of compiler/builtins against libm and against independent definitions.
#include "gtest/gtest.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

// 16-bit floats are passed in the lowest lane of a vector register; as a vector, no compiler converts them.
using Narrow = short __attribute__((vector_size(16)));

// The object that artifacts are linked with, under other names.
extern "C" {
void *builtin_memcpy(void *, const void *, size_t);
void *builtin_memmove(void *, const void *, size_t);
void *builtin_memset(void *, int, size_t);
int builtin_memcmp(const void *, const void *, size_t);
float builtin_fmodf(float, float);
double builtin_fmod(double, double);
float builtin_fminf(float, float);
double builtin_fmin(double, double);
float builtin_fmaxf(float, float);
double builtin_fmax(double, double);
float builtin_fmaf(float, float, float);
double builtin_fma(double, double, double);
float builtin_roundevenf(float);
double builtin_roundeven(double);
Narrow builtin___truncsfhf2(float);
Narrow builtin___truncdfhf2(double);
Narrow builtin___truncsfbf2(float);
Narrow builtin___truncdfbf2(double);
float builtin___extendhfsf2(Narrow);
double builtin___extendhfdf2(Narrow);
}

namespace {

template <typename T> using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

/// Zeros, subnormals, powers of two and their neighbours, the largest numbers, infinities and NaNs, of both signs.
template <typename T> std::vector<T> specialValues() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {
      0,           Limits::denorm_min(), Limits::min() / 2,  Limits::min(),      1, 1.5, 2, 3, 0.1f, 1e10f,
      16777216.0f, Limits::max(),        Limits::infinity(), Limits::quiet_NaN()};
  for (int exponent : {-140, -20, -1, 0, 5, 24, 53, 120}) {
    T power = std::ldexp(T(1), exponent);
    for (T value : {power, std::nextafter(power, T(0)), std::nextafter(power, Limits::infinity())})
      values.push_back(value);
  }
  for (size_t i = 0, count = values.size(); i < count; ++i)
    values.push_back(-values[i]);
  return values;
}

/// Random bits; for half of the calls with an exponent near 0.
template <typename T> T anyValue(std::mt19937_64 &random) {
  T value = std::bit_cast<T>(static_cast<BitsOf<T>>(random()));
  if (random() % 2 && std::isfinite(value) && value != 0)
    value = std::ldexp(value, -std::ilogb(value) + static_cast<int>(random() % 40) - 20);
  return value;
}

/// Bit equality, but any NaN equals any other.
template <typename T> bool same(T one, T other) {
  return std::isnan(one) ? std::isnan(other) : std::bit_cast<BitsOf<T>>(one) == std::bit_cast<BitsOf<T>>(other);
}

template <typename T, typename Tested, typename Reference> void compareTwo(Tested tested, Reference reference) {
  auto check = [&](T x, T y) {
    T expected = reference(x, y), actual = tested(x, y);
    ASSERT_TRUE(same(actual, expected)) << x << ", " << y << ": " << actual << ", not " << expected;
  };
  for (T x : specialValues<T>())
    for (T y : specialValues<T>())
      ASSERT_NO_FATAL_FAILURE(check(x, y));
  std::mt19937_64 random(1);
  for (int i = 0; i < 300000; ++i)
    ASSERT_NO_FATAL_FAILURE(check(anyValue<T>(random), anyValue<T>(random)));
}

TEST(Builtins, Remainder) {
  compareTwo<float>(builtin_fmodf, [](float x, float y) { return std::fmod(x, y); });
  compareTwo<double>(builtin_fmod, [](double x, double y) { return std::fmod(x, y); });
}

TEST(Builtins, Extrema) {
  auto least = [](auto x, auto y) { return std::isnan(x) ? y : std::isnan(y) ? x : x < y ? x : y; };
  auto greatest = [](auto x, auto y) { return std::isnan(x) ? y : std::isnan(y) ? x : x > y ? x : y; };
  // C leaves the sign of a zero to fmin.
  auto add0 = [](auto of) { return [of](auto x, auto y) { return of(x, y) + 0; }; };
  compareTwo<float>(add0(builtin_fminf), add0(least));
  compareTwo<double>(add0(builtin_fmin), add0(least));
  compareTwo<float>(add0(builtin_fmaxf), add0(greatest));
  compareTwo<double>(add0(builtin_fmax), add0(greatest));
}

TEST(Builtins, Instructions) {
  compareTwo<float>([](float x, float y) { return builtin_fmaf(x, y, 0.1f); },
                    [](float x, float y) { return std::fma(x, y, 0.1f); });
  compareTwo<double>([](double x, double y) { return builtin_fma(x, y, 0.1); },
                     [](double x, double y) { return std::fma(x, y, 0.1); });
  compareTwo<float>([](float x, float) { return builtin_roundevenf(x); },
                    [](float x, float) { return std::nearbyint(x); });
  compareTwo<double>([](double x, double) { return builtin_roundeven(x); },
                     [](double x, double) { return std::nearbyint(x); });
}

/// Every non-negative finite number of a 16-bit format, ascending: number n has the bits n.
std::vector<double> finiteNumbers(int mantissa, int bias) {
  std::vector<double> numbers;
  for (int bits = 0; bits < (0x7fff >> mantissa << mantissa); ++bits) {
    int exponent = bits >> mantissa, fraction = bits & ((1 << mantissa) - 1);
    int significand = exponent == 0 ? fraction : fraction + (1 << mantissa);
    numbers.push_back(std::ldexp(significand, std::max(exponent, 1) - bias - mantissa));
  }
  return numbers;
}

/// Rounding by its definition: the nearest of all numbers, of two the one with even bits; infinity counts as one step
/// beyond the largest.
class Rounding {
public:
  Rounding(int mantissa, int bias) : numbers(finiteNumbers(mantissa, bias)) {
    numbers.push_back(2 * numbers.back() - numbers[numbers.size() - 2]);
  }

  uint16_t operator()(double x) const {
    double magnitude = std::fabs(x);
    size_t above = std::lower_bound(numbers.begin(), numbers.end(), magnitude) - numbers.begin();
    size_t result = std::min(above, numbers.size() - 1);
    if (result > 0 && above < numbers.size()) {
      double up = numbers[above] - magnitude, down = magnitude - numbers[above - 1];
      if (down < up || (down == up && above % 2 == 1))
        result = above - 1;
    }
    return result | (std::signbit(x) ? 0x8000 : 0);
  }

  /// Every number, the points halfway between two, and the neighbours of both in `T`.
  template <typename T> std::vector<T> criticalValues() const {
    std::vector<T> values;
    for (size_t i = 0; i + 1 < numbers.size(); ++i) {
      for (double exact : {numbers[i], (numbers[i] + numbers[i + 1]) / 2}) {
        T point = static_cast<T>(exact);
        for (T value : {point, std::nextafter(point, T(-1)), std::nextafter(point, std::numeric_limits<T>::infinity())})
          values.insert(values.end(), {value, -value});
      }
    }
    return values;
  }

private:
  std::vector<double> numbers;
};

template <typename From> void checkNarrowing(Narrow (*narrow)(From), const Rounding &round, uint16_t infinity) {
  auto check = [&](From x) {
    auto actual = static_cast<uint16_t>(narrow(x)[0]);
    if (std::isnan(x)) {
      ASSERT_GT(actual & 0x7fff, infinity);
      ASSERT_EQ(actual >> 15, std::signbit(x));
      return;
    }
    ASSERT_EQ(actual, round(x)) << x;
  };
  for (From x : round.template criticalValues<From>())
    ASSERT_NO_FATAL_FAILURE(check(x));
  for (From x : specialValues<From>())
    ASSERT_NO_FATAL_FAILURE(check(x));
  // A NaN whose payload is only in the dropped digits.
  ASSERT_NO_FATAL_FAILURE(
      check(std::bit_cast<From>(std::bit_cast<BitsOf<From>>(std::numeric_limits<From>::infinity()) + 1)));
  std::mt19937_64 random(2);
  for (int i = 0; i < 300000; ++i)
    ASSERT_NO_FATAL_FAILURE(check(anyValue<From>(random)));
}

TEST(Builtins, Narrowing) {
  Rounding half(10, 15), brain(7, 127);
  checkNarrowing<float>(builtin___truncsfhf2, half, 0x7c00);
  checkNarrowing<double>(builtin___truncdfhf2, half, 0x7c00);
  checkNarrowing<float>(builtin___truncsfbf2, brain, 0x7f80);
  checkNarrowing<double>(builtin___truncdfbf2, brain, 0x7f80);
}

TEST(Builtins, Widening) {
  std::vector<double> numbers = finiteNumbers(10, 15);
  numbers.push_back(std::numeric_limits<double>::infinity());
  for (size_t bits = 0; bits < numbers.size(); ++bits) {
    for (uint16_t sign : {0, 0x8000}) {
      Narrow x = {static_cast<short>(bits | sign)};
      double expected = sign ? -numbers[bits] : numbers[bits];
      ASSERT_TRUE(same(builtin___extendhfsf2(x), static_cast<float>(expected))) << bits;
      ASSERT_TRUE(same(builtin___extendhfdf2(x), expected)) << bits;
    }
  }
  EXPECT_TRUE(std::isnan(builtin___extendhfsf2(Narrow{0x7c01})));
}

TEST(Builtins, Memory) {
  constexpr size_t room = 512;
  std::vector<uint8_t> start(room), expected, actual;
  std::iota(start.begin(), start.end(), 1);
  for (size_t size = 0; size <= 200; ++size) {
    for (size_t from : {0, 1, 5, 31, 64, 150}) {
      for (size_t to : {0, 2, 6, 30, 33, 64, 151, 300}) {
        expected = actual = start;
        for (size_t i = 0; i < size; ++i)
          expected[to + i] = start[from + i];
        ASSERT_EQ(builtin_memmove(&actual[to], &actual[from], size), &actual[to]);
        ASSERT_EQ(actual, expected) << size << " from " << from << " to " << to;
        actual = start;
        ASSERT_EQ(builtin_memcpy(&actual[to], &start[from], size), &actual[to]);
        ASSERT_EQ(actual, expected) << size << " from " << from << " to " << to;
      }
    }
    expected = actual = start;
    std::fill_n(expected.begin() + 3, size, uint8_t(0xa5));
    ASSERT_EQ(builtin_memset(&actual[3], 0x1a5, size), &actual[3]);
    ASSERT_EQ(actual, expected) << size;

    actual = start;
    ASSERT_EQ(builtin_memcmp(actual.data(), start.data(), size), 0);
    if (size == 0)
      continue;
    actual[size - 1] ^= 0x80;
    int order = actual[size - 1] < start[size - 1] ? -1 : 1;
    ASSERT_GT(builtin_memcmp(actual.data(), start.data(), size) * order, 0) << size;
    ASSERT_GT(builtin_memcmp(start.data(), actual.data(), size) * -order, 0) << size;
  }
}

} // namespace
