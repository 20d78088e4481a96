#ifndef FREESTONE_COMPILER_PLAN_EPILOGUES_H
#define FREESTONE_COMPILER_PLAN_EPILOGUES_H

#include "compiler/dialect/tile/TileDialect.h"
#include "llvm/ADT/MapVector.h"

namespace freestone::tile {

/// What follows on the elements of a compute: later computes of its program that run over its parallel loops. Some may
/// run over one of several equal *slices* of its columns, the last of these loops, and read elements of several slices
/// at the same place: the gates of a recurrent layer's u units, made as Z[m, n] for n < 4 * u, by
///   C[m, j] = f(Z[m, j], Z[m, u + j], Z[m, 2 * u + j], …).
struct Epilogue {
  struct Place {
    /// The position of each loop, over those of the first compute; within a slice, its columns are those of slice 0.
    llvm::SmallVector<sym::Expr> loops;
    bool isOfSlice = false;
    /// By input, the slice of which it is an element, if the computes that make it run over all columns.
    llvm::SmallDenseMap<unsigned, int64_t> slices;
  };

  /// Nothing if a later compute has other points, or reads another's results elsewhere than at its own.
  static std::optional<Epilogue> get(ComputeOp first, llvm::ArrayRef<ComputeOp> later);

  /// The number of different slices that are read.
  int64_t countRead() const;

  /// 1 where all run over all columns.
  int64_t slices = 1;
  /// Of the first compute too.
  llvm::MapVector<mlir::Operation *, Place> places;

private:
  static constexpr int64_t wholeColumns = -1;
  bool add(ComputeOp compute, ComputeOp first);
  /// The loop along columns that an index is, and the slice that it is in.
  std::optional<std::pair<unsigned, int64_t>> getSlice(ComputeOp compute, sym::Expr index, sym::Expr columns);
};

/// Whether all of `later` can be computed as an epilogue on each element of `first` alone.
bool areEpilogues(ComputeOp first, llvm::ArrayRef<ComputeOp> later);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_EPILOGUES_H
