#ifndef FREESTONE_COMPILER_TILE_COST_H
#define FREESTONE_COMPILER_TILE_COST_H

#include "compiler/dialect/sym/Bounds.h"
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

/// The bytes of a tensor, for comparing: a size that only a run brings counts as a typical one within its bounds.
int64_t estimateBytes(graph::TensorType type, const sym::Bounds &sizes);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_COST_H
