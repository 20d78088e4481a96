#include "compiler/tile/lowering/ResidueClasses.h"

#include <numeric>

using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Whether the first tap of the first position and the last tap of the last are in bounds.
static bool isInside(const DenseWindow &window, Expr extent) {
  std::optional<int64_t> low = window.low.asConstant();
  Expr last = (window.places - 1) * window.stride + (window.taps - 1) * window.dilation - window.low;
  std::optional<int64_t> left = (extent - 1 - last).asConstant();
  return low && *low <= 0 && left && *left >= 0;
}

/// The dense window of the positions of one residue.
static std::optional<DenseWindow> getWindow(const ConvolvedDim &dim, int64_t period, int64_t residue, int64_t low,
                                            int64_t taps) {
  int64_t zeros = dim.operandDilation;
  DenseWindow window;
  window.tapStep = zeros / std::gcd(dim.dilation, zeros);
  auto meets = [&](int64_t tap) { return residue * dim.stride + tap * dim.dilation - low; };
  while (window.firstTap < window.tapStep && meets(window.firstTap) % zeros != 0)
    ++window.firstTap;
  if (window.firstTap == window.tapStep || window.firstTap >= taps)
    return std::nullopt;
  mlir::MLIRContext *context = dim.places.context();
  window.stride = period * dim.stride / zeros;
  window.dilation = window.tapStep * dim.dilation / zeros;
  window.low = Expr::constant(context, -(meets(window.firstTap) / zeros));
  window.taps = Expr::constant(context, (taps - window.firstTap + window.tapStep - 1) / window.tapStep);
  window.places = Expr::ceilDiv(dim.places, period);
  window.isInside = isInside(window, dim.extent);
  return window;
}

/// Joins a class to those before it if only the kernel's taps differ.
static bool join(DenseWindow &before, const DenseWindow &next) {
  int64_t step = next.firstTap - before.firstTap;
  bool isSame = before.low == next.low && before.taps == next.taps && before.isInside == next.isInside;
  if (!isSame || (before.classes > 1 && step != before.classes * before.classStep))
    return false;
  if (before.classes == 1)
    before.classStep = step;
  ++before.classes;
  return true;
}

std::optional<ResidueClasses> ResidueClasses::get(const ConvolvedDim &dim) {
  if (dim.operandDilation == 1) {
    DenseWindow window = {dim.stride, dim.dilation, dim.low, dim.taps, dim.places};
    window.isInside = dim.low.isConstant(0) && dim.high.isConstant(0);
    return ResidueClasses{1, {{0, window}}};
  }
  std::optional<int64_t> low = dim.low.asConstant(), taps = dim.taps.asConstant();
  if (!low || !taps)
    return std::nullopt;
  ResidueClasses result;
  result.period = dim.operandDilation / std::gcd(dim.stride, dim.operandDilation);
  for (int64_t residue = 0; residue < result.period; ++residue)
    result.classes.push_back({residue, getWindow(dim, result.period, residue, *low, *taps)});
  // Positions find theirs by their residue: all are one, or each stands alone.
  ResidueClass all = result.classes.front();
  if (llvm::all_of(llvm::drop_begin(result.classes), [&](const ResidueClass &next) {
        return all.window && next.window && join(*all.window, *next.window);
      }))
    result.classes = {all};
  return result;
}
