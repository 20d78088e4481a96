#ifndef FREESTONE_COMPILER_PLAN_ROWBLOCKS_H
#define FREESTONE_COMPILER_PLAN_ROWBLOCKS_H

#include "compiler/plan/RowPasses.h"

namespace freestone::tile {

/// The geometry of a rows tiling with blocks of results: the last two row loops count rows and columns of results.
/// Vectors run along the last loop of the reduction. Blocks are those of `RowGrid`.
struct RowBlocks {
  ComputeOp reduction;
  unsigned rowLoop, columnLoop, reducedLoop;
  /// Rows and columns of a block.
  int64_t mostRows, mostColumns;

  /// Whether columns that are no whole block may be two or more, which are computed by two.
  bool mayHavePairs() const;

  /// An operand of the reduction that is packed: a copy of a matrix has its columns one after another.
  struct Packed {
    unsigned input;
    /// Elements in memory from one column, and from one step of the reduction, to the next.
    sym::Expr columnStride, stepStride;
    /// Elements of the copy from one column to the next: whole vectors.
    sym::Expr pitch;
    /// Of the copy.
    sym::Expr elements;
  };
  std::optional<Packed> packed;

  /// An operand with a border: a copy of what a matrix reads of it has the fill where the operand ends, so that nothing
  /// asks for ends while it sums.
  struct Picture {
    unsigned input;
    /// For every dimension but the last: its elements in the copy, and the copy's stride.
    llvm::SmallVector<sym::Expr> counts, strides;
    /// Elements between neighbours along the sum; as many runs of the last dimension are in the copy, whose elements
    /// are so far apart in memory. Elements of a run: whole vectors.
    int64_t stride;
    sym::Expr run;
    /// The place in the copy, over the loops of the reduction.
    sym::Expr place;
    /// Of the copy.
    sym::Expr elements;
  };
  std::optional<Picture> picture;

  /// The operand that is copied, if any is, and the elements of its copy.
  std::optional<unsigned> getCopiedInput() const;
  sym::Expr getCopied() const;

  /// Fails, with a reason in `why`, if the tiling has blocks that do not compute the program.
  static mlir::FailureOr<RowBlocks> get(const RowPasses &passes, RowsTilingAttr tiling, std::string &why);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_ROWBLOCKS_H
