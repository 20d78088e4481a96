// Minimal filtering gives the sums of direct filtering, and its filters can be taken back.
#include "compiler/dialect/tile/WinogradTransforms.h"

#include "gtest/gtest.h"

using freestone::tile::WinogradTransforms;

namespace {

using Vector = llvm::SmallVector<double>;

Vector multiply(const WinogradTransforms::Matrix &matrix, const Vector &vector) {
  Vector result;
  for (const Vector &row : matrix) {
    double sum = 0;
    EXPECT_EQ(row.size(), vector.size());
    for (size_t column = 0; column < row.size(); ++column)
      sum += row[column] * vector[column];
    result.push_back(sum);
  }
  return result;
}

class Transforms : public testing::TestWithParam<int64_t> {
protected:
  WinogradTransforms transforms = WinogradTransforms::get(GetParam());
  Vector filter = {0.5, -2, 3};
};

} // namespace

TEST_P(Transforms, AreDirectSums) {
  size_t outputs = GetParam(), points = WinogradTransforms::getNumPoints(GetParam());
  Vector picture;
  for (size_t pixel = 0; pixel < points; ++pixel)
    picture.push_back(1.0 / static_cast<double>(pixel + 1) - 0.3);
  Vector values = multiply(transforms.picture, picture), filters = multiply(transforms.filter, filter), products;
  for (size_t point = 0; point < points; ++point)
    products.push_back(values[point] * filters[point]);
  Vector sums = multiply(transforms.result, products);
  ASSERT_EQ(sums.size(), outputs);
  for (size_t pixel = 0; pixel < outputs; ++pixel) {
    double direct = 0;
    for (size_t tap = 0; tap < filter.size(); ++tap)
      direct += filter[tap] * picture[pixel + tap];
    EXPECT_NEAR(sums[pixel], direct, 1e-13);
  }
}

TEST_P(Transforms, AreTakenBack) {
  Vector taken = multiply(transforms.taken, multiply(transforms.filter, filter));
  for (size_t tap = 0; tap < filter.size(); ++tap)
    EXPECT_NEAR(taken[tap], filter[tap], 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Outputs, Transforms, testing::Values(2, 4));
