#include "compiler/tile/RowRuns.h"

#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using sym::Expr;

/// Whether consecutive elements of a row are not contiguous in memory, or their positions are used.
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

int64_t tile::chooseRunLoops(const RowPasses &passes, unsigned pass, unsigned rowLoops) {
  constexpr int64_t shortestRun = 8;
  std::optional<SmallVector<Expr>> extents = getPassExtents(passes, pass, rowLoops);
  bool gaps = llvm::any_of(passes.entries, [&](const RowPasses::Entry &entry) {
    return entry.role != RowRole::scalar && entry.pass == pass && hasGaps(entry.compute, passes, rowLoops);
  });
  if (!extents || !gaps || extents->back().asConstant().value_or(shortestRun) < shortestRun)
    return 1;
  return extents->size();
}
