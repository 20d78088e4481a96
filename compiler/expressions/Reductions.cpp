// Reductions, prefix scans, and the composites made of them.
#include "compiler/expressions/Expressions.h"
#include "compiler/expressions/Fold.h"

using namespace llvm;
using freestone::graph::ReduceKind;

namespace freestone::expressions {
namespace {

SmallVector<int64_t> normalized(Tensor x, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> all = llvm::map_to_vector(axes, [&](int64_t axis) { return axis < 0 ? axis + x.rank() : axis; });
  llvm::sort(all);
  return all;
}

std::optional<BinaryKind> binaryOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::add:
    return BinaryKind::add;
  case ReduceKind::mul:
    return BinaryKind::mul;
  case ReduceKind::max:
    return BinaryKind::max;
  case ReduceKind::min:
    return BinaryKind::min;
  default:
    return std::nullopt;
  }
}

/// Folds the reduction of a vector of known elements; not sums of several floats, whose order differs at run time.
std::optional<Element> reduceKnown(ReduceKind kind, Tensor x) {
  std::optional<BinaryKind> combine = binaryOf(kind);
  if (!x.content() || x.content()->empty() || !combine || x.isBool())
    return std::nullopt;
  bool isSum = kind == ReduceKind::add || kind == ReduceKind::mul;
  if (x.isFloat() && isSum && x.content()->size() > 1)
    return std::nullopt;
  std::optional<Element> result = x.content()->front();
  for (const Element &element : drop_begin(*x.content())) {
    result = foldBinary(*combine, *result, element, x.elementType(), x.builder().bounds());
    if (!result)
      return std::nullopt;
  }
  return result;
}

} // namespace

Tensor reduce(ReduceKind kind, Tensor x, ArrayRef<int64_t> given, bool keepDims) {
  if (!x || given.empty())
    return x;
  GraphBuilder &builder = x.builder();
  SmallVector<int64_t> axes = normalized(x, given);
  Shape kept(x.shape());
  for (int64_t axis : axes)
    kept[axis] = builder.size(1);
  Tensor result;
  std::optional<Element> known = x.rank() == int64_t(axes.size()) ? reduceKnown(kind, x) : std::nullopt;
  if (known)
    result = builder.fromContent({*known}, {}, x.elementType());
  else
    result = builder.emit<graph::ReduceOp>(kind, x.value(), builder.getDenseI64ArrayAttr(axes));
  return keepDims ? reshape(result, kept) : result;
}

SmallVector<int64_t> allAxes(Tensor x) {
  return x ? llvm::to_vector(llvm::seq<int64_t>(0, x.rank())) : SmallVector<int64_t>();
}

Tensor mean(Tensor x, ArrayRef<int64_t> axes, bool keepDims) {
  Tensor total = sum(x, axes, keepDims);
  if (!total)
    return total;
  Expr count = x.builder().size(1);
  for (int64_t axis : normalized(x, axes))
    count = count * x.dim(axis);
  return total / count;
}

Tensor sumAndRepeat(Tensor x, ArrayRef<int64_t> axes) { return x ? repeat(sum(x, axes), x.shape(), axes) : x; }

Tensor meanAndRepeat(Tensor x, ArrayRef<int64_t> axes) { return x ? repeat(mean(x, axes), x.shape(), axes) : x; }

Tensor argReduce(bool largest, Tensor x, int64_t axis, bool lastIndex, bool keepDims) {
  if (!x)
    return x;
  GraphBuilder &builder = x.builder();
  Shape kept(x.shape());
  kept[axis] = builder.size(1);
  Tensor result = builder.emit<graph::ArgReduceOp>(largest ? graph::ArgKind::max : graph::ArgKind::min, x.value(),
                                                   uint64_t(axis), lastIndex);
  return keepDims ? reshape(result, kept) : result;
}

Tensor cumulate(ReduceKind kind, Tensor x, int64_t axis, bool exclusive, bool reverse) {
  if (!x)
    return x;
  return x.builder().emit<graph::CumulateOp>(kind, x.value(), uint64_t(axis), exclusive, reverse);
}

std::pair<Tensor, Tensor> topK(Tensor x, Expr k, int64_t axis, bool largest) {
  if (!x)
    return {};
  GraphBuilder &builder = x.builder();
  if (!builder.makeAtMost(k, x.dim(axis), "k must not be more than there are elements"))
    return {};
  auto op = builder.create<graph::TopKOp>(x.value(), axis, builder.current(k), !largest);
  return {builder.fromValue(op.getValues()), builder.fromValue(op.getIndices())};
}

Tensor softmax(Tensor x, int64_t axis) { return x ? x.builder().emit<graph::SoftmaxOp>(x.value(), uint64_t(axis)) : x; }

Tensor logSoftmax(Tensor x, int64_t axis) {
  return x ? x.builder().emit<graph::LogSoftmaxOp>(x.value(), uint64_t(axis)) : x;
}

Tensor layerNorm(Tensor x, int64_t axis, double epsilon) {
  return x ? x.builder().emit<graph::LayerNormOp>(x.value(), axis, epsilon) : x;
}

Tensor rmsNorm(Tensor x, int64_t axis, double epsilon) {
  return x ? x.builder().emit<graph::RmsNormOp>(x.value(), axis, epsilon) : x;
}

Tensor gelu(Tensor x, bool tanhApproximation) {
  graph::GeluKind kind = tanhApproximation ? graph::GeluKind::tanh : graph::GeluKind::exact;
  return x ? x.builder().emit<graph::GeluOp>(kind, x.value()) : x;
}

} // namespace freestone::expressions
