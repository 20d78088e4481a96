#include "compiler/tile/Scalars.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using freestone::graph::BinaryKind;
using freestone::graph::CompareKind;

namespace freestone::tile {

/// Powers with small integer exponents become products.
static Value emitPower(ImplicitLocOpBuilder &b, Value x, Value exponent) {
  FloatAttr constant;
  if (matchPattern(exponent, m_Constant(&constant))) {
    double value = constant.getValueAsDouble();
    if (value == 1)
      return x;
    if (value == 2)
      return arith::MulFOp::create(b, x, x);
    if (value == 3)
      return arith::MulFOp::create(b, arith::MulFOp::create(b, x, x), x);
  }
  return math::PowFOp::create(b, x, exponent);
}

/// The remainder with the divisor's sign, from the one with the dividend's sign.
static Value emitFloatMod(ImplicitLocOpBuilder &b, Value x, Value y) {
  Value zero = emitConstant(b, x.getType(), 0);
  Value remainder = arith::RemFOp::create(b, x, y);
  Value negative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, remainder, zero);
  Value divisorNegative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, y, zero);
  Value differ = arith::XOrIOp::create(b, negative, divisorNegative);
  Value nonZero = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, remainder, zero);
  Value moves = arith::AndIOp::create(b, differ, nonZero);
  return arith::SelectOp::create(b, moves, arith::AddFOp::create(b, remainder, y), remainder);
}

static Value emitFloatBinary(ImplicitLocOpBuilder &b, BinaryKind kind, Value x, Value y) {
  switch (kind) {
  case BinaryKind::add:
    return arith::AddFOp::create(b, x, y);
  case BinaryKind::sub:
    return arith::SubFOp::create(b, x, y);
  case BinaryKind::mul:
    return arith::MulFOp::create(b, x, y);
  case BinaryKind::div:
    return arith::DivFOp::create(b, x, y);
  case BinaryKind::rem:
    return arith::RemFOp::create(b, x, y);
  case BinaryKind::mod:
    return emitFloatMod(b, x, y);
  case BinaryKind::pow:
    return emitPower(b, x, y);
  case BinaryKind::max:
    return arith::MaximumFOp::create(b, x, y);
  case BinaryKind::min:
    return arith::MinimumFOp::create(b, x, y);
  case BinaryKind::atan2:
    return math::Atan2Op::create(b, x, y);
  default:
    return {};
  }
}

/// A divisor that neither traps nor overflows: 0 becomes 1, and so does -1 if the dividend is the smallest integer,
/// whose negation wraps to itself.
static Value emitSafeDivisor(ImplicitLocOpBuilder &b, Value x, Value y, bool isUnsigned) {
  Type type = x.getType();
  Value unsafe = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, y, emitConstant(b, type, 0));
  if (!isUnsigned) {
    Value smallest =
        arith::ConstantOp::create(b, IntegerAttr::get(type, APInt::getSignedMinValue(type.getIntOrFloatBitWidth())));
    Value isSmallest = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, smallest);
    Value isMinusOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, y, emitConstant(b, type, -1));
    unsafe = arith::OrIOp::create(b, unsafe, arith::AndIOp::create(b, isSmallest, isMinusOne));
  }
  return arith::SelectOp::create(b, unsafe, emitConstant(b, type, 1), y);
}

static Value emitIntegerDivision(ImplicitLocOpBuilder &b, BinaryKind kind, Value x, Value y, bool isUnsigned) {
  Type type = x.getType();
  Value divisor = emitSafeDivisor(b, x, y, isUnsigned), zero = emitConstant(b, type, 0);
  if (kind == BinaryKind::div) {
    Value quotient = isUnsigned ? arith::DivUIOp::create(b, x, divisor).getResult()
                                : arith::DivSIOp::create(b, x, divisor).getResult();
    Value byZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, y, zero);
    return arith::SelectOp::create(b, byZero, zero, quotient);
  }
  if (isUnsigned)
    return arith::RemUIOp::create(b, x, divisor);
  Value remainder = arith::RemSIOp::create(b, x, divisor);
  if (kind == BinaryKind::rem)
    return remainder;
  Value differ =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, arith::XOrIOp::create(b, remainder, divisor), zero);
  Value nonZero = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, remainder, zero);
  Value moves = arith::AndIOp::create(b, differ, nonZero);
  return arith::SelectOp::create(b, moves, arith::AddIOp::create(b, remainder, divisor), remainder);
}

static Value emitShift(ImplicitLocOpBuilder &b, BinaryKind kind, Value x, Value y, bool isUnsigned) {
  Type type = x.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value all = emitConstant(b, type, width - 1), zero = emitConstant(b, type, 0);
  Value within = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, y, all);
  Value amount = arith::SelectOp::create(b, within, y, all);
  if (kind == BinaryKind::shr && !isUnsigned)
    return arith::ShRSIOp::create(b, x, amount);
  Value shifted = kind == BinaryKind::shl ? arith::ShLIOp::create(b, x, amount).getResult()
                                          : arith::ShRUIOp::create(b, x, amount).getResult();
  return arith::SelectOp::create(b, within, shifted, zero);
}

/// By squaring, one step for each bit of the exponent. A negative exponent truncates the quotient.
static Value emitIntegerPower(ImplicitLocOpBuilder &b, Value x, Value exponent, bool isUnsigned) {
  Type type = x.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value one = emitConstant(b, type, 1), zero = emitConstant(b, type, 0), square = x, power = one;
  for (unsigned bit = 0; bit < width; ++bit) {
    Value mask = arith::ConstantOp::create(b, IntegerAttr::get(type, APInt::getOneBitSet(width, bit)));
    Value isSet = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, exponent, mask), zero);
    power = arith::SelectOp::create(b, isSet, arith::MulIOp::create(b, power, square), power);
    if (bit + 1 < width)
      square = arith::MulIOp::create(b, square, square);
  }
  if (isUnsigned)
    return power;
  // Negative powers of 1 and -1 equal the positive ones; all others are below 1 in magnitude.
  Value magnitudeIsOne =
      arith::OrIOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, one),
                           arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, emitConstant(b, type, -1)));
  Value vanishes = arith::AndIOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, exponent, zero),
                                         arith::XOrIOp::create(b, magnitudeIsOne, emitConstant(b, b.getI1Type(), 1)));
  return arith::SelectOp::create(b, vanishes, zero, power);
}

static Value emitIntegerBinary(ImplicitLocOpBuilder &b, BinaryKind kind, Value x, Value y, bool isUnsigned) {
  switch (kind) {
  case BinaryKind::add:
    return arith::AddIOp::create(b, x, y);
  case BinaryKind::sub:
    return arith::SubIOp::create(b, x, y);
  case BinaryKind::mul:
    return arith::MulIOp::create(b, x, y);
  case BinaryKind::div:
  case BinaryKind::rem:
  case BinaryKind::mod:
    return emitIntegerDivision(b, kind, x, y, isUnsigned);
  case BinaryKind::pow:
    return emitIntegerPower(b, x, y, isUnsigned);
  case BinaryKind::max:
    return isUnsigned ? arith::MaxUIOp::create(b, x, y).getResult() : arith::MaxSIOp::create(b, x, y).getResult();
  case BinaryKind::min:
    return isUnsigned ? arith::MinUIOp::create(b, x, y).getResult() : arith::MinSIOp::create(b, x, y).getResult();
  case BinaryKind::and_:
    return arith::AndIOp::create(b, x, y);
  case BinaryKind::or_:
    return arith::OrIOp::create(b, x, y);
  case BinaryKind::xor_:
    return arith::XOrIOp::create(b, x, y);
  case BinaryKind::shl:
  case BinaryKind::shr:
    return emitShift(b, kind, x, y, isUnsigned);
  default:
    return {};
  }
}

Value emitBinary(ImplicitLocOpBuilder &builder, BinaryKind kind, Value lhs, Value rhs, Type element) {
  if (!isa<FloatType>(element))
    return emitIntegerBinary(builder, kind, lhs, rhs, element.isUnsignedInteger() || element.isInteger(1));
  Type wide = getAccumulatorType(element);
  Value result =
      emitFloatBinary(builder, kind, emitCast(builder, lhs, element, wide), emitCast(builder, rhs, element, wide));
  return result ? emitCast(builder, result, wide, element) : result;
}

static arith::CmpFPredicate getFloatPredicate(CompareKind kind) {
  switch (kind) {
  case CompareKind::eq:
    return arith::CmpFPredicate::OEQ;
  case CompareKind::ne:
    return arith::CmpFPredicate::UNE;
  case CompareKind::lt:
    return arith::CmpFPredicate::OLT;
  case CompareKind::le:
    return arith::CmpFPredicate::OLE;
  case CompareKind::gt:
    return arith::CmpFPredicate::OGT;
  case CompareKind::ge:
    return arith::CmpFPredicate::OGE;
  }
  llvm_unreachable("every kind has a predicate");
}

static arith::CmpIPredicate getIntegerPredicate(CompareKind kind, bool isUnsigned) {
  using Predicate = arith::CmpIPredicate;
  switch (kind) {
  case CompareKind::eq:
    return Predicate::eq;
  case CompareKind::ne:
    return Predicate::ne;
  case CompareKind::lt:
    return isUnsigned ? Predicate::ult : Predicate::slt;
  case CompareKind::le:
    return isUnsigned ? Predicate::ule : Predicate::sle;
  case CompareKind::gt:
    return isUnsigned ? Predicate::ugt : Predicate::sgt;
  case CompareKind::ge:
    return isUnsigned ? Predicate::uge : Predicate::sge;
  }
  llvm_unreachable("every kind has a predicate");
}

Value emitCompare(ImplicitLocOpBuilder &builder, CompareKind kind, Value lhs, Value rhs, Type element) {
  if (!isa<FloatType>(element))
    return arith::CmpIOp::create(
        builder, getIntegerPredicate(kind, element.isUnsignedInteger() || element.isInteger(1)), lhs, rhs);
  Type wide = getAccumulatorType(element);
  return arith::CmpFOp::create(builder, getFloatPredicate(kind), emitCast(builder, lhs, element, wide),
                               emitCast(builder, rhs, element, wide));
}

} // namespace freestone::tile
