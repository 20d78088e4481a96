#ifndef FREESTONE_COMPILER_EXPRESSIONS_ELEMENT_H
#define FREESTONE_COMPILER_EXPRESSIONS_ELEMENT_H

#include "compiler/dialect/sym/Expr.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"
#include <cmath>
#include <optional>
#include <string>

namespace freestone::expressions {

/// An element whose value is known during import: an integer that may depend on sizes, or a real number. Elements of
/// integer and bool tensors are always integers; those of float tensors only if converted from a size.
class Element {
public:
  Element(sym::Expr integer) : integer(integer) {}
  Element(double real) : real(real) {}

  bool isInteger() const { return bool(integer); }
  /// Of integers only.
  sym::Expr asExpr() const { return integer; }
  std::optional<int64_t> asConstantInteger() const { return integer ? integer.asConstant() : std::nullopt; }
  /// The number, unless it depends on sizes.
  std::optional<double> asReal() const {
    if (!integer)
      return real;
    std::optional<int64_t> value = integer.asConstant();
    return value ? std::optional<double>(*value) : std::nullopt;
  }
  bool isConstant() const { return !integer || integer.isConstant(); }

private:
  sym::Expr integer;
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
