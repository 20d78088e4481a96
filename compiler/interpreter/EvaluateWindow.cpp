#include "compiler/interpreter/Combine.h"
#include "compiler/interpreter/Evaluate.h"

using namespace mlir;
using namespace freestone::graph;

namespace freestone::interpreter {

namespace {

/// Positions of windows over the trailing dimensions.
struct Windows {
  ArrayRef<int64_t> sizes, strides, dilations, extents, places;
  Dims low;

  /// Calls `read(linear index)` for every element of the window at a position, padding left out.
  template <typename Read> void forEach(ArrayRef<int64_t> place, Read read) const {
    Dims tap(sizes.size(), 0);
    do {
      int64_t linear = 0;
      bool inside = true;
      for (size_t dim = 0; dim < sizes.size(); ++dim) {
        int64_t coordinate = place[dim] * strides[dim] + tap[dim] * dilations[dim] - low[dim];
        inside &= coordinate >= 0 && coordinate < extents[dim];
        linear = linear * extents[dim] + coordinate;
      }
      if (inside)
        read(linear);
    } while (advance(tap, sizes));
  }

  /// Calls `visit(first element of the image, window position, number of the result)` for every window of `images`
  /// images.
  template <typename Visit> void forEachWindow(int64_t images, Visit visit) const {
    int64_t imageSize = getNumElements(extents), number = 0;
    if (getNumElements(places) == 0)
      return;
    for (int64_t image = 0; image < images; ++image) {
      Dims place(places.size(), 0);
      do
        visit(image * imageSize, place, number++);
      while (advance(place, places));
    }
  }
};

} // namespace

template <typename Op>
static FailureOr<Windows> getWindows(Op op, const Tensor &x, const Dims &dims, const Symbols &symbols) {
  size_t spatial = op.getSizes().size();
  Windows windows{op.getSizes(),
                  op.getStrides(),
                  op.getDilations(),
                  x.getDims().take_back(spatial),
                  ArrayRef<int64_t>(dims).take_back(spatial),
                  {}};
  for (sym::Expr expr : op.getLow()) {
    FailureOr<int64_t> low = symbols.getOffset(op, expr);
    if (failed(low))
      return failure();
    windows.low.push_back(*low);
  }
  return windows;
}

static Tensor combineWindows(ReduceKind reduction, const Tensor &x, const Windows &windows, const Dims &dims) {
  Tensor result(x.getElementType(), dims);
  Combine combine(reduction, x.getElementType());
  int64_t images = getNumElements(x.getDims().drop_back(windows.sizes.size()));
  result.visit([&](auto kind) {
    using T = decltype(kind);
    windows.forEachWindow(images, [&](int64_t image, ArrayRef<int64_t> place, int64_t number) {
      T value = combine.identity<T>();
      windows.forEach(place, [&](int64_t element) { value = combine(value, x.data<T>()[image + element]); });
      result.data<T>()[number] = value;
    });
  });
  return result;
}

static Tensor findMaxima(Type type, const Tensor &x, const Windows &windows, const Dims &dims) {
  Tensor result(type, dims);
  Combine combine(ReduceKind::max, x.getElementType());
  int64_t images = getNumElements(x.getDims().drop_back(windows.sizes.size()));
  x.visit([&](auto kind) {
    using T = decltype(kind);
    windows.forEachWindow(images, [&](int64_t image, ArrayRef<int64_t> place, int64_t number) {
      int64_t best = -1;
      const T *in = x.data<T>() + image;
      windows.forEach(place, [&](int64_t element) {
        // The first NaN stays the maximum, although it differs from itself.
        if (best < 0 || (combine(in[best], in[element]) != in[best] && in[best] == in[best]))
          best = element;
      });
      result.data<int64_t>()[number] = best;
    });
  });
  return result;
}

std::optional<FailureOr<Tensors>> evaluateWindow(Operation *op, const Context &context) {
  using Result = std::optional<FailureOr<Tensors>>;
  if (!isa<WindowOp, WindowArgmaxOp>(op))
    return std::nullopt;
  const Tensor &x = context.operands[0];
  FailureOr<Dims> dims = context.getResultDims(op);
  if (failed(dims))
    return Result(failure());
  auto window = dyn_cast<WindowOp>(op);
  FailureOr<Windows> windows = window ? getWindows(window, x, *dims, context.symbols)
                                      : getWindows(cast<WindowArgmaxOp>(op), x, *dims, context.symbols);
  if (failed(windows))
    return Result(failure());
  return Tensors{window ? combineWindows(window.getKind(), x, *windows, *dims)
                        : findMaxima(getElementType(op->getResult(0)), x, *windows, *dims)};
}

} // namespace freestone::interpreter
