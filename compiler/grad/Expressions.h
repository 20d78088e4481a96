#ifndef FREESTONE_COMPILER_GRAD_EXPRESSIONS_H
#define FREESTONE_COMPILER_GRAD_EXPRESSIONS_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

// Arithmetic on values of the graph level in infix notation: `g * (1.0 - y * y)`. Shapes must be equal expressions,
// since no equality is learnt here; a tensor of rank 0 matches every shape, and a number takes the type of the other
// operand.
namespace freestone::grad {

using graph::BinaryKind;
using graph::CompareKind;
using graph::ReduceKind;
using graph::ScatterKind;
using graph::UnaryKind;
using llvm::ArrayRef;
using llvm::SmallVector;
using sym::Expr;

using Shape = SmallVector<Expr, 6>;

/// A value and the builder at whose insertion point expressions of it are built; null by default.
class Tensor {
public:
  Tensor() = default;
  Tensor(mlir::ImplicitLocOpBuilder &builder, mlir::Value value) : ir(&builder), content(value) {}

  explicit operator bool() const { return bool(content); }
  mlir::Value value() const { return content; }
  mlir::ImplicitLocOpBuilder &builder() const { return *ir; }
  graph::TensorType type() const { return llvm::cast<graph::TensorType>(content.getType()); }
  ArrayRef<Expr> shape() const { return type().getShape(); }
  int64_t rank() const { return type().getRank(); }
  Expr dim(int64_t axis) const { return type().getDim(axis); }
  mlir::Type elementType() const { return type().getElementType(); }

private:
  mlir::ImplicitLocOpBuilder *ir = nullptr;
  mlir::Value content;
};

// Elementwise.
Tensor unary(UnaryKind kind, Tensor x);
Tensor binary(BinaryKind kind, Tensor lhs, Tensor rhs);
Tensor compare(CompareKind kind, Tensor lhs, Tensor rhs);
Tensor select(Tensor condition, Tensor whenTrue, Tensor whenFalse);
/// x itself if it has this element type.
Tensor cast(Tensor x, mlir::Type type);
/// f16 and bf16 as f32, wider floats unchanged.
Tensor widen(Tensor x);
/// A splat.
Tensor splat(mlir::ImplicitLocOpBuilder &builder, double number, graph::TensorType type);
Tensor splatLike(double number, Tensor like);
/// The number of a float splat; nothing for other values.
std::optional<double> getSplat(mlir::Value value);
/// A size, as a scalar of this type.
Tensor size(mlir::ImplicitLocOpBuilder &builder, Expr value, mlir::Type type);

// Shape.
Expr constant(Tensor like, int64_t value);
Tensor broadcast(Tensor x, ArrayRef<Expr> shape, ArrayRef<int64_t> dims);
/// Broadcasts x along `axes` of a shape, which x does not have.
Tensor repeat(Tensor x, ArrayRef<Expr> shape, ArrayRef<int64_t> axes);
Tensor reshape(Tensor x, ArrayRef<Expr> shape);
Tensor transpose(Tensor x, ArrayRef<int64_t> permutation);
SmallVector<int64_t> invert(ArrayRef<int64_t> permutation);
Tensor slice(Tensor x, ArrayRef<Expr> starts, ArrayRef<Expr> sizes, ArrayRef<int64_t> steps);
/// Reverses the order along axes.
Tensor reverse(Tensor x, ArrayRef<int64_t> axes);
Tensor pad(Tensor x, double value, ArrayRef<Expr> low, ArrayRef<Expr> high, ArrayRef<int64_t> interior);
Tensor concat(ArrayRef<Tensor> operands, int64_t axis);
/// 0, 1, … along one axis of `shape`.
Tensor iota(mlir::ImplicitLocOpBuilder &builder, ArrayRef<Expr> shape, int64_t axis, mlir::Type type);

// Reductions and indexing.
Tensor reduce(ReduceKind kind, Tensor x, ArrayRef<int64_t> axes);
Tensor sum(Tensor x, ArrayRef<int64_t> axes);
/// Over all elements.
Tensor sum(Tensor x);
Tensor mean(Tensor x, ArrayRef<int64_t> axes);
/// A sum, broadcast back along the summed axes.
Tensor sumAndRepeat(Tensor x, ArrayRef<int64_t> axes);
Tensor meanAndRepeat(Tensor x, ArrayRef<int64_t> axes);
Tensor cumulate(ReduceKind kind, Tensor x, int64_t axis, bool exclusive, bool reverse);
Tensor contract(Tensor lhs, Tensor rhs, ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch,
                ArrayRef<int64_t> lhsContract, ArrayRef<int64_t> rhsContract, mlir::TypeAttr type = {});
Tensor gatherElements(Tensor x, Tensor indices, int64_t axis);
Tensor gatherNd(Tensor x, Tensor indices);
Tensor scatterElements(ScatterKind kind, Tensor x, Tensor indices, Tensor updates, int64_t axis);
Tensor scatterNd(ScatterKind kind, Tensor x, Tensor indices, Tensor updates);

#define FREESTONE_UNARY(NAME, KIND)                                                                                    \
  inline Tensor NAME(Tensor x) { return unary(UnaryKind::KIND, x); }
FREESTONE_UNARY(abs, abs)
FREESTONE_UNARY(exp, exp)
FREESTONE_UNARY(log, log)
FREESTONE_UNARY(log1p, log1p)
FREESTONE_UNARY(expm1, expm1)
FREESTONE_UNARY(sqrt, sqrt)
FREESTONE_UNARY(rsqrt, rsqrt)
FREESTONE_UNARY(sin, sin)
FREESTONE_UNARY(cos, cos)
FREESTONE_UNARY(sinh, sinh)
FREESTONE_UNARY(cosh, cosh)
FREESTONE_UNARY(tanh, tanh)
FREESTONE_UNARY(erf, erf)
FREESTONE_UNARY(floor, floor)
FREESTONE_UNARY(trunc, trunc)
FREESTONE_UNARY(sign, sign)
FREESTONE_UNARY(operator-, neg)
FREESTONE_UNARY(logicalNot, not_)
#undef FREESTONE_UNARY

#define FREESTONE_BINARY(NAME, FUNCTION, ...)                                                                          \
  inline Tensor NAME(Tensor lhs, Tensor rhs) { return FUNCTION(__VA_ARGS__, lhs, rhs); }                               \
  inline Tensor NAME(Tensor lhs, double rhs) { return FUNCTION(__VA_ARGS__, lhs, splatLike(rhs, lhs)); }               \
  inline Tensor NAME(double lhs, Tensor rhs) { return FUNCTION(__VA_ARGS__, splatLike(lhs, rhs), rhs); }
FREESTONE_BINARY(operator+, binary, BinaryKind::add)
FREESTONE_BINARY(operator-, binary, BinaryKind::sub)
FREESTONE_BINARY(operator*, binary, BinaryKind::mul)
FREESTONE_BINARY(operator/, binary, BinaryKind::div)
FREESTONE_BINARY(operator&, binary, BinaryKind::and_)
FREESTONE_BINARY(operator|, binary, BinaryKind::or_)
FREESTONE_BINARY(max, binary, BinaryKind::max)
FREESTONE_BINARY(min, binary, BinaryKind::min)
FREESTONE_BINARY(pow, binary, BinaryKind::pow)
FREESTONE_BINARY(operator<, compare, CompareKind::lt)
FREESTONE_BINARY(operator<=, compare, CompareKind::le)
FREESTONE_BINARY(operator>, compare, CompareKind::gt)
FREESTONE_BINARY(operator>=, compare, CompareKind::ge)
FREESTONE_BINARY(equal, compare, CompareKind::eq)
#undef FREESTONE_BINARY

inline Tensor select(Tensor condition, Tensor whenTrue, double whenFalse) {
  return select(condition, whenTrue, splatLike(whenFalse, whenTrue));
}
inline Tensor select(Tensor condition, double whenTrue, Tensor whenFalse) {
  return select(condition, splatLike(whenTrue, whenFalse), whenFalse);
}
inline Tensor square(Tensor x) { return x * x; }

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_EXPRESSIONS_H
