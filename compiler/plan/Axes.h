#ifndef FREESTONE_COMPILER_PLAN_AXES_H
#define FREESTONE_COMPILER_PLAN_AXES_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Whether several of the computes are contractions, or stages of a chain: they are connected by tiles, and loops of
/// the same number may be different axes.
bool areConnected(llvm::ArrayRef<ComputeOp> computes);

/// The axes of computes that read each other: classes of loops that run over the same coordinates. They are numbered in
/// the order of the computes and of their loops. For the scores of an attention and their product with values,
///   S[b, m, n] = sum over d of Q[b, m, d] * K[b, n, d],  O[b, m, e] = sum over n of S[b, m, n] * V[b, n, e]
/// b is 0, m 1, n 2, d 3 and e 4.
class Axes {
public:
  /// Fails, with a reason in `why`, unless computes read each other's results at bare loops.
  static mlir::FailureOr<Axes> get(llvm::ArrayRef<ComputeOp> computes, std::string &why);

  unsigned size() const { return extents.size(); }
  sym::Expr getExtent(unsigned axis) const { return extents[axis]; }
  /// One a loop.
  llvm::ArrayRef<unsigned> of(ComputeOp compute) const { return axes.find(compute)->second; }
  llvm::ArrayRef<unsigned> ofResult(ComputeOp compute) const {
    return of(compute).take_front(compute.getNumParallel());
  }
  llvm::ArrayRef<unsigned> ofReductions(ComputeOp compute) const {
    return of(compute).drop_front(compute.getNumParallel());
  }

private:
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>> axes;
  llvm::SmallVector<sym::Expr> extents;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_AXES_H
