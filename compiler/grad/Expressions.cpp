#include "compiler/grad/Expressions.h"

using namespace mlir;

namespace freestone::grad {

namespace {

/// Builds an operator, folded if possible.
template <typename Op, typename... Args> Tensor build(ImplicitLocOpBuilder &builder, Args &&...args) {
  return Tensor(builder, builder.createOrFold<Op>(std::forward<Args>(args)...));
}

/// Broadcasts a scalar to the shape of the other operand.
void broadcastScalar(Tensor &lhs, Tensor &rhs) {
  if (lhs.rank() == 0 && rhs.rank() != 0)
    lhs = broadcast(lhs, rhs.shape(), {});
  else if (rhs.rank() == 0 && lhs.rank() != 0)
    rhs = broadcast(rhs, lhs.shape(), {});
}

SmallVector<int64_t> getOtherAxes(int64_t rank, ArrayRef<int64_t> axes) {
  return llvm::filter_to_vector(llvm::seq<int64_t>(rank),
                                [&](int64_t axis) { return !llvm::is_contained(axes, axis); });
}

} // namespace

Tensor unary(UnaryKind kind, Tensor x) { return build<graph::UnaryOp>(x.builder(), kind, x.value()); }

Tensor binary(BinaryKind kind, Tensor lhs, Tensor rhs) {
  broadcastScalar(lhs, rhs);
  return build<graph::BinaryOp>(lhs.builder(), kind, lhs.value(), rhs.value());
}

Tensor compare(CompareKind kind, Tensor lhs, Tensor rhs) {
  broadcastScalar(lhs, rhs);
  return Tensor(lhs.builder(), graph::CompareOp::create(lhs.builder(), kind, lhs.value(), rhs.value()));
}

Tensor select(Tensor condition, Tensor whenTrue, Tensor whenFalse) {
  broadcastScalar(whenTrue, whenFalse);
  broadcastScalar(condition, whenTrue);
  return build<graph::SelectOp>(condition.builder(), condition.value(), whenTrue.value(), whenFalse.value());
}

Tensor cast(Tensor x, Type type) {
  return x.elementType() == type ? x : build<graph::CastOp>(x.builder(), x.value(), TypeAttr::get(type));
}

Tensor widen(Tensor x) {
  bool isNarrow = x.elementType().isF16() || x.elementType().isBF16();
  return isNarrow ? cast(x, x.builder().getF32Type()) : x;
}

Tensor splat(ImplicitLocOpBuilder &builder, double number, graph::TensorType type) {
  return Tensor(builder, graph::ConstantOp::create(builder, type, number));
}

Tensor splatLike(double number, Tensor like) { return splat(like.builder(), number, like.type()); }

std::optional<double> getSplat(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto known = dyn_cast<graph::ConstantOp>(op)) {
      if (!known.isSplat() || !isa<FloatType>(graph::getElementType(value)))
        return std::nullopt;
      return cast<DenseElementsAttr>(known.getValue()).getSplatValue<APFloat>().convertToDouble();
    }
    if (!isa<graph::BroadcastOp, graph::ReshapeOp>(op))
      return std::nullopt;
    value = op->getOperand(0);
  }
  return std::nullopt;
}

Tensor size(ImplicitLocOpBuilder &builder, Expr value, Type type) {
  if (std::optional<int64_t> known = value.asConstant())
    return splat(builder, *known, graph::TensorType::get({}, type));
  return cast(build<graph::SizesOp>(builder, value, /*scalar=*/true), type);
}

Expr constant(Tensor like, int64_t value) { return Expr::constant(like.builder().getContext(), value); }

Tensor broadcast(Tensor x, ArrayRef<Expr> shape, ArrayRef<int64_t> dims) {
  return build<graph::BroadcastOp>(x.builder(), x.value(), shape, dims);
}

Tensor repeat(Tensor x, ArrayRef<Expr> shape, ArrayRef<int64_t> axes) {
  return broadcast(x, shape, getOtherAxes(shape.size(), axes));
}

Tensor reshape(Tensor x, ArrayRef<Expr> shape) { return build<graph::ReshapeOp>(x.builder(), x.value(), shape); }

Tensor transpose(Tensor x, ArrayRef<int64_t> permutation) {
  return build<graph::TransposeOp>(x.builder(), x.value(), permutation);
}

SmallVector<int64_t> invert(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [to, from] : llvm::enumerate(permutation))
    inverse[from] = to;
  return inverse;
}

Tensor slice(Tensor x, ArrayRef<Expr> starts, ArrayRef<Expr> sizes, ArrayRef<int64_t> steps) {
  return build<graph::SliceOp>(x.builder(), x.value(), starts, sizes, steps);
}

Tensor reverse(Tensor x, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return x;
  Shape starts(x.rank(), constant(x, 0));
  SmallVector<int64_t> steps(x.rank(), 1);
  for (int64_t axis : axes) {
    starts[axis] = x.dim(axis) - 1;
    steps[axis] = -1;
  }
  return slice(x, starts, x.shape(), steps);
}

Tensor pad(Tensor x, double value, ArrayRef<Expr> low, ArrayRef<Expr> high, ArrayRef<int64_t> interior) {
  Tensor filler = splat(x.builder(), value, graph::TensorType::get({}, x.elementType()));
  return build<graph::PadOp>(x.builder(), x.value(), filler.value(), low, high, interior);
}

Tensor concat(ArrayRef<Tensor> operands, int64_t axis) {
  SmallVector<Value> values = llvm::map_to_vector(operands, [](Tensor operand) { return operand.value(); });
  return build<graph::ConcatOp>(operands.front().builder(), values, static_cast<uint64_t>(axis));
}

Tensor iota(ImplicitLocOpBuilder &builder, ArrayRef<Expr> shape, int64_t axis, Type type) {
  return Tensor(builder, graph::IotaOp::create(builder, graph::TensorType::get(shape, type), axis));
}

Tensor reduce(ReduceKind kind, Tensor x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : build<graph::ReduceOp>(x.builder(), kind, x.value(), axes);
}

Tensor sum(Tensor x, ArrayRef<int64_t> axes) { return reduce(ReduceKind::add, x, axes); }

Tensor sum(Tensor x) { return sum(x, llvm::to_vector(llvm::seq<int64_t>(x.rank()))); }

Tensor sumAndRepeat(Tensor x, ArrayRef<int64_t> axes) { return repeat(sum(x, axes), x.shape(), axes); }

Tensor mean(Tensor x, ArrayRef<int64_t> axes) {
  Expr count = constant(x, 1);
  for (int64_t axis : axes)
    count = count * x.dim(axis);
  // Built as in the norms' decomposition, so that common subexpressions are found.
  Tensor total = sum(x, axes), scalar = size(x.builder(), count, x.builder().getI64Type());
  return total / cast(broadcast(scalar, total.shape(), {}), x.elementType());
}

Tensor meanAndRepeat(Tensor x, ArrayRef<int64_t> axes) { return repeat(mean(x, axes), x.shape(), axes); }

Tensor cumulate(ReduceKind kind, Tensor x, int64_t axis, bool exclusive, bool reverse) {
  return Tensor(x.builder(), graph::CumulateOp::create(x.builder(), kind, x.value(), axis, exclusive, reverse));
}

Tensor contract(Tensor lhs, Tensor rhs, ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch,
                ArrayRef<int64_t> lhsContract, ArrayRef<int64_t> rhsContract, TypeAttr type) {
  return Tensor(lhs.builder(), graph::ContractOp::create(lhs.builder(), lhs.value(), rhs.value(), lhsBatch, rhsBatch,
                                                         lhsContract, rhsContract, type));
}

Tensor gatherElements(Tensor x, Tensor indices, int64_t axis) {
  return Tensor(x.builder(), graph::GatherElementsOp::create(x.builder(), x.value(), indices.value(), axis));
}

Tensor gatherNd(Tensor x, Tensor indices) {
  return Tensor(x.builder(), graph::GatherNdOp::create(x.builder(), x.value(), indices.value(), 0));
}

Tensor scatterElements(ScatterKind kind, Tensor x, Tensor indices, Tensor updates, int64_t axis) {
  return Tensor(x.builder(),
                graph::ScatterElementsOp::create(x.builder(), kind, x.value(), indices.value(), updates.value(), axis));
}

Tensor scatterNd(ScatterKind kind, Tensor x, Tensor indices, Tensor updates) {
  return Tensor(x.builder(),
                graph::ScatterNdOp::create(x.builder(), kind, x.value(), indices.value(), updates.value()));
}

} // namespace freestone::grad
