#ifndef FREESTONE_COMPILER_TILE_LOWERING_LINES_H
#define FREESTONE_COMPILER_TILE_LOWERING_LINES_H

#include "compiler/tile/OpaqueBuilder.h"

namespace freestone::tile {

/// The lines of a tensor along an axis: `getCount()` lines of `length` elements with stride `inner`.
struct Lines {
  Lines(graph::TensorType type, int64_t axis);

  sym::Expr getCount() const { return outer * inner; }
  /// The beginning of a line in a tensor whose lines have `length` elements.
  mlir::Value getBegin(OpaqueBuilder &body, mlir::Value line, sym::Expr length) const;

  sym::Expr outer, length, inner;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_LOWERING_LINES_H
