#ifndef FREESTONE_COMPILER_PLAN_INDEXMAPS_H
#define FREESTONE_COMPILER_PLAN_INDEXMAPS_H

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Index expressions are size expressions in which loop i of a compute stands as a symbol of its own, so that the one
/// algebra of sizes also composes, simplifies and compares index maps.
sym::Expr getLoopSymbol(mlir::MLIRContext *context, unsigned loop);
/// The loop that a symbol stands for, or nothing where it is a size.
std::optional<unsigned> asLoop(llvm::StringRef symbol);
/// Whether an expression depends on any loop.
bool dependsOnLoops(sym::Expr expr);
/// The loops that an expression depends on.
llvm::SmallVector<unsigned> getLoops(sym::Expr expr);
/// Replaces every loop by an expression.
sym::Expr substituteLoops(sym::Expr expr, llvm::ArrayRef<sym::Expr> loops);

/// The results of a map as expressions over loops; `symbols` are the sizes of its symbols.
llvm::SmallVector<sym::Expr> getIndices(mlir::AffineMap map, llvm::ArrayRef<sym::Expr> symbols);
llvm::SmallVector<sym::Expr> getIndices(ComputeOp op, unsigned input);
/// The same where the loops stand at `loops`.
llvm::SmallVector<sym::Expr> getIndices(ComputeOp op, unsigned input, llvm::ArrayRef<sym::Expr> loops);

/// An index that is a sum of loops times sizes that no loop changes, and an offset.
struct LinearIndex {
  /// One per loop; 0 where the index does not depend on it.
  llvm::SmallVector<sym::Expr> strides;
  sym::Expr offset;
};
std::optional<LinearIndex> asLinear(sym::Expr index, unsigned numLoops);
/// Where operand `input` is read in memory, its layout applied: nothing unless linear in the loops.
std::optional<LinearIndex> getStrides(ComputeOp op, unsigned input);

/// Makes affine maps of index expressions; all maps of a compute share its symbols.
class IndexMapBuilder {
public:
  IndexMapBuilder(mlir::MLIRContext *context, unsigned numLoops) : context(context), numLoops(numLoops) {}

  /// Fails where an index is no (semi-)affine function of the loops.
  mlir::FailureOr<mlir::AffineMap> getMap(llvm::ArrayRef<sym::Expr> indices);
  /// The sizes that the symbols of the maps made so far stand for. Maps made earlier have fewer symbols: see `getMaps`.
  llvm::ArrayRef<sym::Expr> getSymbols() const { return symbols; }

private:
  mlir::AffineExpr getSize(sym::Expr size);
  mlir::FailureOr<mlir::AffineExpr> getAffine(sym::Expr expr);

  mlir::MLIRContext *context;
  unsigned numLoops;
  llvm::SmallVector<sym::Expr> symbols;
};

/// The space of a compute's loops, each running from 0 to below its extent: decides what holds for all of its points.
class LoopSpace {
public:
  LoopSpace(llvm::ArrayRef<sym::Expr> extents, const sym::Bounds &sizes) : extents(extents), sizes(sizes) {}

  /// An expression of equal value at every point, with the divisions gone that the ranges of loops decide.
  sym::Expr simplify(sym::Expr index) const;
  /// Whether 0 <= index < extent at every point.
  bool isInside(sym::Expr index, sym::Expr extent) const;
  /// The coordinates in `to` of the element that stands at `indices` of `from`, two shapes of the same elements in
  /// order.
  llvm::SmallVector<sym::Expr> reshape(llvm::ArrayRef<sym::Expr> indices, llvm::ArrayRef<sym::Expr> from,
                                       llvm::ArrayRef<sym::Expr> to) const;

private:
  bool isNonNegative(sym::Expr index) const;
  sym::Expr simplifyDivision(sym::Expr dividend, sym::Expr divisor) const;

  llvm::SmallVector<sym::Expr> extents;
  const sym::Bounds &sizes;
};

/// Ranges of dimensions of two shapes whose products are equal, in order: what a reshape between them splits and
/// merges.
struct ReshapeGroup {
  unsigned fromBegin, fromEnd, toBegin, toEnd;
};
llvm::SmallVector<ReshapeGroup> getReshapeGroups(llvm::ArrayRef<sym::Expr> from, llvm::ArrayRef<sym::Expr> to);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_INDEXMAPS_H
