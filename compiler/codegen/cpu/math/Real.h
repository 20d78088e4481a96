#ifndef FREESTONE_COMPILER_CODEGEN_CPU_MATH_REAL_H
#define FREESTONE_COMPILER_CODEGEN_CPU_MATH_REAL_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace freestone::codegen {

/// A condition for each lane: i1, or a vector of i1.
struct Mask {
  mlir::Value value;
};

/// A float or a vector of floats (f32 or f64) under construction, so that a polynomial reads like one. Operators emit
/// `arith` operations at the builder's insertion point, one rounding each, without reassociation. `fma` rounds once.
class Real {
public:
  Real(mlir::ImplicitLocOpBuilder &builder, mlir::Value value) : builder(&builder), value(value) {}

  mlir::Value get() const { return value; }
  mlir::Type type() const { return value.getType(); }
  bool isDouble() const { return mlir::getElementTypeOrSelf(type()).isF64(); }

  /// The same number in every lane.
  Real like(double number) const {
    mlir::TypedAttr scalar = builder->getFloatAttr(mlir::getElementTypeOrSelf(type()), number);
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type()))
      scalar = mlir::DenseElementsAttr::get(vector, scalar);
    return with(mlir::arith::ConstantOp::create(*builder, scalar));
  }

  Real operator+(Real other) const { return with(mlir::arith::AddFOp::create(*builder, value, other.value)); }
  Real operator-(Real other) const { return with(mlir::arith::SubFOp::create(*builder, value, other.value)); }
  Real operator*(Real other) const { return with(mlir::arith::MulFOp::create(*builder, value, other.value)); }
  Real operator/(Real other) const { return with(mlir::arith::DivFOp::create(*builder, value, other.value)); }
  Real operator-() const { return with(mlir::arith::NegFOp::create(*builder, value)); }
  Real operator+(double number) const { return *this + like(number); }
  Real operator-(double number) const { return *this - like(number); }
  Real operator*(double number) const { return *this * like(number); }
  Real operator/(double number) const { return *this / like(number); }

  Mask operator<(Real other) const { return compare(mlir::arith::CmpFPredicate::OLT, other); }
  Mask operator>(Real other) const { return compare(mlir::arith::CmpFPredicate::OGT, other); }
  Mask operator<=(Real other) const { return compare(mlir::arith::CmpFPredicate::OLE, other); }
  Mask operator>=(Real other) const { return compare(mlir::arith::CmpFPredicate::OGE, other); }
  Mask operator==(Real other) const { return compare(mlir::arith::CmpFPredicate::OEQ, other); }
  Mask operator<(double number) const { return *this < like(number); }
  Mask operator>(double number) const { return *this > like(number); }
  Mask operator<=(double number) const { return *this <= like(number); }
  Mask operator>=(double number) const { return *this >= like(number); }
  Mask operator==(double number) const { return *this == like(number); }

  /// Conversion f32 → f64, exact; and back, rounded once.
  Real widened() const { return with(mlir::arith::ExtFOp::create(*builder, typeOf(builder->getF64Type()), value)); }
  Real narrowed() const { return with(mlir::arith::TruncFOp::create(*builder, typeOf(builder->getF32Type()), value)); }

  /// The bits as integers of the same width, and back.
  mlir::Value bits() const { return mlir::arith::BitcastOp::create(*builder, typeOf(intType()), value); }
  Real fromBits(mlir::Value integer) const { return with(mlir::arith::BitcastOp::create(*builder, type(), integer)); }
  mlir::Value integer(int64_t number) const {
    mlir::TypedAttr scalar = builder->getIntegerAttr(intType(), number);
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(typeOf(intType())))
      scalar = mlir::DenseElementsAttr::get(vector, scalar);
    return mlir::arith::ConstantOp::create(*builder, scalar);
  }
  /// The same shape with another element type.
  mlir::Type typeOf(mlir::Type element) const {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type()))
      return vector.clone(element);
    return element;
  }
  mlir::Type intType() const { return builder->getIntegerType(isDouble() ? 64 : 32); }
  unsigned mantissaBits() const { return isDouble() ? 52 : 23; }
  int64_t exponentBias() const { return isDouble() ? 1023 : 127; }

  mlir::ImplicitLocOpBuilder &getBuilder() const { return *builder; }
  Real with(mlir::Value other) const { return Real(*builder, other); }

private:
  Mask compare(mlir::arith::CmpFPredicate predicate, Real other) const {
    return {mlir::arith::CmpFOp::create(*builder, predicate, value, other.value)};
  }

  mlir::ImplicitLocOpBuilder *builder;
  mlir::Value value;
};

/// a*b + c with one rounding.
inline Real fma(Real a, Real b, Real c) {
  return a.with(mlir::math::FmaOp::create(a.getBuilder(), a.get(), b.get(), c.get()));
}
inline Real fma(Real a, Real b, double c) { return fma(a, b, a.like(c)); }
inline Real fma(Real a, double b, Real c) { return fma(a, a.like(b), c); }
inline Real select(Mask mask, Real yes, Real no) {
  return yes.with(mlir::arith::SelectOp::create(yes.getBuilder(), mask.value, yes.get(), no.get()));
}
inline Real abs(Real x) { return x.with(mlir::math::AbsFOp::create(x.getBuilder(), x.get())); }
inline Real sqrt(Real x) { return x.with(mlir::math::SqrtOp::create(x.getBuilder(), x.get())); }
inline Real floor(Real x) { return x.with(mlir::math::FloorOp::create(x.getBuilder(), x.get())); }
inline Real roundToEven(Real x) { return x.with(mlir::math::RoundEvenOp::create(x.getBuilder(), x.get())); }
inline Real copySign(Real magnitude, Real sign) {
  return magnitude.with(mlir::math::CopySignOp::create(magnitude.getBuilder(), magnitude.get(), sign.get()));
}
inline Mask both(Real of, Mask a, Mask b) { return {mlir::arith::AndIOp::create(of.getBuilder(), a.value, b.value)}; }

/// coefficients[0] + x*coefficients[1] + …, by Horner's rule.
inline Real polynomial(Real x, llvm::ArrayRef<double> coefficients) {
  Real sum = x.like(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, coefficient);
  return sum;
}

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_MATH_REAL_H
