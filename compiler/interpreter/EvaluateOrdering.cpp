#include "compiler/interpreter/Evaluate.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace freestone::graph;

namespace freestone::interpreter {

/// A total order in which NaN is the largest.
static bool less(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

/// Sorts along an axis and keeps its first `count` positions; `descending` keeps the order of ties as well.
static Tensors sortAlong(Operation *op, const Tensor &x, int64_t axis, int64_t count, bool descending,
                         const Dims &dims) {
  int64_t outer = getNumElements(x.getDims().take_front(axis)), extent = x.getDim(axis);
  int64_t inner = getNumElements(x.getDims().drop_front(axis + 1));
  Tensor values(x.getElementType(), dims), indices(getElementType(op->getResult(1)), dims);
  std::vector<int64_t> order(extent);
  x.visit([&](auto kind) {
    using T = decltype(kind);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t n = 0; n < inner; ++n) {
        auto at = [&](int64_t i) { return x.data<T>()[(o * extent + i) * inner + n]; };
        auto isLess = [&](T a, T b) {
          if constexpr (std::is_same_v<T, double>)
            return less(a, b);
          else
            return x.isUnsigned() ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
        };
        std::iota(order.begin(), order.end(), 0);
        // Ties are ordered by position.
        llvm::sort(order, [&](int64_t i, int64_t j) {
          if (isLess(at(i), at(j)) || isLess(at(j), at(i)))
            return isLess(at(i), at(j)) != descending;
          return i < j;
        });
        for (int64_t i = 0; i < count; ++i) {
          values.data<T>()[(o * count + i) * inner + n] = at(order[i]);
          indices.data<int64_t>()[(o * count + i) * inner + n] = order[i];
        }
      }
  });
  return {values, indices};
}

static FailureOr<Tensors> evaluate(TopKOp op, const Tensor &x, const Context &context) {
  FailureOr<Dims> dims = context.getResultDims(op);
  if (failed(dims))
    return failure();
  int64_t axis = op.getAxis(), count = (*dims)[axis];
  if (count > x.getDim(axis))
    return op.emitError("can't take ") << count << " of " << x.getDim(axis) << " elements along axis " << axis;
  return sortAlong(op, x, axis, count, !op.getSmallest(), *dims);
}

static Tensors evaluate(NonZeroOp op, const Tensor &x) {
  std::vector<int64_t> places;
  x.visit([&](auto kind) {
    for (int64_t i = 0, count = x.size(); i < count; ++i)
      if (x.data<decltype(kind)>()[i] != 0)
        places.push_back(i);
  });
  int64_t count = places.size();
  Dims strides = getStrides(x.getDims());
  Tensor result(getElementType(op.getResult()), {x.getRank(), count});
  for (int64_t dim = 0; dim < x.getRank(); ++dim)
    for (int64_t i = 0; i < count; ++i)
      result.data<int64_t>()[dim * count + i] = places[i] / strides[dim] % x.getDim(dim);
  return {result};
}

static FailureOr<Tensors> evaluate(CountToOp op, const Tensor &x) {
  int64_t count = *x.data<int64_t>();
  if (count < 0)
    return op.emitError(op.getComplaint());
  Tensor result(x.getElementType(), {count});
  std::iota(result.data<int64_t>(), result.data<int64_t>() + count, 0);
  return Tensors{result};
}

/// Gathers slices along an axis.
static Tensor takeSlices(const Tensor &x, int64_t axis, ArrayRef<int64_t> slices) {
  Dims dims(x.getDims());
  dims[axis] = slices.size();
  int64_t outer = getNumElements(x.getDims().take_front(axis)), extent = x.getDim(axis);
  int64_t inner = getNumElements(x.getDims().drop_front(axis + 1));
  Tensor result(x.getElementType(), dims);
  result.visit([&](auto kind) {
    using T = decltype(kind);
    T *out = result.data<T>();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t slice : slices) {
        std::copy_n(x.data<T>() + (o * extent + slice) * inner, inner, out);
        out += inner;
      }
  });
  return result;
}

static Tensors evaluate(CompressOp op, const Tensor &x, const Tensor &condition) {
  int64_t axis = op.getAxis();
  SmallVector<int64_t> kept;
  for (int64_t i = 0, count = std::min(x.getDim(axis), condition.size()); i < count; ++i)
    if (condition.data<int64_t>()[i])
      kept.push_back(i);
  return {takeSlices(x, axis, kept)};
}

static Tensors evaluate(SuppressOp op, ArrayRef<Tensor> x) {
  struct Box {
    float low[2], high[2];
    float area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
  };
  const Tensor &boxes = x[0], &scores = x[1];
  int64_t classes = scores.getDim(1), count = scores.getDim(2), limit = x[2].data<int64_t>()[0];
  float overlap = x[3].data<double>()[0], threshold = x[4].data<double>()[0];
  Tensor result(getElementType(op.getResult()), Dims(scores.getDims()));
  int64_t *kept = result.data<int64_t>();
  std::fill_n(kept, result.size(), -1);
  for (int64_t line = 0; line < scores.getDim(0) * classes; ++line, kept += count) {
    const double *score = scores.data<double>() + line * count;
    auto boxAt = [&](int64_t i) {
      const double *p = boxes.data<double>() + (line / classes * count + i) * 4;
      return Box{{float(p[0]), float(p[1])}, {float(p[2]), float(p[3])}};
    };
    std::vector<int64_t> order;
    for (int64_t i = 0; i < count; ++i)
      if (score[i] > threshold)
        order.push_back(i);
    llvm::stable_sort(order, [&](int64_t i, int64_t j) { return score[i] > score[j]; });
    SmallVector<Box> taken;
    for (int64_t i : order) {
      Box box = boxAt(i);
      bool isCovered = llvm::any_of(taken, [&](const Box &other) {
        float common = 1;
        for (int axis : {0, 1})
          common *=
              std::max(std::min(box.high[axis], other.high[axis]) - std::max(box.low[axis], other.low[axis]), 0.0f);
        return common > 0 && common / (box.area() + other.area() - common) > overlap;
      });
      if (isCovered || int64_t(taken.size()) >= limit)
        continue;
      kept[taken.size()] = i;
      taken.push_back(box);
    }
  }
  return {result};
}

static Tensor toTensor(Type type, ArrayRef<int64_t> values) {
  Tensor result(type, static_cast<int64_t>(values.size()));
  llvm::copy(values, result.data<int64_t>());
  return result;
}

static Tensors evaluate(UniqueOp op, const Tensor &x) {
  int64_t axis = op.getAxis(), extent = x.getDim(axis);
  SmallVector<int64_t> permutation = {axis};
  for (int64_t dim = 0; dim < x.getRank(); ++dim)
    if (dim != axis)
      permutation.push_back(dim);
  // Row i is slice i.
  Tensor rows = transpose(x, permutation);
  int64_t length = extent ? rows.size() / extent : 0;
  auto compare = [&](int64_t i, int64_t j) {
    return rows.visit([&](auto kind) {
      using T = decltype(kind);
      const T *a = rows.data<T>() + i * length, *b = rows.data<T>() + j * length;
      for (int64_t k = 0; k < length; ++k) {
        if constexpr (std::is_same_v<T, double>) {
          if (less(a[k], b[k]) || less(b[k], a[k]))
            return less(a[k], b[k]) ? -1 : 1;
        } else if (a[k] != b[k]) {
          bool isLess = x.isUnsigned() ? static_cast<uint64_t>(a[k]) < static_cast<uint64_t>(b[k]) : a[k] < b[k];
          return isLess ? -1 : 1;
        }
      }
      return 0;
    });
  };
  SmallVector<int64_t> order(extent), first, inverse(extent), counts, group(extent);
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t i, int64_t j) {
    int sign = compare(i, j);
    return sign ? sign < 0 : i < j;
  });
  for (int64_t i = 0; i < extent; ++i) {
    if (i == 0 || compare(order[i - 1], order[i]) != 0)
      first.push_back(order[i]);
    group[order[i]] = first.size() - 1;
  }
  // Groups are in ascending order; the order of first occurrence ranks them anew.
  SmallVector<int64_t> rank(first.size()), place(first.size());
  std::iota(rank.begin(), rank.end(), 0);
  if (!op.getSorted())
    llvm::sort(rank, [&](int64_t i, int64_t j) { return first[i] < first[j]; });
  for (auto [to, from] : llvm::enumerate(rank))
    place[from] = to;
  SmallVector<int64_t> firstOfPlace = llvm::map_to_vector(rank, [&](int64_t from) { return first[from]; });
  counts.assign(first.size(), 0);
  for (int64_t i = 0; i < extent; ++i)
    ++counts[inverse[i] = place[group[i]]];
  Type type = getElementType(op.getFirst());
  return {takeSlices(x, axis, firstOfPlace), toTensor(type, firstOfPlace), toTensor(type, inverse),
          toTensor(type, counts)};
}

std::optional<FailureOr<Tensors>> evaluateOrdering(Operation *op, const Context &context) {
  using Result = std::optional<FailureOr<Tensors>>;
  ArrayRef<Tensor> x = context.operands;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](TopKOp op) -> Result { return evaluate(op, x[0], context); })
      .Case([&](SortOp op) -> Result {
        int64_t axis = op.getAxis();
        return sortAlong(op, x[0], axis, x[0].getDim(axis), op.getDescending(), Dims(x[0].getDims()));
      })
      .Case([&](NonZeroOp op) -> Result { return evaluate(op, x[0]); })
      .Case([&](CountToOp op) -> Result { return evaluate(op, x[0]); })
      .Case([&](CompressOp op) -> Result { return evaluate(op, x[0], x[1]); })
      .Case([&](SuppressOp op) -> Result { return evaluate(op, x); })
      .Case([&](UniqueOp op) -> Result { return evaluate(op, x[0]); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

} // namespace freestone::interpreter
