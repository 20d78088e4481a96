#ifndef FREESTONE_COMPILER_TILE_CUTPAIRS_H
#define FREESTONE_COMPILER_TILE_CUTPAIRS_H

#include "compiler/tile/CutContraction.h"

namespace freestone::tile {

/// How a contraction of bf16 is cut whose products are summed in pairs of steps of k. Rows of A are packed in strips, B
/// in panels, both padded with zeros to whole groups of steps. Tiles are outer loops times blocks of rows times blocks
/// of columns, row-major; what a worker packed for one tile serves the next ones: rows of A all tiles of a block of
/// rows where k is one block, panels of B all blocks of rows where scratch holds them.
struct PairTiling {
  /// Rows of a strip, columns of a panel, and steps of a group: two tiles of a matrix unit.
  static constexpr int64_t unit = 32;
  /// A group of steps of a strip or panel.
  static constexpr int64_t groupElements = unit * unit;

  int64_t mostRows, mostColumns, mostDepth;
  /// Groups that stay in L1 with a panel's sums: a kernel sums no more at a time.
  int64_t mostGroups;
  sym::Expr rowBlocks, columnBlocks, depthBlocks;
  sym::Expr tiles;
  /// Elements of scratch for packed rows of A, packed panels of B (bf16) and sums (f32).
  sym::Expr packedRows, packedColumns, sums;

  static PairTiling get(ContractionForm &form, const DeviceDescription &device);
};

/// Whether the device sums products of both operands in pairs: they are bf16, read as they are.
bool isPairContraction(ContractionForm &form, const DeviceDescription &device);

/// The plan of a program that is such a contraction with its epilogue.
mlir::DictionaryAttr cutPairs(ProgramOp program, ContractionForm &form, const DeviceDescription &device);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_CUTPAIRS_H
