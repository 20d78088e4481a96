#ifndef FREESTONE_COMPILER_PLAN_BODYDEPENDENCES_H
#define FREESTONE_COMPILER_PLAN_BODYDEPENDENCES_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// The way in which a value of a body depends on a quantity F, or on M with F = exp(-M).
enum class Dependence {
  none,
  /// It is M.
  exponent,
  /// x - M.
  distance,
  /// y * F.
  factor,
  /// Zero: has any factor.
  zero,
  other,
};

/// Dependences of the values of one body, from those of its arguments.
class BodyDependences {
public:
  void set(mlir::Value argument, Dependence dependence) { known[argument] = dependence; }
  Dependence get(mlir::Value value);
  bool isProportional(mlir::Value value);

private:
  Dependence derive(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, Dependence> known;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_BODYDEPENDENCES_H
