#ifndef FREESTONE_COMPILER_PLAN_CHAINTILES_H
#define FREESTONE_COMPILER_PLAN_CHAINTILES_H

#include "compiler/plan/ChainForm.h"

namespace freestone::tile {

/// The geometry of a tiled chain: tiles are pictures times blocks of rows of the last stage's results, row-major.
struct ChainTiles {
  sym::Expr rowBlocks, rowStep, tiles;
  /// The most rows that a tile has of each stage's results.
  llvm::SmallVector<sym::Expr> most;
  /// Elements of scratch for the results of each stage but the last.
  llvm::SmallVector<sym::Expr> between;
  /// Words of scratch for the pointers and sizes that stages are called with, and bytes for the scratch of each.
  sym::Expr words;
  llvm::SmallVector<sym::Expr> ofStages;

  static ChainTiles get(const ChainForm &form, llvm::ArrayRef<EdgeAttr> edges, int64_t rowUnit, int64_t leastTiles);
  /// With the programs of all stages, which get their plans. Fails with a diagnostic where a stage's tiling is none for
  /// it.
  static mlir::FailureOr<ChainTiles> get(const ChainForm &form, StagesAttr tiling, ProgramOp program,
                                         llvm::MutableArrayRef<StageProgram> stages);
  /// Bytes of scratch of a worker.
  sym::Expr getScratch(const ChainForm &form) const;
};

/// The programs of all stages, without plans. Fails with a diagnostic.
mlir::FailureOr<llvm::SmallVector<StageProgram>> makeStages(const ChainForm &form, ProgramOp program);

/// The most points that a stage's loop over rows, or over rows and pixels, has in a tile.
sym::Expr getMostExtent(const ChainForm &form, const ChainTiles &tiles, unsigned stage);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CHAINTILES_H
