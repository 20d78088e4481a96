#ifndef FREESTONE_COMPILER_PLAN_COMBINER_H
#define FREESTONE_COMPILER_PLAN_COMBINER_H

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace freestone::tile {

/// An accumulator that is combined with a value by an associative operation: lanes may each keep their own.
struct Combiner {
  mlir::Operation *op;
  /// What is combined with the accumulator.
  mlir::Value value;
  mlir::vector::CombiningKind kind;
  /// Changes nothing when combined.
  mlir::TypedAttr neutral;
};

/// How each accumulator of a reduction is combined; nothing if one is not by such an operation.
std::optional<llvm::SmallVector<Combiner>> getCombiners(tile::ComputeOp compute);

/// Accumulators that a point's values replace all together or not at all, as the largest element and its position do:
/// lanes may each keep their own, and what one lane kept is offered to the next as if it were a point's.
struct Selection {
  /// Whether the values replace the accumulators; follows from both alone.
  mlir::Value takes;
  /// One for each accumulator.
  llvm::SmallVector<mlir::Value> values;
};

/// What a reduction selects; nothing if it does more than that.
std::optional<Selection> getSelection(tile::ComputeOp compute);

/// Whether lanes may each keep accumulators of their own.
bool canKeepLanes(tile::ComputeOp compute);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_COMBINER_H
