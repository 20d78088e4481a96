#ifndef FREESTONE_COMPILER_GRAD_NUMBER_H
#define FREESTONE_COMPILER_GRAD_NUMBER_H

#include "mlir/IR/Value.h"
#include <optional>

namespace freestone::grad {

/// A hyperparameter: a compiled-in number, or a float of rank 0 of the program, which may change from step to step
/// without recompilation. f64 represents numbers such as 0.999 that f32 does not hold exactly enough.
class Number {
public:
  Number(double number) : number(number) {}
  Number(mlir::Value value) : value(value) {}

  /// Null where the number is compiled in.
  mlir::Value getValue() const { return value; }
  /// The number that is compiled in.
  std::optional<double> getConstant() const { return value ? std::nullopt : std::optional(number); }
  bool isConstant(double other) const { return !value && number == other; }

private:
  double number = 0;
  mlir::Value value;
};

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_NUMBER_H
