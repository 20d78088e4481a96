#include "compiler/codegen/cpu/RowRuns.h"

#include "compiler/tile/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using sym::Expr;

/// Whether elements that follow each other in a row do not do so in memory, or their places count.
static bool hasGaps(tile::ComputeOp compute, const tile::RowPasses &passes, unsigned rowLoops) {
  unsigned last = compute.getNumLoops() - 1;
  SmallVector<Expr> extents = compute.getExtents();
  for (tile::IndexOp index : compute.getBody()->getOps<tile::IndexOp>())
    if (index.getLoop() >= rowLoops)
      return true;
  for (unsigned input = 0; input < compute.getInputs().size(); ++input) {
    if (passes.find(compute.getInputs()[input]))
      continue;
    std::optional<tile::LinearIndex> linear = tile::getStrides(compute, input);
    if (!linear || compute.getFill(input))
      return true;
    for (unsigned loop = rowLoops; loop < last; ++loop)
      if (linear->strides[loop] != linear->strides[loop + 1] * extents[loop + 1])
        return true;
  }
  return false;
}

SmallVector<Expr> codegen::getRunLoops(const tile::RowPasses &passes, unsigned pass, unsigned rowLoops) {
  constexpr int64_t shortestRun = 8;
  SmallVector<Expr> loops;
  bool gaps = false;
  for (const tile::RowPasses::Entry &entry : passes.entries) {
    if (entry.role == tile::RowRole::scalar || entry.pass != pass)
      continue;
    tile::ComputeOp compute = entry.compute;
    SmallVector<Expr> extents = llvm::to_vector(ArrayRef(compute.getExtents()).drop_front(rowLoops));
    if (!loops.empty() && extents != loops)
      return {tile::getRowLength(compute, rowLoops)};
    loops = extents;
    gaps |= hasGaps(compute, passes, rowLoops);
  }
  if (gaps && loops.back().asConstant().value_or(shortestRun) >= shortestRun)
    return loops;
  Expr length = Expr::constant(passes.entries.front().compute->getContext(), 1);
  for (Expr extent : loops)
    length = length * extent;
  return {length};
}
