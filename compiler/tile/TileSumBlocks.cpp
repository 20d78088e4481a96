#include "compiler/tile/TileSumBlocks.h"

#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/RowBlocks.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/TileContraction.h"
#include "compiler/tile/TileLoops.h"
#include <cmath>

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The most sums of a row or a column of a block: code for all of them is written out.
static constexpr int64_t mostOfLoop = 16;
/// Elements between neighbours along the sum, at most.
static constexpr int64_t mostStride = 4;

static bool dependsOn(ComputeOp compute, unsigned input, unsigned loop) {
  return llvm::any_of(getIndices(compute, input),
                      [&](Expr index) { return llvm::is_contained(getLoops(index), loop); });
}

/// The part of the lanes of vectors along `extent` elements that is used.
static double getUsedLanes(double extent, double lanes) { return extent / (std::ceil(extent / lanes) * lanes); }

/// How often the operands are read if blocks have `size` of `extent` results: those that fill no block are computed one
/// by one.
static int64_t countReads(int64_t extent, int64_t size) { return extent / size + extent % size; }

/// The fewest reads with as many sums as registers leave room for; of those the fewest sums.
static SumBlocks chooseBlocks(int64_t rows, int64_t columns, int64_t mostSums) {
  SumBlocks best{1, 1, {}};
  int64_t least = rows * columns;
  for (int64_t ofRow = 1; ofRow <= std::min(rows, mostOfLoop); ++ofRow)
    for (int64_t ofColumn = 1; ofColumn <= std::min(columns, mostOfLoop) && ofRow * ofColumn <= mostSums; ++ofColumn) {
      int64_t reads = countReads(rows, ofRow) * countReads(columns, ofColumn);
      if (reads < least || (reads == least && ofRow * ofColumn < best.rows * best.columns)) {
        least = reads;
        best = {ofRow, ofColumn, {}};
      }
    }
  return best;
}

std::optional<SumBlocks> SumBlocks::get(ContractionForm &form, std::optional<WindowForm> &window,
                                        const TypicalRuns &runs, const DeviceDescription &device) {
  ComputeOp compute = form.compute;
  auto program = compute->getParentOfType<ProgramOp>();
  unsigned parallel = compute.getNumParallel(), along = compute.getNumLoops() - 1;
  if (!program || parallel < 2 || form.k.empty() || form.k.back() != along)
    return std::nullopt;
  // Along a loop on which both operands depend, a block would share nothing.
  bool isShared[2] = {false, false};
  std::optional<unsigned> picture;
  for (Value factor : {form.lhs, form.rhs}) {
    std::optional<unsigned> input = isa<BlockArgument>(factor) ? form.getInput(factor) : std::nullopt;
    std::optional<LinearIndex> linear = input ? getStrides(compute, *input) : std::nullopt;
    std::optional<int64_t> step = linear ? linear->strides[along].asConstant() : std::nullopt;
    bool hasBorder = input && compute.getFill(*input);
    // What is copied with its border is copied stride by stride.
    if (!step || *step < 1 || *step > (hasBorder ? mostStride : 1) ||
        !compute.getInputType(*input).getElementType().isF32())
      return std::nullopt;
    if (hasBorder) {
      if (picture)
        return std::nullopt;
      picture = *input;
    }
    for (unsigned loop : {0u, 1u})
      isShared[loop] |= !dependsOn(compute, *input, parallel - 2 + loop);
  }
  SmallVector<Expr> extents = compute.getExtents();
  auto typicalOf = [&](Expr extent) {
    SmallVector<int64_t> values = runs.evaluate(extent);
    return *llvm::min_element(values);
  };
  double lanes = double(getCommonLanes(device));
  double used = getUsedLanes(double(typicalOf(extents[along])), lanes);
  if (window && used <= getUsedLanes(double(typicalOf(window->getPixels())), lanes))
    return std::nullopt;
  auto resultsOf = [&](unsigned loop) { return isShared[loop] ? typicalOf(extents[parallel - 2 + loop]) : 1; };
  // What is loaded, its mask and what is being multiplied take registers too.
  constexpr int64_t others = 4;
  SumBlocks blocks = chooseBlocks(resultsOf(0), resultsOf(1), device.vectorRegisters - others);
  blocks.picture = picture;
  std::string why;
  FailureOr<RowPasses> passes = getRowPasses(program, parallel, why);
  if (blocks.rows * blocks.columns == 1 || failed(passes))
    return std::nullopt;
  FailureOr<RowBlocks> geometry = RowBlocks::get(*passes, blocks.getTiling(form, device), why);
  // Of the shortest sums, what blocks read again is in the cache; longer ones are read again by any other tiling too.
  auto isInCache = [&](int64_t elements) { return elements <= device.getL2Bytes() / int64_t(sizeof(float)); };
  if (failed(geometry) || !llvm::any_of(runs.evaluate(geometry->getCopied()), isInCache))
    return std::nullopt;
  return blocks;
}

RowsTilingAttr SumBlocks::getTiling(ContractionForm &form, const DeviceDescription &device) const {
  auto constant = [&](int64_t value) { return Expr::constant(form.compute.getContext(), value); };
  Expr ofBlock = Expr::max(form.getExtent(form.k), constant(1));
  Expr blocks = Expr::max(Expr::floorDiv(constant(getTileElements(device)), ofBlock), constant(1));
  return RowsTilingAttr::get(form.compute.getContext(), form.compute.getNumParallel(), blocks,
                             {static_cast<int64_t>(form.k.size())}, {getCommonLanes(device)}, /*accumulators=*/{1},
                             rows, columns, picture ? int64_t(*picture) : -1, /*together=*/1, /*short_row=*/0,
                             /*prefetching=*/-1);
}
