#ifndef FREESTONE_COMPILER_PLAN_ROWFORM_H
#define FREESTONE_COMPILER_PLAN_ROWFORM_H

#include "compiler/plan/RowBlocks.h"
#include "compiler/plan/RowGrid.h"
#include "compiler/plan/RowsAcross.h"

namespace freestone::tile {

/// A program that is computed row by row, by `#tile.rows` or `#tile.map`.
struct RowForm {
  RowPasses passes;
  RowGrid grid;
  /// Of rows in blocks of results.
  std::optional<RowBlocks> blocks;
  std::optional<RowsAcross> across;

  /// Fails, with what it can't do in `why`, if the passes of a program can't be tiled so. The tiling has an entry for
  /// each of them.
  static mlir::FailureOr<RowForm> get(ProgramOp program, RowPasses passes, RowsTilingAttr tiling, std::string &why);
  static RowForm get(ProgramOp program, MapTilingAttr tiling);
  /// Of a program with a plan.
  static RowForm get(ProgramOp program);
  /// Bytes of a worker.
  sym::Expr getScratch() const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_ROWFORM_H
