#ifndef FREESTONE_COMPILER_PLAN_CONTRACTIONTILES_H
#define FREESTONE_COMPILER_PLAN_CONTRACTIONTILES_H

#include "compiler/plan/ContractionTree.h"

namespace freestone::tile {

/// About a page of results.
inline constexpr int64_t pageElements = 1024;

/// Rows that epilogues of slices have together at least, from several tiles where those have fewer: they take long one
/// after another, and are independent.
inline constexpr int64_t sliceRows = 16;

/// Columns of an update of few rows, whose results fit L1, and whose rows of B are long enough to be prefetched by the
/// processor.
inline constexpr int64_t updatedColumns = 2048;

/// The numbers that rows of a tile depend on: the micro-kernel's rows and columns, packed elements that take as much as
/// a row's sums for a panel, steps of a block of k, and those of `#tile.share`.
struct RowShare {
  int64_t height, width, sums, depth, elements, mostRows, leastTiles;

  static RowShare get(ContractionForm &form, const ContractionTree &tree);
};

/// The most rows of a tile at any sizes, on integers or size expressions, whose operations are `on`'s. A block of k of
/// them, and their sums for a panel, take the share of a cache; their results are in so many pages; there are tiles for
/// all workers.
template <typename Size, typename Operations>
Size getMostRows(const RowShare &share, Size outer, Size rows, Size columns, Size depth, const Operations &on) {
  int64_t height = share.height, width = share.width;
  Size ofRow = on.min(depth + on.constant(share.sums), on.constant(share.depth));
  Size fit = on.floorDiv(on.constant(share.elements / height), ofRow);
  Size panels = on.ceilDiv(columns, on.constant(width));
  Size spread = on.floorDiv(outer * panels * rows, on.constant(share.leastTiles * height));
  Size blocks = on.min(fit, spread);
  // As many rows as elements are no bound.
  int64_t most = share.mostRows / height - 1;
  if (most < share.elements / height / std::min(share.sums, share.depth)) {
    Size ofPage = on.min(columns + on.constant(width), on.constant(pageElements));
    blocks = on.min(blocks, on.floorDiv(on.constant(most * pageElements), ofPage));
  }
  return (blocks + on.constant(1)) * on.constant(height);
}

/// The geometry of a tiled contraction, whichever micro-kernel computes it. Tiles are outer loops times groups of
/// panels of columns times row blocks times panels of a group, row-major, where a group has as many panels as stay
/// packed together; a worker computes runs of neighbouring tiles of a row block together, and runs in order, so that
/// packed operands can be reused:
///   rows of A by all tiles of a row block, panels of B by all row blocks,
/// where scratch holds them for all of k. Where an epilogue reads slices of columns, a tile has the panel at the same
/// place of each slice, and panels are counted tile by tile. The emitted code computes the sizes of blocks: as
/// expressions they would grow too large.
struct ContractionTiles {
  /// The block of the micro-kernel; of variants, all have the same.
  MicroKernelAttr kernel;
  /// Whether it sums dot products of words, and how these read their operands.
  std::optional<DotProductLayout> dotProducts;
  /// Of elements in packed operands and of sums.
  mlir::Type packedType, sumType;
  /// Steps of k of a packed word, where products are of pairs; rows that read panels in place at most; rows ahead of
  /// which an epilogue prefetches; elements of a result beyond which its rows are prefetched during the product, 0:
  /// none.
  int64_t wordSteps = 1, streamedRows = 0, prefetchRows, bringBeyond = 0;
  /// Steps of k that each of these rows needs, where they are inner products.
  int64_t stepsOfRow = 0;
  /// Columns that read rows in place at most.
  int64_t streamedColumns = 0;
  /// Panels that are packed at once, where steps of k are whole pages apart in memory; elements of columns beyond which
  /// they come from memory, 0: there are none.
  int64_t packedTogether = 1, farColumns = 0;
  /// Panels that a strip of rows is computed for at a time, and the most steps of k of such runs; 0 if there are none.
  int64_t stripPanels = 1, stripDepth = 0;
  /// The panels of a tile, one of each slice; rows that an epilogue has at least.
  int64_t slices = 1, epilogueRows = 1;
  /// Tiles of a run; elements of rows and columns that may stay packed.
  sym::Expr runTiles, keptRows, keptColumns;
  /// Whether panels that do not stay packed all together may be in several groups.
  bool mayGroup;
  /// Whether sums stay in scratch for what follows on them; else the micro-kernel writes them to the result.
  bool keepsSums;
  /// The type of results that dot products write themselves; null if they do not.
  mlir::Type directType;
  /// Rows of which a block's are a multiple.
  int64_t rowUnit = 1;
  /// Steps of k in one step of a window; 1 if the vector operand is no window.
  int64_t taps = 1;
  /// Steps of k of which a block's are a multiple.
  int64_t depthUnit;
  /// Numbers that an element of A or B is packed as.
  int64_t parts = 1;
  /// `columnTiles` of each row block; `depthBlocks` is at least one, so that an empty sum is written as well.
  sym::Expr rowBlocks, columnTiles, depthBlocks;
  sym::Expr tiles;
  /// Elements of scratch for packed rows of A, packed panels of B and sums; for sums of columns, where A is packed with
  /// its sign flipped.
  sym::Expr packedRows, packedColumns, sums, columnSums;

  static ContractionTiles get(ContractionForm &form, const ContractionTree &tree);
  /// Of the contractions among variants, which share their code.
  static ContractionTiles get(ContractionForm &form, ChoiceAttr tiling);
  /// Columns of a tile.
  int64_t getTileWidth() const { return slices * kernel.getWidth(); }
  /// Bytes of scratch of a worker.
  sym::Expr getScratch() const;

private:
  /// Bounds of what blocks of about equal size take, of extents.
  void setScratch(const ContractionTree &tree, sym::Expr rows, sym::Expr columns, sym::Expr depth);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CONTRACTIONTILES_H
