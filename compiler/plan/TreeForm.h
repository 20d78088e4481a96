#ifndef FREESTONE_COMPILER_PLAN_TREEFORM_H
#define FREESTONE_COMPILER_PLAN_TREEFORM_H

#include "compiler/plan/ContractionForm.h"
#include "compiler/plan/RunningReductions.h"

namespace freestone::tile {

/// A compute of an evaluation, which runs in passes over an axis.
struct EvaluatedCompute {
  ComputeOp compute;
  /// Whether it has the axis of the passes: one value for each of its points, or a reduction of them. Other computes
  /// stand before the pass of their number.
  bool runsAlong = false, reduces = false;
  unsigned pass = 0;
};

/// All that follows from a tree of tiles for a program: ranges, intermediates, packed copies, scratch.
class TreeForm {
public:
  /// Fails, with a reason in `why`, if the tree does not compute the program, in order and each point once.
  static mlir::FailureOr<TreeForm> get(ProgramOp program, TreeTilingAttr tiling, std::string &why);

  /// An intermediate in scratch, as f32, for a range of one or two axes. Its elements stand in panels of the
  /// micro-kernel's width: column c of row r at (c / width * rows + r) * width + c % width.
  struct Buffer {
    unsigned columnAxis;
    std::optional<unsigned> rowAxis;
    /// The blocks of the axis of columns, and of rows, within which it lives.
    unsigned columnBlocks = 0, rowBlocks = 0;
    /// Most rows of the range; 1 without rows.
    sym::Expr rows;
    sym::Expr elements;
    /// Intermediates that live after each other share memory: the number of the storage.
    unsigned storage;
  };
  /// A packed operand.
  struct Pack {
    unsigned compute, input;
    enum Kind {
      /// Blocks of rows of a contraction, along `axis`.
      rows,
      /// Panels of the columns of a contraction, along `axis`.
      panels,
      /// An operand of an evaluation, placed as `buffer`.
      transposed,
    } kind;
    unsigned axis;
    sym::Expr elements;
    std::optional<Buffer> buffer;
  };

  TreeTilingAttr tiling;
  llvm::SmallVector<ComputeOp> computes;
  Axes axes;
  /// The dealt blocks, outermost first, and the number of tiles.
  llvm::SmallVector<BlocksAttr> dealt;
  sym::Expr tiles;
  llvm::MapVector<mlir::Value, Buffer> buffers;
  /// Elements of each storage.
  llvm::SmallVector<sym::Expr> storages;
  /// The storage of the latest correction of each running maximum that corrects others.
  llvm::MapVector<mlir::Value, unsigned> corrections;
  llvm::SmallVector<Pack> packs;
  /// The axes in blocks that are not dealt: the innermost ones.
  llvm::SmallDenseMap<unsigned, BlocksAttr> blocks;
  llvm::SmallDenseMap<unsigned, RunningReductions> running;
  /// Sums of which blocks may be left out: they are set to zero before the first block.
  llvm::SmallPtrSet<mlir::Value, 4> zeroed;
  /// Steps of the longest block of a reduced axis along which an intermediate is read in place, as rows of a
  /// contraction: down the rows of its panels, or across the columns of panels that have `panelRows` rows; 0 without
  /// any.
  sym::Expr stepsDown, stepsAcross, panelRows;

  /// The contraction with vectors along the axis of columns, so that `n` is that axis, `m` the other free one.
  ContractionForm getOriented(ComputeOp compute, unsigned columns) const;
  const Pack *getPack(unsigned compute, unsigned input) const;
  /// Whether the rows of a contraction are rows of an intermediate's panels, so that its steps run across them.
  bool readsAcross(const ContractionForm &oriented, const Buffer &rows) const {
    return rows.columnAxis == axes.of(oriented.compute)[oriented.k.front()];
  }
  /// The blocks of an axis that are not dealt; null if it is multiplied whole.
  BlocksAttr getBlocks(unsigned axis) const { return blocks.lookup(axis); }
  llvm::SmallVector<EvaluatedCompute> getPasses(EvaluateAttr node) const;
  /// The running maximum that corrects a value between blocks; null if none does.
  mlir::Value getMaximum(mlir::Value value) const;
  /// Whether a running maximum corrects others.
  bool isCorrected(mlir::Value value) const;
  /// The axis of which a value is reduced block by block; nothing if it is not.
  std::optional<unsigned> getRunningAxis(mlir::Value value) const;
  int64_t getWidth() const { return tiling.getMicroKernel().getWidth(); }
  mlir::Type getElementType() const { return mlir::Float32Type::get(tiling.getContext()); }
  /// Bytes of scratch of a worker.
  sym::Expr getScratch() const;

private:
  friend class TreeReader;
  TreeForm(TreeTilingAttr tiling, Axes axes) : tiling(tiling), axes(std::move(axes)) {}
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_TREEFORM_H
