#ifndef FREESTONE_COMPILER_PLAN_COMBINER_H
#define FREESTONE_COMPILER_PLAN_COMBINER_H

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace freestone::tile {

/// An associative combination of an accumulator with a value: vector lanes may keep separate accumulators.
struct Combiner {
  mlir::Operation *op;
  /// The value combined with the accumulator.
  mlir::Value value;
  mlir::vector::CombiningKind kind;
  /// The neutral element.
  mlir::TypedAttr neutral;
};

/// The combiner of each accumulator of a reduction; nothing if one has none.
std::optional<llvm::SmallVector<Combiner>> getCombiners(tile::ComputeOp compute);

/// Accumulators that are replaced together or not at all, such as an extremum and its position. Vector lanes may keep
/// separate accumulators, which are finally combined by offering those of one lane to the next as a point's values.
struct Selection {
  /// Whether the values replace the accumulators; computed from both alone.
  mlir::Value takes;
  /// One for each accumulator.
  llvm::SmallVector<mlir::Value> values;
};

/// The selection of a reduction; nothing for reductions of another form.
std::optional<Selection> getSelection(tile::ComputeOp compute);

/// Whether vector lanes may keep separate accumulators.
bool canKeepLanes(tile::ComputeOp compute);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_COMBINER_H
