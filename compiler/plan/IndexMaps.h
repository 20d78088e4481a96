#ifndef FREESTONE_COMPILER_PLAN_INDEXMAPS_H
#define FREESTONE_COMPILER_PLAN_INDEXMAPS_H

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "llvm/ADT/SmallBitVector.h"

namespace freestone::tile {

/// Every so many-th element at most is loaded as vectors that are shuffled; those farther apart are gathered.
inline constexpr int64_t mostInterleaved = 4;

/// Index expressions are size expressions with a symbol for each loop of a compute, so that the algebra of sizes also
/// composes, simplifies and compares index maps.
sym::Expr getLoopSymbol(mlir::MLIRContext *context, unsigned loop);
/// The loop of a symbol; nothing for sizes.
std::optional<unsigned> asLoop(llvm::StringRef symbol);
/// Whether an expression depends on any loop.
bool dependsOnLoops(sym::Expr expr);
/// Whether an expression contains a symbol.
bool dependsOnSymbol(sym::Expr expr, sym::Expr symbol);
/// The growth of an index with `symbol`; nothing if it is not constant.
std::optional<sym::Expr> getStride(sym::Expr index, sym::Expr symbol);
/// The loops that an expression depends on.
llvm::SmallVector<unsigned> getLoops(sym::Expr expr);
/// The loops that an operand's map depends on.
llvm::SmallBitVector getUsedLoops(ComputeOp op, unsigned input);
/// Replaces every loop by an expression.
sym::Expr substituteLoops(sym::Expr expr, llvm::ArrayRef<sym::Expr> loops);

/// The results of a map as expressions over loops; `symbols` are the sizes of its symbols.
llvm::SmallVector<sym::Expr> getIndices(mlir::AffineMap map, llvm::ArrayRef<sym::Expr> symbols);
llvm::SmallVector<sym::Expr> getIndices(ComputeOp op, unsigned input);
/// The indices of an operand at the loop positions `loops`.
llvm::SmallVector<sym::Expr> getIndices(ComputeOp op, unsigned input, llvm::ArrayRef<sym::Expr> loops);

/// An index that is linear in the loops: strides are sizes, independent of loops.
struct LinearIndex {
  /// One a loop; 0 where the index does not depend on it.
  llvm::SmallVector<sym::Expr> strides;
  sym::Expr offset;
};
std::optional<LinearIndex> asLinear(sym::Expr index, unsigned numLoops);
/// The memory index of operand `input`, its layout applied; nothing unless it is linear in the loops.
std::optional<LinearIndex> getStrides(ComputeOp op, unsigned input);

/// Turns index expressions into affine maps; all maps of a compute share its symbols.
class IndexMapBuilder {
public:
  IndexMapBuilder(mlir::MLIRContext *context, unsigned numLoops) : context(context), numLoops(numLoops) {}

  /// Fails where an index is no (semi-)affine function of the loops.
  mlir::FailureOr<mlir::AffineMap> getMap(llvm::ArrayRef<sym::Expr> indices);
  /// The sizes of the symbols of the maps made so far. Earlier maps have fewer symbols: see `getMaps`.
  llvm::ArrayRef<sym::Expr> getSymbols() const { return symbols; }

private:
  mlir::AffineExpr getSize(sym::Expr size);
  mlir::FailureOr<mlir::AffineExpr> getAffine(sym::Expr expr);

  mlir::MLIRContext *context;
  unsigned numLoops;
  llvm::SmallVector<sym::Expr> symbols;
};

/// The iteration space of a compute, each loop from 0 to below its extent: decides properties of all its points.
class LoopSpace {
public:
  LoopSpace(llvm::ArrayRef<sym::Expr> extents, const sym::Bounds &sizes) : extents(extents), sizes(sizes) {}

  /// An expression of equal value at every point, without the divisions that the ranges of loops decide.
  sym::Expr simplify(sym::Expr index) const;
  /// Whether 0 <= index < extent at every point.
  bool isInside(sym::Expr index, sym::Expr extent) const;
  /// The coordinates in `to` of the element at `indices` of `from`, two shapes of the same elements in row-major order.
  llvm::SmallVector<sym::Expr> reshape(llvm::ArrayRef<sym::Expr> indices, llvm::ArrayRef<sym::Expr> from,
                                       llvm::ArrayRef<sym::Expr> to) const;

private:
  bool isNonNegative(sym::Expr index) const;
  sym::Expr simplifyDivision(sym::Expr dividend, sym::Expr divisor) const;

  llvm::SmallVector<sym::Expr> extents;
  const sym::Bounds &sizes;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_INDEXMAPS_H
