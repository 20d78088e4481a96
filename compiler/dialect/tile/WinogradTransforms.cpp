#include "compiler/dialect/tile/WinogradTransforms.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

namespace freestone::tile {

/// The coefficients of the polynomial with these roots, the constant one first.
static llvm::SmallVector<double> getPolynomial(llvm::ArrayRef<double> roots) {
  llvm::SmallVector<double> coefficients = {1};
  for (double root : roots) {
    coefficients.push_back(0);
    for (size_t power = coefficients.size(); power-- > 1;)
      coefficients[power] = coefficients[power - 1] - root * coefficients[power];
    coefficients[0] *= -root;
  }
  return coefficients;
}

/// 1, point, point^2, …
static llvm::SmallVector<double> getPowers(double point, int64_t count) {
  llvm::SmallVector<double> powers(count, 1);
  for (int64_t power = 1; power < count; ++power)
    powers[power] = powers[power - 1] * point;
  return powers;
}

WinogradTransforms WinogradTransforms::get(int64_t outputs) {
  static constexpr double few[] = {0, 1, -1}, many[] = {0, 0.625, -0.625, 1.5, -1.5};
  llvm::ArrayRef<double> finite = outputs == 2 ? llvm::ArrayRef(few) : llvm::ArrayRef(many);
  int64_t count = getNumPoints(outputs);
  WinogradTransforms transforms;
  transforms.result.assign(outputs, {});
  llvm::SmallVector<double> scales;
  for (double point : finite) {
    llvm::SmallVector<double> others, filter = getPowers(point, taps);
    double scale = 1;
    for (double other : finite)
      if (other != point) {
        others.push_back(other);
        scale *= point - other;
      }
    scales.push_back(scale);
    llvm::SmallVector<double> picture = getPolynomial(others);
    picture.push_back(0);
    transforms.picture.push_back(picture);
    for (double &factor : filter)
      factor /= scale;
    transforms.filter.push_back(filter);
    for (auto [row, power] : llvm::zip_equal(transforms.result, getPowers(point, outputs)))
      row.push_back(power);
  }
  // Infinity has the highest power.
  transforms.picture.push_back(getPolynomial(finite));
  transforms.filter.push_back({0, 0, 1});
  for (auto [number, row] : llvm::enumerate(transforms.result))
    row.push_back(static_cast<int64_t>(number) == outputs - 1);
  // The values at 0 and infinity are the first and the last tap; that at the second point tells the one between.
  double point = finite[1];
  transforms.taken.assign(taps, llvm::SmallVector<double>(count, 0));
  transforms.taken[0][0] = scales[0];
  transforms.taken[1][0] = -scales[0] / point;
  transforms.taken[1][1] = scales[1] / point;
  transforms.taken[1].back() = -point;
  transforms.taken[2].back() = 1;
  return transforms;
}

} // namespace freestone::tile
