#ifndef FREESTONE_COMPILER_DIALECT_TILE_REVERSEDLOOPS_H
#define FREESTONE_COMPILER_DIALECT_TILE_REVERSEDLOOPS_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// On a loop with `trips`: the numbers of those scanned tensors that it goes along from their last slice to the first.
inline constexpr llvm::StringLiteral reversedAttr = "tile.reversed";

inline bool isReversed(LoopOp loop, int64_t scanned) {
  auto numbers = loop->getAttrOfType<mlir::DenseI64ArrayAttr>(reversedAttr);
  return numbers && llvm::is_contained(numbers.asArrayRef(), scanned);
}

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_DIALECT_TILE_REVERSEDLOOPS_H
