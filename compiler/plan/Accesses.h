#ifndef FREESTONE_COMPILER_PLAN_ACCESSES_H
#define FREESTONE_COMPILER_PLAN_ACCESSES_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// The elements that a tile touches, for every argument and result of a program: an expression n if tile t touches n
/// elements from t * n on, unit if unknown.
struct Accesses {
  llvm::SmallVector<mlir::Attribute> reads, writes;

  static Accesses getUnknown(ProgramOp program);
  /// For tiles of `perTile` consecutive points of the first `outer` loops.
  static Accesses get(ProgramOp program, unsigned outer, sym::Expr perTile);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_ACCESSES_H
