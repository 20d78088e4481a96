#ifndef FREESTONE_COMPILER_PLAN_OUTERLOOPTILES_H
#define FREESTONE_COMPILER_PLAN_OUTERLOOPTILES_H

#include "compiler/plan/OuterLoopForm.h"

namespace freestone::tile {

/// The geometry of stages under an outer loop: tiles are blocks of its points.
struct OuterLoopTiles {
  /// Points of a tile, and the number of tiles.
  sym::Expr step, tiles;
  /// Elements of each buffer of scratch for results of stages, and the buffer of each result that lies there. Those of
  /// equal size whose live ranges do not overlap share one.
  llvm::SmallVector<sym::Expr> buffers;
  llvm::SmallVector<unsigned> bufferOf;
  /// Words of scratch for the pointers and sizes that stages are called with, and bytes for the scratch of each.
  sym::Expr words;
  llvm::SmallVector<sym::Expr> ofStages;

  static OuterLoopTiles get(const OuterLoopForm &form, int64_t elements, int64_t leastTiles);
  /// With the programs of all stages, which get their plans. Fails with a diagnostic where a stage's tiling is none for
  /// it.
  static mlir::FailureOr<OuterLoopTiles> get(const OuterLoopForm &form, OuterLoopAttr tiling, ProgramOp program,
                                             llvm::MutableArrayRef<StageProgram> stages);
  mlir::Type getElementType(const OuterLoopForm &form, unsigned buffer) const;
  /// Bytes of scratch of a worker.
  sym::Expr getScratch(const OuterLoopForm &form) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_OUTERLOOPTILES_H
