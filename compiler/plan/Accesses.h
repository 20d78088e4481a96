#ifndef FREESTONE_COMPILER_PLAN_ACCESSES_H
#define FREESTONE_COMPILER_PLAN_ACCESSES_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// The elements that a tile touches of every argument and result of a program: tile t those from t * n on where n is
/// their number, an attribute of an expression; unit where that is not known.
struct Accesses {
  llvm::SmallVector<mlir::Attribute> reads, writes;

  static Accesses getUnknown(ProgramOp program);
  /// Of tiles that are `perTile` consecutive points of the first `outer` loops.
  static Accesses get(ProgramOp program, unsigned outer, sym::Expr perTile);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_ACCESSES_H
