// Packing and unpacking of matrices.
#include "runtime/artifact/Panels.h"
#include "gtest/gtest.h"
#include <numeric>

using freestone::runtime::Panels;

namespace {

template <typename T> void expectRoundTrip(Panels panels, std::vector<int64_t> shape) {
  std::vector<T> rows(shape[0] * shape[1]), packed(rows.size()), back(rows.size());
  std::iota(rows.begin(), rows.end(), T(1));
  panels.pack(rows.data(), packed.data(), shape, sizeof(T));
  int64_t columns = shape[panels.axis], steps = shape[1 - panels.axis];
  EXPECT_EQ(panels.storedShape(shape), (std::vector<int64_t>{columns / panels.width, steps, panels.width}));
  for (int64_t n = 0; n < columns; ++n)
    for (int64_t k = 0; k < steps; ++k)
      ASSERT_EQ(packed[(n / panels.width * steps + k) * panels.width + n % panels.width],
                rows[panels.axis == 0 ? n * steps + k : k * columns + n]);
  panels.unpack(packed.data(), back.data(), shape, sizeof(T));
  EXPECT_EQ(back, rows);
}

} // namespace

TEST(Panels, HoldEveryElementOnce) {
  for (int64_t width : {1, 16, 32})
    for (int64_t panels : {1, 3})
      for (int64_t steps : {1, 15, 16, 50})
        for (int64_t axis : {0, 1}) {
          std::vector<int64_t> shape(2, steps);
          shape[axis] = panels * width;
          expectRoundTrip<float>({axis, width}, shape);
          expectRoundTrip<uint16_t>({axis, width}, shape);
        }
}

TEST(Panels, OfNoWidthAreRows) { EXPECT_EQ(Panels().storedShape({3, 4, 5}), (std::vector<int64_t>{3, 4, 5})); }
