#ifndef FREESTONE_COMPILER_EXPRESSIONS_EXPRESSIONS_H
#define FREESTONE_COMPILER_EXPRESSIONS_EXPRESSIONS_H

#include "compiler/expressions/GraphBuilder.h"
#include "compiler/expressions/Operations.h"

// Arithmetic on tensors in infix notation: `x * clamp(x + 3, 0, 6) / 6`. Numbers take the type of the other operand.
namespace freestone::expressions {

#define FREESTONE_UNARY(NAME, KIND)                                                                                    \
  inline Tensor NAME(Tensor x) { return unary(UnaryKind::KIND, x); }
FREESTONE_UNARY(abs, abs)
FREESTONE_UNARY(exp, exp)
FREESTONE_UNARY(log, log)
FREESTONE_UNARY(log1p, log1p)
FREESTONE_UNARY(expm1, expm1)
FREESTONE_UNARY(exp2, exp2)
FREESTONE_UNARY(sqrt, sqrt)
FREESTONE_UNARY(rsqrt, rsqrt)
FREESTONE_UNARY(reciprocal, reciprocal)
FREESTONE_UNARY(sin, sin)
FREESTONE_UNARY(cos, cos)
FREESTONE_UNARY(sinh, sinh)
FREESTONE_UNARY(cosh, cosh)
FREESTONE_UNARY(tanh, tanh)
FREESTONE_UNARY(erf, erf)
FREESTONE_UNARY(floor, floor)
FREESTONE_UNARY(ceil, ceil)
FREESTONE_UNARY(round, round)
FREESTONE_UNARY(trunc, trunc)
FREESTONE_UNARY(sign, sign)
FREESTONE_UNARY(isNan, isnan)
FREESTONE_UNARY(operator-, neg)
FREESTONE_UNARY(logicalNot, not_)
#undef FREESTONE_UNARY

#define FREESTONE_BINARY(NAME, FUNCTION, ...)                                                                          \
  inline Tensor NAME(Tensor lhs, Tensor rhs) { return FUNCTION(__VA_ARGS__, lhs, rhs); }                               \
  inline Tensor NAME(Tensor lhs, double rhs) { return FUNCTION(__VA_ARGS__, lhs, beside(lhs, rhs)); }                  \
  inline Tensor NAME(Tensor lhs, Expr rhs) { return FUNCTION(__VA_ARGS__, lhs, beside(lhs, rhs)); }                    \
  inline Tensor NAME(double lhs, Tensor rhs) { return FUNCTION(__VA_ARGS__, beside(rhs, lhs), rhs); }
FREESTONE_BINARY(operator+, binary, BinaryKind::add)
FREESTONE_BINARY(operator-, binary, BinaryKind::sub)
FREESTONE_BINARY(operator*, binary, BinaryKind::mul)
FREESTONE_BINARY(operator/, binary, BinaryKind::div)
FREESTONE_BINARY(operator&, binary, BinaryKind::and_)
FREESTONE_BINARY(operator|, binary, BinaryKind::or_)
FREESTONE_BINARY(operator^, binary, BinaryKind::xor_)
FREESTONE_BINARY(max, binary, BinaryKind::max)
FREESTONE_BINARY(min, binary, BinaryKind::min)
FREESTONE_BINARY(pow, binary, BinaryKind::pow)
FREESTONE_BINARY(operator<, compare, CompareKind::lt)
FREESTONE_BINARY(operator<=, compare, CompareKind::le)
FREESTONE_BINARY(operator>, compare, CompareKind::gt)
FREESTONE_BINARY(operator>=, compare, CompareKind::ge)
FREESTONE_BINARY(equal, compare, CompareKind::eq)
FREESTONE_BINARY(notEqual, compare, CompareKind::ne)
#undef FREESTONE_BINARY

inline Tensor select(Tensor condition, Tensor whenTrue, double whenFalse) {
  return select(condition, whenTrue, beside(whenTrue, whenFalse));
}
inline Tensor select(Tensor condition, double whenTrue, Tensor whenFalse) {
  return select(condition, beside(whenFalse, whenTrue), whenFalse);
}
inline Tensor clamp(Tensor x, double low, double high) { return min(max(x, low), high); }
inline Tensor square(Tensor x) { return x * x; }
inline Tensor sigmoid(Tensor x) { return 1.0 / (1.0 + exp(-x)); }
inline Tensor relu(Tensor x) { return max(x, 0.0); }

inline Tensor sum(Tensor x, ArrayRef<int64_t> axes, bool keepDims = false) {
  return reduce(ReduceKind::add, x, axes, keepDims);
}
/// Over all elements: a scalar.
inline Tensor sum(Tensor x) { return sum(x, allAxes(x)); }
inline Tensor maximum(Tensor x, ArrayRef<int64_t> axes, bool keepDims = false) {
  return reduce(ReduceKind::max, x, axes, keepDims);
}
/// The sum over the number of elements, which may depend on sizes.
Tensor mean(Tensor x, ArrayRef<int64_t> axes, bool keepDims = false);
/// Over all elements: a scalar.
inline Tensor mean(Tensor x) { return mean(x, allAxes(x)); }
/// Reduced, then broadcast back to x's shape.
Tensor sumAndRepeat(Tensor x, ArrayRef<int64_t> axes);
Tensor meanAndRepeat(Tensor x, ArrayRef<int64_t> axes);

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_EXPRESSIONS_H
