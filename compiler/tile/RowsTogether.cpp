#include "compiler/tile/RowsTogether.h"

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/plan/Combiner.h"
#include "compiler/tile/Cost.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

int64_t tile::countOperations(const RowPasses &passes) {
  constexpr int64_t loop = 2;
  int64_t operations = 0;
  for (const RowPasses::Entry &entry : passes.entries)
    if (entry.role != RowRole::scalar)
      operations += loop + getBodyCost(entry.compute);
  return operations;
}

RowsTogether RowsTogether::choose(const RowPasses &passes, unsigned rowLoops, ArrayRef<int64_t> lanes) {
  // Four sums take the place of one in registers, and their lanes are added together in 14 operations rather than 32.
  constexpr int64_t together = 4;
  // Of so many rows, and vectors of a row. A processor looks 300 to 500 operations ahead: a longer row keeps it busy by
  // itself, and four of them are as many streams of memory.
  constexpr int64_t mostOperations = 1024, mostVectors = 8;
  int64_t narrowest = *llvm::min_element(lanes);
  int64_t vectors = std::min(mostVectors, mostOperations / (together * countOperations(passes)));
  int64_t shortRow = vectors * narrowest;
  if (!rowLoops || narrowest < together || !shortRow)
    return {};
  const sym::Bounds notEmpty(sym::Interval{1, sym::Interval::plusInfinity});
  for (const RowPasses::Entry &entry : passes.entries) {
    ComputeOp compute = entry.compute;
    if (entry.role == RowRole::reduction && !getCombiners(compute))
      return {};
    if (entry.role != RowRole::scalar && notEmpty.interval(getRowLength(compute, rowLoops)).lo > shortRow)
      return {};
  }
  ComputeOp first = passes.entries.front().compute;
  bool areSeveral = first.getExtents()[rowLoops - 1].asConstant().value_or(together) >= together;
  return areSeveral ? RowsTogether{together, shortRow} : RowsTogether();
}
