#ifndef FREESTONE_COMPILER_GRAD_NUMBER_H
#define FREESTONE_COMPILER_GRAD_NUMBER_H

#include "mlir/IR/Value.h"
#include <optional>

namespace freestone::grad {

/// A hyperparameter: a number that is compiled in, or a float of rank 0 of the program, which may then change from step
/// to step without another compilation. Narrow values lose what f32 does not hold of a number such as 0.999: f64 holds
/// it.
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
