#include "compiler/tile/CutPairs.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

PairTiling PairTiling::get(ContractionForm &form, const DeviceDescription &device) {
  MLIRContext *context = form.compute.getContext();
  auto constant = [&](int64_t value) { return Expr::constant(context, value); };
  Expr rows = form.getExtent(form.m), columns = form.getExtent(form.n), depth = form.getExtent(form.k);
  constexpr int64_t pairBytes = 2;

  PairTiling tiling;
  tiling.mostDepth = 2048;
  tiling.mostColumns = 8 * unit;
  // A panel takes two thirds of L1; rows of A, a quarter of L2.
  tiling.mostGroups = std::max<int64_t>(4, device.getL1Bytes() * 2 / 3 / (groupElements * pairBytes));
  tiling.mostRows = std::clamp<int64_t>(device.getL2Bytes() / 4 / (tiling.mostDepth * pairBytes) / unit, 4, 8) * unit;

  tiling.rowBlocks = Expr::ceilDiv(rows, tiling.mostRows);
  tiling.columnBlocks = Expr::ceilDiv(columns, tiling.mostColumns);
  tiling.depthBlocks = Expr::max(constant(1), Expr::ceilDiv(depth, tiling.mostDepth));
  tiling.tiles = form.getExtent(form.outer) * tiling.rowBlocks * tiling.columnBlocks;

  Expr rowStep = Expr::min(rows + unit, constant(tiling.mostRows));
  Expr depthStep = Expr::min(depth + unit, constant(tiling.mostDepth));
  tiling.packedRows = rowStep * depthStep;
  Expr most = constant(4 * device.getL2Bytes() / pairBytes);
  Expr columnStep = Expr::min(columns + unit, constant(tiling.mostColumns));
  tiling.packedColumns = Expr::max(depthStep * columnStep, Expr::min((columns + unit) * (depth + unit), most));
  tiling.sums = rowStep * columnStep;
  return tiling;
}

bool freestone::tile::isPairContraction(ContractionForm &form, const DeviceDescription &device) {
  if (device.pairUnit == PairUnit::none || !form.elementType.isF32())
    return false;
  return llvm::all_of(ArrayRef{form.lhs, form.rhs}, [&](Value factor) {
    std::optional<unsigned> input = form.getInput(factor);
    if (!input || form.compute.getFill(*input))
      return false;
    graph::TensorType type = form.compute.getInputType(*input);
    return type.getElementType().isBF16() && !type.getLayout();
  });
}

DictionaryAttr freestone::tile::cutPairs(ProgramOp program, ContractionForm &form, const DeviceDescription &device) {
  PairTiling tiling = PairTiling::get(form, device);
  Expr scratch = getScratchBytes(tiling.packedRows, 2) + getScratchBytes(tiling.packedColumns, 2) +
                 getScratchBytes(tiling.sums, 4);
  return getTiledPlan(program, "pairs", tiling.tiles, scratch);
}
