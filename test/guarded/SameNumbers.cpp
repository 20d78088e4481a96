#include "test/guarded/SameNumbers.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace freestone::test;

namespace {

template <typename T> T get(const HostArray &array, size_t index) {
  T value;
  std::memcpy(&value, array.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// An element, with the tolerance for its magnitude.
struct Element {
  double value, tolerance;
};

Element getFloat(const HostArray &array, size_t index) {
  switch (array.dtype) {
  case FREESTONE_F64:
    return {get<double>(array, index), 1e-9};
  case FREESTONE_F32:
    return {get<float>(array, index), 1e-4};
  case FREESTONE_F16:
    return {static_cast<double>(get<_Float16>(array, index)), 1e-2};
  default: {
    uint32_t bits = uint32_t(get<uint16_t>(array, index)) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return {value, 5e-2};
  }
  }
}

bool isFloat(freestone_dtype dtype) {
  return dtype == FREESTONE_F64 || dtype == FREESTONE_F32 || dtype == FREESTONE_F16 || dtype == FREESTONE_BF16;
}

size_t getWidth(freestone_dtype dtype) { return dtype == FREESTONE_F64 ? 8 : dtype == FREESTONE_F32 ? 4 : 2; }

void expectSame(const HostArray &actual, const HostArray &expected) {
  EXPECT_EQ(actual.dims, expected.dims) << actual.name;
  ASSERT_EQ(actual.bytes.size(), expected.bytes.size()) << actual.name;
  if (!isFloat(actual.dtype)) {
    EXPECT_TRUE(actual.bytes == expected.bytes) << actual.name << " has other integers";
    return;
  }
  for (size_t i = 0; i < actual.bytes.size() / getWidth(actual.dtype); ++i) {
    auto [value, tolerance] = getFloat(actual, i);
    double wanted = getFloat(expected, i).value;
    if (std::isnan(wanted) ? std::isnan(value) : value == wanted)
      continue;
    ASSERT_NEAR(value, wanted, tolerance * (1 + std::abs(wanted))) << actual.name << ", element " << i;
  }
}

} // namespace

void freestone::test::expectSameNumbers(const std::vector<HostArray> &actual, const std::vector<HostArray> &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].dtype, expected[i].dtype);
    expectSame(actual[i], expected[i]);
  }
}
