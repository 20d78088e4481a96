#ifndef FREESTONE_COMPILER_TILE_ROWFACTORS_H
#define FREESTONE_COMPILER_TILE_ROWFACTORS_H

#include "compiler/tile/ConnectedForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace freestone::tile {

/// Values of each row, complete only behind all columns, to which the rows of a connection's sum are proportional: the
/// sum over k of f[m] * a[m, k] * b[k, n] is f[m] times the sum of a[m, k] * b[k, n]. A guard may hide whole rows.
class RowFactors {
public:
  /// Nothing if the rows depend on values of each row in another way.
  static std::optional<RowFactors> find(const ConnectedForm &form);

  /// Multiplies the results of the sum instead of its rows. Returns the computes that join the connection; `rows` is in
  /// it no more.
  llvm::SmallVector<ComputeOp> moveBehind(ConnectedForm &form);

  /// The compute that makes the rows.
  ComputeOp rows;

private:
  /// An operand that is a factor of whole rows, or the reciprocal of one.
  struct Factor {
    unsigned input;
    bool divides;
  };
  /// A condition of whole rows under which they are 0.
  struct Guard {
    mlir::arith::SelectOp select;
    bool hidesWhereMet;
    /// What the condition is computed of.
    llvm::SmallVector<unsigned> inputs;

    mlir::Value getElement() { return hidesWhereMet ? select.getFalseValue() : select.getTrueValue(); }
  };

  bool findGuard(const ConnectedForm &form);
  bool findFactors(const ConnectedForm &form);
  mlir::Value makeUnscaled(mlir::Type elementType, llvm::SmallVector<ComputeOp> &added);
  mlir::Value hide(mlir::ImplicitLocOpBuilder &builder, mlir::ValueRange inputs, mlir::Value zero, mlir::Value result);

  llvm::SmallVector<Factor> factors;
  std::optional<Guard> guard;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_ROWFACTORS_H
