#include "compiler/plan/RowForm.h"

#include "compiler/plan/Scratch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

FailureOr<RowForm> RowForm::get(ProgramOp program, RowPasses passes, RowsTilingAttr tiling, std::string &why) {
  std::string reason;
  RowForm form{std::move(passes), {}, {}, {}};
  if (tiling.hasBlocks()) {
    FailureOr<RowBlocks> blocks = RowBlocks::get(form.passes, tiling, reason);
    why = "can't be computed in blocks of results: " + reason;
    if (failed(blocks))
      return failure();
    form.blocks = *blocks;
  } else if (tiling.getPacked() >= 0) {
    FailureOr<RowsAcross> across = RowsAcross::get(program, form.passes, tiling.getRowLoops(), tiling.getPacked(),
                                                   tiling.getLanes().front(), reason);
    why = "can't copy rows: " + reason;
    if (failed(across))
      return failure();
    form.across = *across;
  }
  form.grid = RowGrid::get(form.passes.entries.front().compute, tiling);
  return form;
}

RowForm RowForm::get(ProgramOp program, MapTilingAttr tiling) {
  SmallVector<ComputeOp> computes = program.getComputes();
  return {getMapPasses(computes), RowGrid::get(computes.front(), tiling), {}, {}};
}

RowForm RowForm::get(ProgramOp program) {
  if (auto map = program.getTiling<MapTilingAttr>())
    return get(program, map);
  auto tiling = program.getTiling<RowsTilingAttr>();
  std::string why;
  return *get(program, *getRowPasses(program, tiling.getRowLoops(), why), tiling, why);
}

Expr RowForm::getScratch() const {
  Type copied = Float32Type::get(grid.rows.context());
  Expr scratch = Expr::constant(grid.rows.context(), 0);
  for (Value kept : passes.kept) {
    Type storage = getStorageType(cast<graph::TensorType>(kept.getType()).getElementType());
    Expr length = getRowLength(kept.getDefiningOp<ComputeOp>(), grid.rowExtents.size());
    scratch = scratch + getScratchBytes(grid.getKeptElements(length), storage);
  }
  if (blocks && blocks->getCopiedInput())
    scratch = scratch + getScratchBytes(blocks->getCopied(), copied);
  return across ? scratch + getScratchBytes(across->elements, copied) : scratch;
}
