#ifndef FREESTONE_COMPILER_PLAN_CONTRACTIONTREE_H
#define FREESTONE_COMPILER_PLAN_CONTRACTIONTREE_H

#include "compiler/plan/DotProductLayout.h"

namespace freestone::tile {

/// Rows of memory that are whole pages apart share a set of L1, and few of the other caches.
inline constexpr int64_t pageBytes = 4096;

/// The axes of the tree of a single contraction. Each merges loops of the contraction, row-major: those that both
/// operands have, rows, columns, and those that are summed. An axis without loops has one point.
struct ContractionAxis {
  static constexpr unsigned outer = 0, rows = 1, columns = 2, steps = 3;
};

/// The tree of a contraction and its epilogue, read and built:
///   blocks of single outer points, if there are any; of rows, a share or so many; and of panels of columns: all dealt
///     blocks of steps: packed rows, and blocks of panels: packed columns unless they are stored so, the product, and
///     what is evaluated of its sums unless they are the result.
/// The panels of columns that are together may be packed before the blocks of them instead. What is evaluated stands
/// within blocks of single rows and vectors of columns. Blocks of panels may stand within those of strips, with what is
/// evaluated behind them, panel by panel of each row: several panels' columns, of some rows.
struct ContractionTree {
  explicit ContractionTree(mlir::Attribute kernel);

  /// The block that the micro-kernel computes.
  MicroKernelAttr kernel;
  /// The micro-kernel, if it sums dot products; null if it multiplies and adds vectors.
  DotProductKernelAttr dotProducts;
  bool hasOuter = false;
  /// Of rows of a block; null where products are split: it has `mostRows` at most.
  ShareAttr share;
  int64_t mostRows = 0;
  /// Panels that are computed together; steps of a block at most, and those of which a block's are a multiple.
  int64_t panels = 1, depth = 1, depthUnit = 1;
  /// The operands of rows and of columns; without a value, they are stored as the micro-kernel reads them.
  std::optional<int64_t> rows, columns;
  /// Whether the columns of all panels that are together are packed before these are computed; whether they stay
  /// together or not at all, rather than in groups.
  bool packsRuns = false, keepsWhole = false;
  /// Whether panels go backwards in odd iterations of a loop around.
  bool alternates = false;
  /// Most elements of packed rows and columns that stay for later tiles; 0: none do.
  int64_t keptRows = 0, keptColumns = 0;
  /// Panels of columns that are packed at once, where steps of k are whole pages apart in memory; elements of columns
  /// beyond which they come from memory.
  int64_t packedTogether = 1, farColumns = 0;
  /// Rows that read columns in place at most, and columns that read rows so. The panels of a strip, and the most steps
  /// of runs in strips; 0: there are none.
  int64_t streamedRows = 0, streamedColumns = 0, stripPanels = 1, stripDepth = 0;
  MultiplyAttr multiply;
  /// Null if the product is written to the result; else the vectors that are evaluated together.
  EvaluateAttr evaluate;
  int64_t together = 1;

  /// Fails, with a reason in `why`, if a tree is no such one.
  static mlir::FailureOr<ContractionTree> get(TreeTilingAttr tiling, std::string &why);
  /// Nothing for other trees and forms.
  static std::optional<ContractionTree> get(mlir::Attribute tiling);
  /// The same of kernels that multiply and add alone.
  static std::optional<ContractionTree> getMultiplyAdds(mlir::Attribute tiling);
  /// Whether a program's tiling, or one that it chooses from, is such a tree that alternates.
  static bool alternate(mlir::Attribute tiling);
  /// The tree of a form with a kernel and what else follows from both, without sizes and the product. What is evaluated
  /// prefetches so many rows `ahead`.
  static ContractionTree of(ContractionForm &form, mlir::Attribute kernel, int64_t ahead);
  TreeTilingAttr build() const;
  /// Fails, with a reason in `why`, if it does not compute a contraction with so many computes in all.
  mlir::LogicalResult verify(ContractionForm &form, size_t computes, std::string &why) const;
  /// Steps of which rows of a block are a multiple.
  int64_t getRowUnit() const { return dotProducts ? kernel.getRows() : 1; }
  /// Whether several panels of a form's columns may be packed at once.
  bool mayPackTogether(ContractionForm &form, int64_t wordSteps) const;
  /// Whether the same code serves both: they differ in sizes alone.
  bool sharesCode(const ContractionTree &other) const;

private:
  bool areColumnsStored(ContractionForm &form) const;
  bool areRowsStored(ContractionForm &form) const { return dotProducts && form.areRowsStrips(); }
  mlir::LogicalResult verifyDotProducts(ContractionForm &form, std::string &why) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CONTRACTIONTREE_H
