#ifndef FREESTONE_COMPILER_PLAN_CONTRACTIONTREE_H
#define FREESTONE_COMPILER_PLAN_CONTRACTIONTREE_H

#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// The axes of the tree of a single contraction. Each merges loops of the contraction, row-major: those that both
/// operands have, rows, columns, and those that are summed. An axis without loops has one point.
struct ContractionAxis {
  static constexpr unsigned outer = 0, rows = 1, columns = 2, steps = 3;
};

/// The tree of a contraction and its epilogue, read and built:
///   blocks of single outer points, if there are any; of rows, a share; and of panels of columns: all dealt
///     blocks of steps: packed rows, and blocks of panels: packed columns unless they are stored so, the product, and
///     what is evaluated of its sums unless they are the result.
struct ContractionTree {
  MicroKernelAttr kernel;
  bool hasOuter = false;
  /// Of rows of a block.
  ShareAttr share;
  /// Panels that are computed together; steps of a block at most, and those of which a block's are a multiple.
  int64_t panels = 1, depth = 1, depthUnit = 1;
  /// The operands of rows and of columns; without a value, columns are stored in panels.
  int64_t rows = 0;
  std::optional<int64_t> columns;
  /// Most elements of packed rows and columns that stay for later tiles; 0: none do.
  int64_t keptRows = 0, keptColumns = 0;
  MultiplyAttr multiply;
  /// Null if the product is written to the result.
  EvaluateAttr evaluate;

  /// Fails, with a reason in `why`, if a tree is no such one.
  static mlir::FailureOr<ContractionTree> get(TreeTilingAttr tiling, std::string &why);
  /// Nothing for other trees and forms.
  static std::optional<ContractionTree> get(mlir::Attribute tiling);
  TreeTilingAttr build() const;
  /// Fails, with a reason in `why`, if it does not compute a contraction with so many computes in all.
  mlir::LogicalResult verify(ContractionForm &form, size_t computes, std::string &why) const;
  /// Whether the same code serves both: they differ in sizes alone.
  bool sharesCode(const ContractionTree &other) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CONTRACTIONTREE_H
