#include "compiler/tile/RowLengths.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Rows enough to occupy all workers of a large machine.
static constexpr int64_t enoughRows = 32;

/// Whether a compute reads elements of rows that another one computes.
static bool passesElements(ArrayRef<ComputeOp> computes, unsigned rowLoops) {
  return llvm::any_of(computes, [&](ComputeOp reader) {
    return llvm::any_of(reader.getInputs(), [&](Value input) {
      auto producer = input.getDefiningOp<ComputeOp>();
      return producer && producer.getNumParallel() > rowLoops && llvm::is_contained(computes, producer);
    });
  });
}

/// `parts` are what a row consists of.
RowLengths::Fit RowLengths::fit(ArrayRef<graph::TensorType> parts, Expr rows) const {
  int64_t typical = 0, least = 0;
  for (graph::TensorType part : parts) {
    typical += sizes.getBytes(part);
    int64_t elementBytes = llvm::divideCeil(getStorageType(part.getElementType()).getIntOrFloatBitWidth(), 8);
    least += sizes.evaluate(getNumPoints(part.getShape(), part.getContext()), 1).value_or(cacheBytes) * elementBytes;
  }
  if (typical <= cacheBytes / 2)
    return Fit::typically;
  bool occupyAll = sizes.evaluate(rows).value_or(0) >= enoughRows;
  return runsDecide && occupyAll && least <= cacheBytes / 2 ? Fit::inShortRuns : Fit::never;
}

RowLengths::Fit RowLengths::fit(ArrayRef<ComputeOp> computes, unsigned rowLoops) const {
  SmallVector<graph::TensorType> parts;
  for (ComputeOp compute : computes)
    for (Type result : compute.getResultTypes()) {
      auto type = cast<graph::TensorType>(result);
      parts.push_back(type.withShape(type.getShape().drop_front(rowLoops)));
    }
  ComputeOp first = computes.front();
  Fit found = fit(parts, getNumPoints(ArrayRef(first.getExtents()).take_front(rowLoops), first.getContext()));
  return found == Fit::inShortRuns && passesElements(computes, rowLoops) ? Fit::never : found;
}

RowLengths::Fit RowLengths::fitReduced(ComputeOp reduction) const {
  SmallVector<Expr> extents = reduction.getExtents();
  unsigned rowLoops = reduction.getNumParallel();
  auto row = reduction.getResultType(0).withShape(ArrayRef(extents).drop_front(rowLoops));
  return fit(row, getNumPoints(ArrayRef(extents).take_front(rowLoops), reduction.getContext()));
}
