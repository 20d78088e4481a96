#include "compiler/tile/Scalars.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using freestone::graph::UnaryKind;

namespace freestone::tile {

static Value emitFloatUnary(ImplicitLocOpBuilder &b, UnaryKind kind, Value x) {
  auto constant = [&](double value) { return emitConstant(b, x.getType(), value); };
  auto isInfinity = [&](bool negative) -> Value {
    auto type = cast<FloatType>(x.getType());
    Value infinity =
        arith::ConstantOp::create(b, FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics(), negative)));
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, infinity);
  };
  switch (kind) {
  case UnaryKind::abs:
    return math::AbsFOp::create(b, x);
  case UnaryKind::neg:
    return arith::NegFOp::create(b, x);
  case UnaryKind::exp:
    return math::ExpOp::create(b, x);
  case UnaryKind::exp2:
    return math::Exp2Op::create(b, x);
  case UnaryKind::log:
    return math::LogOp::create(b, x);
  case UnaryKind::log1p:
    return math::Log1pOp::create(b, x);
  case UnaryKind::expm1:
    return math::ExpM1Op::create(b, x);
  case UnaryKind::sqrt:
    return math::SqrtOp::create(b, x);
  case UnaryKind::rsqrt:
    return math::RsqrtOp::create(b, x);
  case UnaryKind::reciprocal:
    return arith::DivFOp::create(b, constant(1), x);
  case UnaryKind::sin:
    return math::SinOp::create(b, x);
  case UnaryKind::cos:
    return math::CosOp::create(b, x);
  case UnaryKind::tan:
    return math::TanOp::create(b, x);
  case UnaryKind::asin:
    return math::AsinOp::create(b, x);
  case UnaryKind::acos:
    return math::AcosOp::create(b, x);
  case UnaryKind::atan:
    return math::AtanOp::create(b, x);
  case UnaryKind::sinh:
    return math::SinhOp::create(b, x);
  case UnaryKind::cosh:
    return math::CoshOp::create(b, x);
  case UnaryKind::tanh:
    return math::TanhOp::create(b, x);
  case UnaryKind::asinh:
    return math::AsinhOp::create(b, x);
  case UnaryKind::acosh:
    return math::AcoshOp::create(b, x);
  case UnaryKind::atanh:
    return math::AtanhOp::create(b, x);
  case UnaryKind::erf:
    return math::ErfOp::create(b, x);
  case UnaryKind::floor:
    return math::FloorOp::create(b, x);
  case UnaryKind::ceil:
    return math::CeilOp::create(b, x);
  case UnaryKind::round:
    return math::RoundEvenOp::create(b, x);
  case UnaryKind::trunc:
    return math::TruncOp::create(b, x);
  case UnaryKind::sign: {
    // The sign of zeros and NaN is the operand itself.
    Value zero = constant(0);
    Value negative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, zero);
    Value positive = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, zero);
    Value below = arith::SelectOp::create(b, negative, constant(-1), x);
    return arith::SelectOp::create(b, positive, constant(1), below);
  }
  case UnaryKind::isnan:
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  case UnaryKind::isinf_pos:
    return isInfinity(false);
  case UnaryKind::isinf_neg:
    return isInfinity(true);
  default:
    return {};
  }
}

static Value emitIntegerUnary(ImplicitLocOpBuilder &b, UnaryKind kind, Value x, Type element) {
  Value zero = emitConstant(b, x.getType(), 0);
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  auto isNegative = [&]() -> Value { return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, zero); };
  switch (kind) {
  case UnaryKind::abs:
    if (isUnsigned)
      return x;
    return arith::SelectOp::create(b, isNegative(), arith::SubIOp::create(b, zero, x), x);
  case UnaryKind::neg:
    return arith::SubIOp::create(b, zero, x);
  case UnaryKind::not_:
    return arith::XOrIOp::create(b, x, emitConstant(b, x.getType(), -1));
  case UnaryKind::sign: {
    Value positive = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, x, zero);
    Value one = arith::SelectOp::create(b, positive, emitConstant(b, x.getType(), 1), zero);
    if (isUnsigned)
      return one;
    return arith::SelectOp::create(b, isNegative(), emitConstant(b, x.getType(), -1), one);
  }
  case UnaryKind::floor:
  case UnaryKind::ceil:
  case UnaryKind::round:
  case UnaryKind::trunc:
    return x;
  default:
    return {};
  }
}

Value emitUnary(ImplicitLocOpBuilder &builder, UnaryKind kind, Value operand, Type element) {
  if (!isa<FloatType>(element))
    return emitIntegerUnary(builder, kind, operand, element);
  Type wide = getAccumulatorType(element);
  Value result = emitFloatUnary(builder, kind, emitCast(builder, operand, element, wide));
  if (!result || result.getType().isInteger(1))
    return result;
  return emitCast(builder, result, wide, element);
}

} // namespace freestone::tile
