#include "compiler/plan/DotProductTiles.h"

#include "compiler/plan/Scratch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

DotProductTiles DotProductTiles::get(ContractionForm &form, DotProductTilingAttr tiling) {
  MLIRContext *context = tiling.getContext();
  auto constant = [&](int64_t value) { return Expr::constant(context, value); };
  Expr rows = form.getExtent(form.m), columns = form.getExtent(form.n), depth = form.getExtent(form.k);

  DotProductTiles tiles;
  tiles.tiling = tiling;
  tiles.factors = tiles.multiplied = *form.getDotProductFactors();
  if (tiling.getUnit() == DotProductUnit::vectors && tiles.factors.areIntegers)
    tiles.multiplied.isLhsSigned = !tiles.factors.isRhsSigned;
  tiles.rowBlocks = Expr::ceilDiv(rows, tiling.getRows());
  tiles.columnBlocks = Expr::ceilDiv(columns, tiling.getColumns());
  tiles.depthBlocks = Expr::max(constant(1), Expr::ceilDiv(depth, tiling.getDepth()));
  tiles.tiles = form.getExtent(form.outer) * tiles.rowBlocks * tiles.columnBlocks;

  Expr rowStep = Expr::min(rows + unit, constant(tiling.getRows()));
  Expr depthStep = Expr::min(depth + tiles.getStepsOfGroup(), constant(tiling.getDepth()));
  Expr columnStep = Expr::min(columns + unit, constant(tiling.getColumns()));
  Expr mostKept = constant(tiling.getKeptColumns());
  tiles.packedRows = rowStep * depthStep;
  tiles.packedColumns =
      Expr::max(depthStep * columnStep, Expr::min((columns + unit) * (depth + tiles.getStepsOfGroup()), mostKept));
  tiles.sums = rowStep * columnStep;
  tiles.columnSums = tiles.flipsRows() ? columns + unit : constant(0);
  return tiles;
}

Expr DotProductTiles::getScratch() const {
  MLIRContext *context = tiling.getContext();
  Type narrow = factors.getElementType(context), wide = factors.getSumType(context);
  return getScratchBytes(packedRows, narrow) + getScratchBytes(packedColumns, narrow) + getScratchBytes(sums, wide) +
         getScratchBytes(columnSums, wide);
}
