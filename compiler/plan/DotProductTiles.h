#ifndef FREESTONE_COMPILER_PLAN_DOTPRODUCTTILES_H
#define FREESTONE_COMPILER_PLAN_DOTPRODUCTTILES_H

#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// The geometry of a tiled contraction with dot products over words of neighbouring steps of k. Rows of A are packed in
/// strips, B in panels, both padded with zeros to whole groups of steps. Tiles are outer loops times row blocks times
/// column blocks, row-major. Packed operands are reused by a worker's next tiles: rows of A by all tiles of a row block
/// if k has one block, panels of B by all row blocks if scratch holds them.
struct DotProductTiles {
  /// Rows of a strip and columns of a panel: two tiles of a matrix unit.
  static constexpr int64_t unit = 32;
  /// Words of a row of a strip in a group, and words of a group of a strip or panel.
  static constexpr int64_t rowWords = 16, groupWords = unit * rowWords, wordBytes = 4;

  DotProductTilingAttr tiling;
  DotProductFactors factors;
  /// The factors of the kernel, which differ from those of the program where A is packed with its sign bit flipped:
  /// vectors multiply unsigned by signed integers only.
  DotProductFactors multiplied;
  sym::Expr rowBlocks, columnBlocks, depthBlocks;
  sym::Expr tiles;
  /// Elements of scratch for packed rows of A, packed panels of B and sums; of sums of columns if A is flipped.
  sym::Expr packedRows, packedColumns, sums, columnSums;

  /// The form has such factors.
  static DotProductTiles get(ContractionForm &form, DotProductTilingAttr tiling);
  /// Whether A is packed flipped. Every sum then has too much by the dot product of its column with `flippedZero`s.
  bool flipsRows() const { return multiplied != factors; }
  static constexpr int8_t flippedZero = -128;
  /// Steps of k of a word, and of a group of a strip or panel.
  int64_t getStepsOfWord() const { return factors.getStepsOfWord(); }
  int64_t getStepsOfGroup() const { return rowWords * getStepsOfWord(); }
  int64_t getGroupElements() const { return groupWords * getStepsOfWord(); }
  /// Bytes of scratch of a worker.
  sym::Expr getScratch() const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_DOTPRODUCTTILES_H
