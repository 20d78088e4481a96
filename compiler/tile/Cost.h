#ifndef FREESTONE_COMPILER_TILE_COST_H
#define FREESTONE_COMPILER_TILE_COST_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// What one evaluation of a body costs, in additions: functions of `math` and divisions count more, constants and
/// positions nothing.
int64_t getBodyCost(ComputeOp op);

/// What may be computed again where it is needed rather than kept in memory: about what a load costs.
inline constexpr int64_t cheapBody = 8;

/// What may be computed again rather than written to memory, larger than any cache, and read again.
inline constexpr int64_t costOfStoring = 32;

/// The number of points of a space of loops.
sym::Expr getNumPoints(llvm::ArrayRef<sym::Expr> extents, mlir::MLIRContext *context);

/// Whether the results depend on weights and constants alone, and on no size that a run brings: they are the same in
/// every run.
bool isWeightOnly(ComputeOp op);
bool isWeightOnly(mlir::Value tensor);

/// Sizes that only a run brings, for comparing bytes: the hint that a function gives for a symbol, else a typical size
/// within its bounds.
class TypicalSizes {
public:
  /// Of sizes of which nothing is known.
  TypicalSizes() = default;
  /// Of the function that `op` is or stands in.
  explicit TypicalSizes(mlir::Operation *op);

  /// Nothing where the number leaves 64 bits.
  std::optional<int64_t> evaluate(sym::Expr size) const;
  /// The bytes of a tensor, its layout's padding included.
  int64_t getBytes(graph::TensorType type) const;

private:
  llvm::StringMap<int64_t> sizes;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_COST_H
