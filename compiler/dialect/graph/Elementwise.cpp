#include "compiler/dialect/graph/ShapeRules.h"

using namespace mlir;

namespace freestone::graph {

static bool accepts(UnaryKind kind, Type type) {
  if (isStorageOnly(type))
    return false;
  if (isFloat(type))
    return kind != UnaryKind::not_;
  if (isBool(type))
    return kind == UnaryKind::not_;
  return llvm::is_contained({UnaryKind::abs, UnaryKind::neg, UnaryKind::sign, UnaryKind::not_}, kind);
}

static bool accepts(BinaryKind kind, Type type) {
  if (isStorageOnly(type))
    return false;
  bool logical = kind == BinaryKind::and_ || kind == BinaryKind::or_ || kind == BinaryKind::xor_;
  bool shift = kind == BinaryKind::shl || kind == BinaryKind::shr;
  if (isFloat(type))
    return !logical && !shift;
  if (isBool(type))
    return logical;
  return kind != BinaryKind::atan2;
}

FailureOr<TensorType> UnaryOp::deduce(Adaptor op, Refusal refuse) {
  TensorType type = typeOf(op.getOperand());
  if (!accepts(op.getKind(), type.getElementType()))
    return refuse("has no '", stringifyUnaryKind(op.getKind()), "' of ", type);
  if (llvm::is_contained({UnaryKind::isnan, UnaryKind::isinf_pos, UnaryKind::isinf_neg}, op.getKind()))
    return type.withElementType(IntegerType::get(type.getContext(), 1));
  return type;
}

OpFoldResult UnaryOp::fold(FoldAdaptor) {
  auto inner = getOperand().getDefiningOp<UnaryOp>();
  if (!inner || inner.getKind() != getKind())
    return {};
  switch (getKind()) {
  case UnaryKind::neg:
  case UnaryKind::not_:
    return inner.getOperand();
  case UnaryKind::abs:
  case UnaryKind::floor:
  case UnaryKind::ceil:
  case UnaryKind::round:
  case UnaryKind::trunc:
  case UnaryKind::sign:
    return inner.getResult();
  default:
    return {};
  }
}

FailureOr<TensorType> BinaryOp::deduce(Adaptor op, Refusal refuse) {
  TensorType lhs = typeOf(op.getLhs()), rhs = typeOf(op.getRhs());
  if (lhs != rhs)
    return refuse("needs operands of one type, not ", lhs, " and ", rhs);
  if (!accepts(op.getKind(), lhs.getElementType()))
    return refuse("has no '", stringifyBinaryKind(op.getKind()), "' of ", lhs);
  return lhs;
}

/// Whether a number leaves all that it is added to as it is. What begins with 0.0, as sums of products do, is never
/// -0.0.
static bool isNeutralFor(Value other, Attribute number) {
  bool mayBeNegativeZero = isFloat(typeOf(other).getElementType()) && !other.getDefiningOp<ContractOp>() &&
                           !other.getDefiningOp<ConvolveOp>();
  return isSplatOf(number, -0.0) || (!mayBeNegativeZero && isSplatOf(number, 0.0));
}

/// Folds only where the result is bit-identical for every value, -0.0 and NaN included.
OpFoldResult BinaryOp::fold(FoldAdaptor op) {
  bool real = isFloat(typeOf(getLhs()).getElementType());
  switch (getKind()) {
  case BinaryKind::add:
    if (isNeutralFor(getLhs(), op.getRhs()))
      return getLhs();
    return isNeutralFor(getRhs(), op.getLhs()) ? getRhs() : Value();
  case BinaryKind::sub:
    return isSplatOf(op.getRhs(), 0.0) ? getLhs() : Value();
  case BinaryKind::mul:
    if (isSplatOf(op.getRhs(), 1.0))
      return getLhs();
    if (isSplatOf(op.getLhs(), 1.0))
      return getRhs();
    if (!real && isSplatOf(op.getRhs(), 0.0))
      return getRhs();
    return !real && isSplatOf(op.getLhs(), 0.0) ? getLhs() : Value();
  case BinaryKind::div:
  case BinaryKind::pow:
    return isSplatOf(op.getRhs(), 1.0) ? getLhs() : Value();
  case BinaryKind::and_:
  case BinaryKind::or_:
  case BinaryKind::max:
  case BinaryKind::min:
    return getLhs() == getRhs() ? getLhs() : Value();
  default:
    return {};
  }
}

FailureOr<TensorType> CompareOp::deduce(Adaptor op, Refusal refuse) {
  TensorType lhs = typeOf(op.getLhs()), rhs = typeOf(op.getRhs());
  if (lhs != rhs)
    return refuse("needs operands of one type, not ", lhs, " and ", rhs);
  return lhs.withElementType(IntegerType::get(lhs.getContext(), 1));
}

FailureOr<TensorType> SelectOp::deduce(Adaptor op, Refusal refuse) {
  TensorType condition = typeOf(op.getCondition()), onTrue = typeOf(op.getOnTrue()), onFalse = typeOf(op.getOnFalse());
  if (onTrue != onFalse)
    return refuse("needs values of one type, not ", onTrue, " and ", onFalse);
  if (!isBool(condition.getElementType()) || condition.getShape() != onTrue.getShape())
    return refuse("needs a condition of bools in the shape of ", onTrue, ", not ", condition);
  return onTrue;
}

OpFoldResult SelectOp::fold(FoldAdaptor op) {
  if (getOnTrue() == getOnFalse() || isSplatOf(op.getCondition(), 1))
    return getOnTrue();
  return isSplatOf(op.getCondition(), 0) ? getOnFalse() : Value();
}

FailureOr<TensorType> BitcastOp::deduce(Adaptor op, Refusal refuse) {
  TensorType from = typeOf(op.getOperand());
  Type to = op.getElementType();
  auto getBits = [](Type type) { return isBool(type) ? 8 : type.getIntOrFloatBitWidth(); };
  if (!isElementType(to) || getBits(to) != getBits(from.getElementType()))
    return refuse("can't read elements of ", from, " as ", to);
  return from.withElementType(to);
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}

FailureOr<TensorType> CastOp::deduce(Adaptor op, Refusal refuse) {
  if (!isElementType(op.getElementType()))
    return refuse("can't make elements of type ", op.getElementType());
  return typeOf(op.getOperand()).withElementType(op.getElementType());
}

/// Whether every value of type `from` is exact in type `to`.
static bool holds(Type to, Type from) {
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return to.isF64() || (to.isF32() && !from.isF64()) || to == from;
  if (isBool(to))
    return isBool(from);
  auto integer = dyn_cast<IntegerType>(to), narrow = dyn_cast<IntegerType>(from);
  if (!integer || !narrow)
    return false;
  bool sign = !narrow.isUnsigned() && !isBool(narrow);
  return sign ? !integer.isUnsigned() && narrow.getWidth() <= integer.getWidth()
              : narrow.getWidth() + !integer.isUnsigned() <= integer.getWidth();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  auto inner = getOperand().getDefiningOp<CastOp>();
  // Saturation and other modes of rounding change values that need no rounding.
  if (isFloat(getElementType()) && isStorageOnly(getElementType()))
    return {};
  if (inner && inner.getOperand().getType() == getType() && holds(inner.getElementType(), getElementType()))
    return inner.getOperand();
  return {};
}

} // namespace freestone::graph
