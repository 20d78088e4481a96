#ifndef FREESTONE_COMPILER_EXPRESSIONS_ELEMENT_H
#define FREESTONE_COMPILER_EXPRESSIONS_ELEMENT_H

#include "compiler/dialect/sym/Expr.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cmath>
#include <optional>
#include <string>

namespace freestone::expressions {

/// An element whose value is known during import: an integer that may depend on sizes, a fraction of two, or a real
/// number. Elements of integer and bool tensors are always integers; those of float tensors are integers if converted
/// from a size, and fractions if computed from sizes, or numbers that an input of the model states.
class Element {
public:
  Element(sym::Expr integer) : numerator(integer) {}
  Element(double real) : real(real) {}
  /// An integer where the denominator is 1, a real number where both are constant. The sign of the denominator may be
  /// unknown.
  static Element fraction(sym::Expr numerator, sym::Expr denominator);

  bool isInteger() const { return numerator && !denominator; }
  bool isFraction() const { return bool(denominator); }
  /// Of integers only.
  sym::Expr asExpr() const { return numerator; }
  /// Of fractions only.
  sym::Expr getNumerator() const { return numerator; }
  sym::Expr getDenominator() const { return denominator; }
  std::optional<int64_t> asConstantInteger() const { return isInteger() ? numerator.asConstant() : std::nullopt; }
  /// The number, unless it depends on sizes.
  std::optional<double> asReal() const {
    if (!numerator)
      return real;
    std::optional<int64_t> value = asConstantInteger();
    return value ? std::optional<double>(*value) : std::nullopt;
  }
  bool isConstant() const { return !numerator || (isInteger() && numerator.isConstant()); }

  /// The element with its expressions replaced.
  Element map(llvm::function_ref<sym::Expr(sym::Expr)> replace) const;

private:
  sym::Expr numerator, denominator;
  double real = 0;
};

/// The elements of a tensor, row-major. The tensor's shape is then constant.
using Content = llvm::SmallVector<Element>;

/// The nearest value of a type.
double roundTo(double value, mlir::Type type);
/// Our name of an element type: `f32`, `u8`, `f8e4m3fn`.
std::string typeName(mlir::Type type);

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_ELEMENT_H
