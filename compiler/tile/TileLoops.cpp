#include "compiler/tile/TileLoops.h"

#include "compiler/plan/Combiner.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/RowGrid.h"
#include "compiler/plan/RowPasses.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/RowRuns.h"
#include "compiler/tile/TileMap.h"
#include "compiler/tile/TileTransposition.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

int64_t tile::getTileElements(const DeviceDescription &device) {
  return std::max<int64_t>(1024, device.getL2Bytes() / 256);
}

int64_t tile::getTileElements(ArrayRef<ComputeOp> computes, const DeviceDescription &device) {
  constexpr double longest = 4e-6; // seconds: some twenty times the hand-over of a line to another worker
  int64_t cost = 0, elements = getTileElements(device);
  for (ComputeOp compute : computes)
    cost += getBodyCost(compute);
  while (elements > 8 * getCommonLanes(device) && elements * cost > longest * device.getMultiplyAdds(32))
    elements /= 2;
  return elements;
}

int64_t tile::getCommonLanes(const DeviceDescription &device) { return device.getLanes(32); }

bool tile::reducesAlongMemory(ComputeOp compute) {
  for (unsigned input = 0; input < compute.getInputs().size(); ++input)
    if (std::optional<LinearIndex> linear = getStrides(compute, input))
      if (linear->strides.back().isConstant(1))
        return true;
  return false;
}

/// Whether lanes across neighbouring results read every operand contiguously or share its element, while lanes along
/// the reduction would gather the elements of one: such as a row times a matrix whose columns are contiguous.
static bool gathersAlongRuns(ComputeOp compute) {
  unsigned parallel = compute.getNumParallel();
  bool gathers = false;
  for (unsigned input = 0; input < compute.getInputs().size(); ++input) {
    std::optional<LinearIndex> linear = getStrides(compute, input);
    if (!parallel || !linear || compute.getFill(input))
      return false;
    Expr across = linear->strides[parallel - 1], along = linear->strides.back();
    if (!across.isConstant(0) && !across.isConstant(1))
      return false;
    gathers |= !along.isConstant(0) && !along.isConstant(1);
  }
  return gathers;
}

/// Whether reductions along memory are long enough to fill vectors; otherwise lanes run across neighbouring rows.
static bool reduceLongRuns(const RowPasses &passes, unsigned rowLoops, const DeviceDescription &device) {
  bool any = false;
  for (const RowPasses::Entry &entry : passes.entries) {
    if (entry.role != RowRole::reduction)
      continue;
    std::optional<int64_t> length = getRowLength(entry.compute, rowLoops).asConstant();
    if (length && *length < 2 * getCommonLanes(device))
      return false;
    any |= reducesAlongMemory(entry.compute) && !gathersAlongRuns(entry.compute);
  }
  return any;
}

/// The number of row loops if reductions run along rows: the number of parallel loops, equal for all reductions.
static std::optional<unsigned> findRowLoops(ArrayRef<ComputeOp> computes) {
  std::optional<unsigned> rowLoops;
  for (ComputeOp compute : computes) {
    if (!compute.getNumReductions())
      continue;
    unsigned parallel = compute.getNumParallel();
    if (rowLoops && *rowLoops != parallel)
      return std::nullopt;
    rowLoops = parallel;
  }
  return rowLoops;
}

/// A pass whose lanes can't keep separate accumulators is scalar.
static bool canKeepLanes(const RowPasses &passes, unsigned pass) {
  return llvm::all_of(passes.entries, [&](const RowPasses::Entry &entry) {
    return entry.role != RowRole::reduction || entry.pass != pass || canKeepLanes(entry.compute);
  });
}

/// Vectors of a pass that are computed side by side, so that sums need not wait for each other: where rows are long,
/// and bodies do not take longer than a sum anyway.
static int64_t getAccumulators(const RowPasses &passes, unsigned pass, unsigned rowLoops, int64_t lanes) {
  constexpr int64_t sideBySide = 4;
  int64_t cost = 0;
  bool reduces = false;
  for (const RowPasses::Entry &entry : passes.entries) {
    if (entry.role == RowRole::scalar || entry.pass != pass)
      continue;
    ComputeOp compute = entry.compute;
    std::optional<int64_t> length = getRowLength(compute, rowLoops).asConstant();
    if (length && *length < 2 * sideBySide * lanes)
      return 1;
    if (entry.role == RowRole::reduction && !getCombiners(compute))
      return 1;
    reduces |= entry.role == RowRole::reduction;
    cost += getBodyCost(compute);
  }
  return reduces && lanes > 1 && cost <= 2 * cheapBody ? sideBySide : 1;
}

static RowsTilingAttr tileRows(unsigned rowLoops, const RowPasses &passes, const DeviceDescription &device,
                               bool sideBySide) {
  MLIRContext *context = passes.entries.front().compute->getContext();
  Expr length = Expr::constant(context, 1);
  for (const RowPasses::Entry &entry : passes.entries)
    if (entry.role != RowRole::scalar)
      length = getRowLength(entry.compute, rowLoops);
  Expr rows = Expr::constant(context, 1);
  if (rowLoops)
    rows = Expr::max(Expr::floorDiv(Expr::constant(context, getTileElements(device)), length), rows);
  SmallVector<int64_t> runLoops, lanes, accumulators;
  for (unsigned pass = 0; pass < passes.passes; ++pass) {
    runLoops.push_back(chooseRunLoops(passes, pass, rowLoops));
    lanes.push_back(canKeepLanes(passes, pass) ? getCommonLanes(device) : 1);
    accumulators.push_back(sideBySide ? getAccumulators(passes, pass, rowLoops, lanes.back()) : 1);
  }
  return RowsTilingAttr::get(context, rowLoops, rows, runLoops, lanes, accumulators, /*block_rows=*/1,
                             /*block_columns=*/1, /*packed=*/-1);
}

FailureOr<Attribute> tile::tileLoops(ProgramOp program, const DeviceDescription &device, LoopTilings allowed,
                                     std::string &why) {
  if (!program.getBody()->getOps<OpaqueOp>().empty())
    return Attribute(OpaqueTilingAttr::get(program.getContext()));
  SmallVector<ComputeOp> computes = program.getComputes();
  bool share = shareParallelLoops(computes);
  if (std::optional<unsigned> rowLoops = findRowLoops(computes)) {
    FailureOr<RowPasses> passes = getRowPasses(program, *rowLoops, why);
    if (succeeded(passes) && (!share || reduceLongRuns(*passes, *rowLoops, device)))
      return Attribute(tileRows(*rowLoops, *passes, device, allowed.sideBySide));
  }
  if (share && !computes.empty()) {
    std::optional<TranspositionTilingAttr> transposition;
    if (allowed.transpositions)
      transposition = tileTransposition(computes, device);
    if (transposition)
      return Attribute(*transposition);
    return Attribute(tileMap(computes, device, allowed));
  }
  if (why.empty())
    why = "its computes have different parallel loops";
  return failure();
}
