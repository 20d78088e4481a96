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

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_COMBINER_H
