// Operations that move elements without computing.
#include "compiler/expressions/Expressions.h"

using namespace llvm;

namespace freestone::expressions {
namespace {

SmallVector<int64_t> staticShape(ArrayRef<Expr> shape) {
  SmallVector<int64_t> dims;
  for (Expr extent : shape)
    dims.push_back(*extent.asConstant());
  return dims;
}

int64_t countOf(ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

/// A result of these dims whose elements are read from x at the coordinates that `source` returns.
template <typename Source> Content rearrange(Tensor x, ArrayRef<int64_t> dims, Source source) {
  SmallVector<int64_t> from = staticShape(x.shape()), at(dims.size(), 0), where(from.size(), 0);
  Content content;
  for (int64_t index = 0, count = countOf(dims); index < count; ++index) {
    for (int64_t rest = index, axis = dims.size(); axis-- > 0; rest /= dims[axis])
      at[axis] = rest % dims[axis];
    source(ArrayRef<int64_t>(at), MutableArrayRef<int64_t>(where));
    int64_t place = 0;
    for (auto [coordinate, extent] : zip_equal(where, from))
      place = place * extent + coordinate;
    content.push_back((*x.content())[place]);
  }
  return content;
}

} // namespace

Tensor conform(Tensor x, ArrayRef<Expr> shape, const Twine &what) {
  if (!x)
    return x;
  GraphBuilder &builder = x.builder();
  if (x.rank() != int64_t(shape.size()))
    return builder.reject(what + " must be equal, but the ranks are " + Twine(x.rank()) + " and " +
                          Twine(shape.size()));
  return builder.conform(x, shape, what);
}

Tensor broadcast(Tensor x, ArrayRef<Expr> shape, ArrayRef<int64_t> dims) {
  if (!x)
    return x;
  mlir::Value value = x.value();
  return x.builder().emit<graph::BroadcastOp>(value, x.builder().current(shape), dims);
}

Tensor repeat(Tensor x, ArrayRef<Expr> shape, ArrayRef<int64_t> axes) {
  return broadcast(x, shape, llvm::filter_to_vector(llvm::seq<int64_t>(shape.size()), [&](int64_t axis) {
                     return !is_contained(axes, axis);
                   }));
}

Tensor reshape(Tensor x, ArrayRef<Expr> target) {
  if (!x)
    return x;
  GraphBuilder &builder = x.builder();
  Shape shape = builder.current(target);
  if (x.shape() == ArrayRef(shape))
    return x;
  Expr count = builder.size(1);
  for (Expr extent : shape)
    count = count * extent;
  if (!builder.makeEqual(x.elementCount(), count, "numbers of elements before and after a reshape"))
    return {};
  return reshapeUnchecked(x, shape);
}

Tensor reshapeUnchecked(Tensor x, ArrayRef<Expr> target) {
  if (!x)
    return x;
  GraphBuilder &builder = x.builder();
  Shape shape = builder.current(target);
  if (x.content() && llvm::all_of(shape, [](Expr extent) { return extent.isConstant(); }))
    return builder.fromContent(*x.content(), shape, x.elementType());
  mlir::Value value = x.value();
  return builder.emit<graph::ReshapeOp>(graph::TensorType::get(shape, x.elementType()), value);
}

Tensor transpose(Tensor x, ArrayRef<int64_t> permutation) {
  if (!x || llvm::is_sorted(permutation))
    return x;
  GraphBuilder &builder = x.builder();
  Shape shape;
  for (int64_t axis : permutation)
    shape.push_back(x.dim(axis));
  if (!x.content())
    return builder.emit<graph::TransposeOp>(x.value(), builder.getDenseI64ArrayAttr(permutation));
  Content content = rearrange(x, staticShape(shape), [&](ArrayRef<int64_t> at, MutableArrayRef<int64_t> where) {
    for (auto [axis, coordinate] : zip_equal(permutation, at))
      where[axis] = coordinate;
  });
  return builder.fromContent(std::move(content), shape, x.elementType());
}

SmallVector<int64_t> invert(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [to, from] : llvm::enumerate(permutation))
    inverse[from] = to;
  return inverse;
}

Tensor unsqueeze(Tensor x, ArrayRef<int64_t> axes) {
  if (!x)
    return x;
  int64_t rank = x.rank() + axes.size();
  Shape shape(rank, Expr());
  for (int64_t axis : axes)
    shape[axis < 0 ? axis + rank : axis] = x.builder().size(1);
  const Expr *next = x.shape().begin();
  for (Expr &extent : shape)
    if (!extent)
      extent = *next++;
  return reshape(x, shape);
}

Tensor squeeze(Tensor x, ArrayRef<int64_t> axes) {
  if (!x)
    return x;
  GraphBuilder &builder = x.builder();
  for (int64_t axis : axes)
    if (!builder.makeEqual(x.dim(axis), builder.size(1), "a dropped dimension and 1"))
      return {};
  Shape shape;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (!is_contained(axes, axis) && !is_contained(axes, axis - x.rank()))
      shape.push_back(x.dim(axis));
  return reshape(x, shape);
}

Tensor slice(Tensor x, int64_t axis, Expr start, Expr size, int64_t step) {
  if (!x)
    return x;
  GraphBuilder &builder = x.builder();
  axis = axis < 0 ? axis + x.rank() : axis;
  if (axis < 0 || axis >= x.rank())
    return builder.reject("a slice needs an axis that a tensor of rank " + Twine(x.rank()) + " does not have");
  const sym::Bounds &bounds = builder.bounds();
  start = bounds.simplify(builder.current(start));
  size = bounds.simplify(builder.current(size));
  if (step == 1 && start.isConstant(0) && size == x.dim(axis))
    return x;
  Shape shape(x.shape());
  shape[axis] = size;
  if (x.content() && start.isConstant() && size.isConstant()) {
    int64_t first = *start.asConstant(), count = *size.asConstant(), last = first + (count - 1) * step,
            extent = *x.extent(axis);
    if (count < 0 || (count > 0 && (std::min(first, last) < 0 || std::max(first, last) >= extent)))
      return builder.reject("elements " + Twine(first) + " to " + Twine(last) + " are not within a size of " +
                            Twine(extent));
    Content content = rearrange(x, staticShape(shape), [&](ArrayRef<int64_t> at, MutableArrayRef<int64_t> where) {
      llvm::copy(at, where.begin());
      where[axis] = *start.asConstant() + at[axis] * step;
    });
    return builder.fromContent(std::move(content), shape, x.elementType());
  }
  Shape starts(x.rank(), builder.size(0));
  SmallVector<int64_t> steps(x.rank(), 1);
  starts[axis] = start;
  steps[axis] = step;
  return slice(x, starts, shape, steps);
}

Tensor slice(Tensor x, ArrayRef<Expr> starts, ArrayRef<Expr> sizes, ArrayRef<int64_t> steps) {
  return x ? x.builder().emit<graph::SliceOp>(x.value(), starts, sizes, steps) : x;
}

Tensor reverse(Tensor x, ArrayRef<int64_t> axes) {
  if (!x || axes.empty())
    return x;
  Shape starts(x.rank(), x.builder().size(0));
  SmallVector<int64_t> steps(x.rank(), 1);
  for (int64_t axis : axes) {
    starts[axis] = x.dim(axis) - 1;
    steps[axis] = -1;
  }
  return slice(x, starts, x.shape(), steps);
}

Tensor pad(Tensor x, ArrayRef<Expr> low, ArrayRef<Expr> high, Tensor value, ArrayRef<int64_t> interior) {
  if (!x || !value)
    return {};
  GraphBuilder &builder = x.builder();
  Shape before = builder.current(low), after = builder.current(high);
  auto isZero = [](Expr amount) { return amount.isConstant(0); };
  if (llvm::all_of(before, isZero) && llvm::all_of(after, isZero) &&
      llvm::all_of(interior, [](int64_t n) { return !n; }))
    return x;
  SmallVector<int64_t> between(interior);
  between.resize(x.rank(), 0);
  mlir::Value operand = x.value(), filler = cast(reshape(value, {}), x.elementType()).value();
  return builder.emit<graph::PadOp>(operand, filler, before, after, between);
}

Tensor pad(Tensor x, ArrayRef<Expr> low, ArrayRef<Expr> high, double value, ArrayRef<int64_t> interior) {
  return pad(x, low, high, scalarLike(value, x), interior);
}

Tensor concat(ArrayRef<Tensor> given, int64_t axis) {
  if (!areBuilt(given))
    return {};
  Tensor first = given.front();
  GraphBuilder &builder = first.builder();
  if (given.size() == 1)
    return first;
  SmallVector<Tensor> operands(given);
  for (Tensor &operand : MutableArrayRef(operands).drop_front()) {
    if (operand.rank() != first.rank() || operand.elementType() != first.elementType())
      return builder.reject("what is concatenated must have one rank and type");
    Shape expected(first.shape());
    expected[axis] = operand.dim(axis);
    if (!(operand = conform(operand, expected, "sizes of what is concatenated")))
      return {};
  }
  int64_t outer = 1;
  bool isKnown = llvm::all_of(operands, [](Tensor tensor) { return tensor.content() != nullptr; });
  if (isKnown) {
    outer = countOf(staticShape(first.shape().take_front(axis)));
    Shape shape(first.shape());
    for (Tensor operand : drop_begin(operands))
      shape[axis] = shape[axis] + operand.dim(axis);
    Content content;
    for (int64_t row = 0; row < outer; ++row)
      for (Tensor operand : operands) {
        int64_t inner = countOf(staticShape(operand.shape().drop_front(axis)));
        content.append(operand.content()->begin() + row * inner, operand.content()->begin() + (row + 1) * inner);
      }
    return builder.fromContent(std::move(content), shape, first.elementType());
  }
  SmallVector<mlir::Value> values;
  for (Tensor operand : operands)
    if (!operand.dim(axis).isConstant(0))
      values.push_back(operand.value());
  if (values.empty())
    return first;
  if (values.size() == 1)
    return builder.fromValue(values.front());
  return builder.emit<graph::ConcatOp>(values, axis);
}

Tensor iota(GraphBuilder &builder, ArrayRef<Expr> target, int64_t axis, mlir::Type type) {
  Shape shape = builder.current(target);
  std::optional<int64_t> extent = shape[axis].asConstant();
  if (extent && *extent < 0)
    return builder.reject("a size is negative: " + Twine(*extent));
  if (builder.keepsContent() && shape.size() == 1 && extent && *extent <= GraphBuilder::maxContent) {
    Content content;
    for (int64_t index = 0; index < *extent; ++index)
      content.push_back(builder.size(index));
    return builder.fromContent(std::move(content), shape, type);
  }
  return builder.emit<graph::IotaOp>(graph::TensorType::get(shape, type), axis);
}

} // namespace freestone::expressions
