#include "compiler/dialect/graph/ShapeRules.h"
#include <numbers>

using namespace mlir;

namespace freestone::graph {

namespace {

/// Builds core operators at one location, in f32 where the composite's type is narrower.
class Composer {
public:
  Composer(OpBuilder &builder, Operation *composite)
      : builder(builder), location(composite->getLoc()), narrow(getElementType(composite->getResult(0))) {}

  Value widen(Value x) {
    Type type = getElementType(x);
    return type.isF16() || type.isBF16() ? cast(x, builder.getF32Type()) : x;
  }
  Value narrowed(Value x) { return cast(x, narrow); }
  Value cast(Value x, Type type) {
    return getElementType(x) == type ? x : CastOp::create(builder, location, x, type).getResult();
  }

  Value unary(UnaryKind kind, Value x) { return UnaryOp::create(builder, location, kind, x); }
  Value binary(BinaryKind kind, Value x, Value y) { return BinaryOp::create(builder, location, kind, x, y); }
  Value add(Value x, Value y) { return binary(BinaryKind::add, x, y); }
  Value sub(Value x, Value y) { return binary(BinaryKind::sub, x, y); }
  Value mul(Value x, Value y) { return binary(BinaryKind::mul, x, y); }
  Value mul(Value x, double factor) { return mul(x, number(factor, typeOf(x))); }
  Value select(Value condition, Value x, Value y) { return SelectOp::create(builder, location, condition, x, y); }
  Value number(double value, TensorType type) { return ConstantOp::create(builder, location, type, value); }

  /// A reduction, broadcast back along the reduced axes.
  Value reduceAndRepeat(ReduceKind kind, Value x, ArrayRef<int64_t> axes) {
    return repeat(ReduceOp::create(builder, location, kind, x, axes), typeOf(x), axes);
  }
  Value repeat(Value reduced, TensorType type, ArrayRef<int64_t> axes) {
    SmallVector<int64_t> kept;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!llvm::is_contained(axes, dim))
        kept.push_back(dim);
    return BroadcastOp::create(builder, location, type, reduced, kept);
  }
  Value mean(Value x, ArrayRef<int64_t> axes) {
    Value sum = ReduceOp::create(builder, location, ReduceKind::add, x, axes);
    sym::Expr count = sym::Expr::constant(builder.getContext(), 1);
    for (int64_t axis : axes)
      count = count * typeOf(x).getDim(axis);
    return binary(BinaryKind::div, sum, cast(size(count, typeOf(sum)), getElementType(sum)));
  }
  /// A tensor of i64 whose elements are all this size.
  Value size(sym::Expr value, TensorType type) {
    TensorType i64 = type.withElementType(builder.getI64Type());
    if (std::optional<int64_t> constant = value.asConstant())
      return ConstantOp::create(builder, location, i64, *constant);
    return BroadcastOp::create(builder, location, i64, SizesOp::create(builder, location, value, true),
                               ArrayRef<int64_t>());
  }
  Value coordinate(int64_t dim, TensorType type) {
    return IotaOp::create(builder, location, type.withElementType(builder.getI64Type()), dim);
  }
  /// lhs [batch…, m, k] times rhs, contracted over its dimension `rhsDim`.
  Value contract(Value lhs, Value rhs, int64_t rhsDim) {
    int64_t rank = typeOf(lhs).getRank();
    SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(rank - 2));
    return ContractOp::create(builder, location, lhs, rhs, batch, batch, {rank - 1}, {rhsDim});
  }
  /// Softmax of f16 rounds exponentials and their sum to f16: ONNX defines it in that precision and tests it to an ulp.
  /// bf16 has too few bits for this and computes in f32.
  Value softmax(Value x, int64_t axis) { return softmax(x, axis, /*hides=*/false); }
  /// Softmax that gives 0 for rows whose elements are all -inf.
  Value softmaxOfVisible(Value x, int64_t axis) { return softmax(x, axis, /*hides=*/true); }
  /// Root-mean-square normalization: x / sqrt(mean(x²) + epsilon).
  Value normalize(Value x, ArrayRef<int64_t> axes, double epsilon) {
    Value meanSquare = mean(mul(x, x), axes);
    Value scale = unary(UnaryKind::rsqrt, add(meanSquare, number(epsilon, typeOf(meanSquare))));
    return mul(x, repeat(scale, typeOf(x), axes));
  }

private:
  Value softmax(Value x, int64_t axis, bool hides) {
    auto rounded = [&](Value value) { return narrow.isF16() ? widen(narrowed(value)) : value; };
    Value most = ReduceOp::create(builder, location, ReduceKind::max, x, axis);
    // A row of -inf alone keeps its -inf as the shift: -inf next to a finite number has an exponential and a gradient
    // of 0.
    if (hides)
      most = binary(BinaryKind::max, most, lowest(typeOf(most)));
    Value power = rounded(unary(UnaryKind::exp, sub(x, repeat(most, typeOf(x), axis))));
    Value sum = rounded(ReduceOp::create(builder, location, ReduceKind::add, power, axis));
    // A visible row has a sum of at least 1, the exponential of its maximum.
    if (hides)
      sum = binary(BinaryKind::max, sum, number(0.5, typeOf(sum)));
    // One division a row instead of one an element.
    return mul(power, repeat(unary(UnaryKind::reciprocal, sum), typeOf(x), axis));
  }
  /// The lowest finite number.
  Value lowest(TensorType type) {
    const llvm::fltSemantics &semantics = cast<FloatType>(type.getElementType()).getFloatSemantics();
    return number(APFloat::getLargest(semantics, /*Negative=*/true).convertToDouble(), type);
  }

  OpBuilder &builder;
  Location location;
  Type narrow;
};

SmallVector<int64_t> getAxesFrom(int64_t axis, Value x) {
  return llvm::to_vector(llvm::seq(axis, typeOf(x).getRank()));
}

/// Shape rule of composites whose result has the type of their operand.
FailureOr<TensorType> deduceAlong(TensorType type, int64_t axis, Refusal refuse) {
  if (!isFloat(type.getElementType()))
    return refuse("needs floats, not ", type);
  if (!hasAxis(type, axis))
    return refuse("has no axis ", axis, " in ", type);
  return type;
}

} // namespace

FailureOr<TensorType> SoftmaxOp::deduce(Adaptor op, Refusal refuse) {
  return deduceAlong(typeOf(op.getOperand()), op.getAxis(), refuse);
}

FailureOr<SmallVector<Value>> SoftmaxOp::decompose(OpBuilder &builder) {
  Composer compose(builder, *this);
  return SmallVector<Value>{compose.narrowed(compose.softmax(compose.widen(getOperand()), getAxis()))};
}

FailureOr<TensorType> LogSoftmaxOp::deduce(Adaptor op, Refusal refuse) {
  return deduceAlong(typeOf(op.getOperand()), op.getAxis(), refuse);
}

FailureOr<SmallVector<Value>> LogSoftmaxOp::decompose(OpBuilder &builder) {
  Composer compose(builder, *this);
  Value x = compose.widen(getOperand());
  int64_t axis = getAxis();
  Value shifted = compose.sub(x, compose.reduceAndRepeat(ReduceKind::max, x, axis));
  Value sum = ReduceOp::create(builder, getLoc(), ReduceKind::add, compose.unary(UnaryKind::exp, shifted), axis);
  Value log = compose.repeat(compose.unary(UnaryKind::log, sum), typeOf(x), axis);
  return SmallVector<Value>{compose.narrowed(compose.sub(shifted, log))};
}

FailureOr<TensorType> LayerNormOp::deduce(Adaptor op, Refusal refuse) {
  return deduceAlong(typeOf(op.getOperand()), op.getAxis(), refuse);
}

FailureOr<SmallVector<Value>> LayerNormOp::decompose(OpBuilder &builder) {
  Composer compose(builder, *this);
  Value x = compose.widen(getOperand());
  SmallVector<int64_t> axes = getAxesFrom(getAxis(), x);
  Value centred = compose.sub(x, compose.repeat(compose.mean(x, axes), typeOf(x), axes));
  return SmallVector<Value>{compose.narrowed(compose.normalize(centred, axes, getEpsilon().convertToDouble()))};
}

FailureOr<TensorType> RmsNormOp::deduce(Adaptor op, Refusal refuse) {
  return deduceAlong(typeOf(op.getOperand()), op.getAxis(), refuse);
}

FailureOr<SmallVector<Value>> RmsNormOp::decompose(OpBuilder &builder) {
  Composer compose(builder, *this);
  Value x = compose.widen(getOperand());
  Value normal = compose.normalize(x, getAxesFrom(getAxis(), x), getEpsilon().convertToDouble());
  return SmallVector<Value>{compose.narrowed(normal)};
}

FailureOr<TensorType> GeluOp::deduce(Adaptor op, Refusal refuse) {
  TensorType type = typeOf(op.getOperand());
  if (!isFloat(type.getElementType()))
    return refuse("needs floats, not ", type);
  return type;
}

FailureOr<SmallVector<Value>> GeluOp::decompose(OpBuilder &builder) {
  Composer compose(builder, *this);
  Value x = compose.widen(getOperand());
  Value inner;
  if (getKind() == GeluKind::exact) {
    inner = compose.unary(UnaryKind::erf, compose.mul(x, 1 / std::numbers::sqrt2));
  } else {
    Value cubic = compose.mul(compose.mul(x, compose.mul(x, x)), 0.044715);
    inner = compose.unary(UnaryKind::tanh,
                          compose.mul(compose.add(x, cubic), std::numbers::sqrt2 * std::numbers::inv_sqrtpi));
  }
  Value twice = compose.add(inner, compose.number(1, typeOf(x)));
  return SmallVector<Value>{compose.narrowed(compose.mul(compose.mul(x, 0.5), twice))};
}

void AttentionOp::build(OpBuilder &builder, OperationState &state, Value query, Value key, Value value, Value mask,
                        double scale, sym::Expr causal, double softcap) {
  build(builder, state, query, key, value, mask, APFloat(scale), causal ? causal.attr() : sym::ExprAttr(),
        APFloat(softcap));
}

FailureOr<TensorType> AttentionOp::deduce(Adaptor op, Refusal refuse) {
  TensorType query = typeOf(op.getQuery()), key = typeOf(op.getKey()), value = typeOf(op.getValue());
  int64_t rank = query.getRank();
  auto fits = [&](TensorType other) {
    return other.getRank() == rank && other.getElementType() == query.getElementType() &&
           other.getShape().drop_back(2) == query.getShape().drop_back(2);
  };
  if (rank < 2 || !isFloat(query.getElementType()) || !fits(key) || !fits(value) ||
      query.getShape().back() != key.getShape().back() || key.getDim(rank - 2) != value.getDim(rank - 2))
    return refuse("can't attend with ", query, " to ", key, " and ", value);
  SmallVector<sym::Expr> shape(query.getShape());
  shape.back() = key.getDim(rank - 2);
  if (op.getMask()) {
    TensorType mask = typeOf(op.getMask());
    if (mask.getShape() != ArrayRef(shape) || (mask != query.withShape(shape) && !isBool(mask.getElementType())))
      return refuse("needs a mask of bools or floats in the shape of ", query.withShape(shape), ", not ", mask);
  }
  shape.back() = value.getShape().back();
  return query.withShape(shape);
}

FailureOr<SmallVector<Value>> AttentionOp::decompose(OpBuilder &builder) {
  Composer compose(builder, *this);
  int64_t rank = typeOf(getQuery()).getRank();
  Value scores = compose.contract(compose.widen(getQuery()), compose.widen(getKey()), rank - 1);
  scores = compose.mul(scores, getScale().convertToDouble());
  TensorType type = typeOf(scores);
  if (double cap = getSoftcap().convertToDouble(); cap > 0) {
    Value ratio = compose.binary(BinaryKind::div, scores, compose.number(cap, type));
    scores = compose.mul(compose.unary(UnaryKind::tanh, ratio), cap);
  }
  auto hide = [&](Value visible) {
    scores = compose.select(visible, scores, compose.number(-std::numeric_limits<double>::infinity(), type));
  };
  if (getMask() && isBool(getElementType(getMask())))
    hide(getMask());
  else if (getMask())
    scores = compose.add(scores, compose.widen(getMask()));
  if (sym::ExprAttr offset = getCausalAttr()) {
    Value last = compose.add(compose.coordinate(rank - 2, type), compose.size(offset.getExpr(), type));
    hide(CompareOp::create(builder, getLoc(), CompareKind::le, compose.coordinate(rank - 1, type), last));
  }
  Value result = compose.contract(compose.softmaxOfVisible(scores, rank - 1), compose.widen(getValue()), rank - 2);
  return SmallVector<Value>{compose.narrowed(result)};
}

} // namespace freestone::graph
