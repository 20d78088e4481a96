#include "compiler/tile/Scalars.h"

#include "compiler/dialect/tile/TileDialect.h"

using namespace mlir;

namespace freestone::tile {

TypedAttr getScalarAttr(Type element, double value) {
  Type type = getScalarType(element);
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(floatType, value);
  return IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), static_cast<int64_t>(value), /*isSigned=*/true,
                                      /*implicitTrunc=*/true));
}

Value emitConstant(ImplicitLocOpBuilder &builder, Type element, double value) {
  return arith::ConstantOp::create(builder, getScalarAttr(element, value));
}

TypedAttr getLowest(Type element) {
  if (auto type = dyn_cast<FloatType>(element))
    return FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));
  Type type = getScalarType(element);
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = element.isUnsignedInteger() || width == 1;
  return IntegerAttr::get(type, isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width));
}

TypedAttr getHighest(Type element) {
  if (auto type = dyn_cast<FloatType>(element))
    return FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics()));
  Type type = getScalarType(element);
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = element.isUnsignedInteger() || width == 1;
  return IntegerAttr::get(type, isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width));
}

Type getAccumulatorType(Type element) {
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(element.getContext());
  return element;
}

static Value emitFloatToFloat(ImplicitLocOpBuilder &b, Value x, Type to) {
  unsigned fromWidth = x.getType().getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  if (fromWidth == toWidth)
    return arith::TruncFOp::create(b, to, arith::ExtFOp::create(b, b.getF32Type(), x));
  if (fromWidth < toWidth)
    return arith::ExtFOp::create(b, to, x);
  return arith::TruncFOp::create(b, to, x);
}

/// Clamps to the range of the integer, within which the conversion is defined.
static Value emitFloatToInteger(ImplicitLocOpBuilder &b, Value x, Type to) {
  auto from = cast<FloatType>(x.getType());
  Type type = getScalarType(to);
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = to.isUnsignedInteger();
  auto constant = [&](const APInt &value, APFloat::roundingMode rounding) -> Value {
    APFloat converted(from.getFloatSemantics());
    converted.convertFromAPInt(value, !isUnsigned, rounding);
    return arith::ConstantOp::create(b, FloatAttr::get(from, converted));
  };
  APInt lowest = isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt highest = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  Value smallest = constant(lowest, APFloat::rmTowardZero), largest = constant(highest, APFloat::rmTowardZero);
  auto bound = [&](arith::CmpFPredicate inside, Value value, Value end) -> Value {
    return arith::SelectOp::create(b, arith::CmpFOp::create(b, inside, value, end), value, end);
  };
  Value defined = x;
  // NaN becomes 0, which is the lower bound of unsigned types.
  if (!isUnsigned) {
    Value number = arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, x, x);
    defined = arith::SelectOp::create(b, number, x, emitConstant(b, from, 0));
  }
  Value clamped = bound(arith::CmpFPredicate::OLT, bound(arith::CmpFPredicate::OGT, defined, smallest), largest);
  Value result = isUnsigned ? arith::FPToUIOp::create(b, type, clamped).getResult()
                            : arith::FPToSIOp::create(b, type, clamped).getResult();
  if (width <= from.getFPMantissaWidth())
    return result;
  // The largest float in range may be some way below the integer's end.
  Value above = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, defined, largest);
  Value end = arith::ConstantOp::create(b, IntegerAttr::get(type, highest));
  return arith::SelectOp::create(b, above, end, result);
}

Value emitCast(ImplicitLocOpBuilder &builder, Value operand, Type from, Type to) {
  if (from == to)
    return operand;
  ImplicitLocOpBuilder &b = builder;
  if (graph::isStorageOnly(from) || graph::isStorageOnly(to))
    return emitStoredCast(b, operand, from, to, {});
  Type type = getScalarType(to);
  bool fromFloat = isa<FloatType>(from), fromUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  if (to.isInteger(1)) {
    if (fromFloat) {
      Value wide = emitCast(b, operand, from, getAccumulatorType(from));
      return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, wide, emitConstant(b, wide.getType(), 0));
    }
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, operand, emitConstant(b, operand.getType(), 0));
  }
  if (fromFloat && isa<FloatType>(to))
    return emitFloatToFloat(b, operand, to);
  if (fromFloat)
    return emitFloatToInteger(b, emitCast(b, operand, from, getAccumulatorType(from)), to);
  if (from.isInteger(1) && isa<FloatType>(to))
    return arith::SelectOp::create(b, operand, emitConstant(b, to, 1), emitConstant(b, to, 0));
  if (isa<FloatType>(to))
    return fromUnsigned ? arith::UIToFPOp::create(b, to, operand).getResult()
                        : arith::SIToFPOp::create(b, to, operand).getResult();
  unsigned fromWidth = operand.getType().getIntOrFloatBitWidth(), toWidth = type.getIntOrFloatBitWidth();
  if (fromWidth == toWidth)
    return operand;
  if (fromWidth > toWidth)
    return arith::TruncIOp::create(b, type, operand);
  return fromUnsigned ? arith::ExtUIOp::create(b, type, operand).getResult()
                      : arith::ExtSIOp::create(b, type, operand).getResult();
}

Value emitSaturatingCast(ImplicitLocOpBuilder &b, Value operand, Type from, Type to) {
  if (from != to && (graph::isStorageOnly(from) || graph::isStorageOnly(to)))
    return emitStoredCast(b, operand, from, to, {.saturate = true});
  if (!isa<IntegerType>(from) || !isa<IntegerType>(to) || to.isInteger(1) || from.isInteger(1))
    return emitCast(b, operand, from, to);
  unsigned width = operand.getType().getIntOrFloatBitWidth(), toWidth = getScalarType(to).getIntOrFloatBitWidth();
  bool fromUnsigned = from.isUnsignedInteger(), toUnsigned = to.isUnsignedInteger();
  // Wide enough for the ends of both ranges.
  constexpr unsigned wide = 128;
  auto highest = [&](unsigned bits, bool isUnsigned) {
    return isUnsigned ? APInt::getMaxValue(bits).zext(wide) : APInt::getSignedMaxValue(bits).sext(wide);
  };
  auto lowest = [&](unsigned bits, bool isUnsigned) {
    return isUnsigned ? APInt::getZero(wide) : APInt::getSignedMinValue(bits).sext(wide);
  };
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, IntegerAttr::get(operand.getType(), value.trunc(width)));
  };
  APInt high = llvm::APIntOps::smin(highest(width, fromUnsigned), highest(toWidth, toUnsigned));
  if (fromUnsigned)
    return emitCast(b, arith::MinUIOp::create(b, operand, constant(high)), from, to);
  APInt low = llvm::APIntOps::smax(lowest(width, false), lowest(toWidth, toUnsigned));
  Value clamped = arith::MinSIOp::create(b, arith::MaxSIOp::create(b, operand, constant(low)), constant(high));
  return emitCast(b, clamped, from, to);
}

} // namespace freestone::tile
