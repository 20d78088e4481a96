#include "compiler/tile/TileLoops.h"

#include "compiler/plan/Combiner.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/RowGrid.h"
#include "compiler/plan/RowPasses.h"
#include "compiler/plan/RowsAcross.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/RowRuns.h"
#include "compiler/tile/RowsTogether.h"
#include "compiler/tile/TileMap.h"
#include "compiler/tile/TileTransposition.h"
#include "compiler/tile/TypicalRuns.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

int64_t tile::getTileElements(const DeviceDescription &device) {
  return std::max<int64_t>(1024, device.getL2Bytes() / 256);
}

/// The elements of a tile, halved until it takes so many seconds at most.
static int64_t getElementsWithin(double seconds, ArrayRef<ComputeOp> computes, const DeviceDescription &device) {
  int64_t cost = 0, elements = tile::getTileElements(device);
  for (ComputeOp compute : computes)
    cost += getBodyCost(compute);
  while (elements > 8 * tile::getCommonLanes(device) && elements * cost > seconds * device.getMultiplyAdds(32))
    elements /= 2;
  return elements;
}

int64_t tile::getTileElements(ArrayRef<ComputeOp> computes, const DeviceDescription &device) {
  constexpr double longest = 4e-6; // some twenty times the hand-over of a line to another worker
  return getElementsWithin(longest, computes, device);
}

int64_t tile::getLeastElements(ArrayRef<ComputeOp> computes, const DeviceDescription &device) {
  constexpr double handOver = 2e-7;
  return getElementsWithin(handOver, computes, device);
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

/// Whether lanes across neighbouring results would gather the elements of an operand that lie along the reduction.
static bool gathersAcrossRuns(ComputeOp compute) {
  unsigned parallel = compute.getNumParallel();
  for (unsigned input = 0; parallel && input < compute.getInputs().size(); ++input)
    if (std::optional<LinearIndex> linear = getStrides(compute, input); linear && linear->strides.back().isConstant(1))
      if (linear->strides[parallel - 1].asConstant().value_or(mostInterleaved + 1) > mostInterleaved)
        return true;
  return false;
}

/// Whether reductions along memory are long enough to fill vectors, or vectors across neighbouring rows would be
/// gathered; otherwise lanes run across these.
static bool reduceLongRuns(const RowPasses &passes, unsigned rowLoops, const DeviceDescription &device) {
  bool any = false;
  for (const RowPasses::Entry &entry : passes.entries) {
    if (entry.role != RowRole::reduction)
      continue;
    std::optional<int64_t> length = getRowLength(entry.compute, rowLoops).asConstant();
    if (length && *length < 2 * getCommonLanes(device) && !gathersAcrossRuns(entry.compute))
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

/// The argument whose rows are copied: the first that is contiguous across them, if a vector of rows is used well and
/// its copy leaves room in the cache.
static std::optional<unsigned> findRowsAcross(ProgramOp program, unsigned rowLoops, const RowPasses &passes,
                                              const DeviceDescription &device) {
  int64_t lanes = getCommonLanes(device);
  for (unsigned argument = 0; argument < program.getBody()->getNumArguments(); ++argument) {
    std::string why;
    FailureOr<RowsAcross> across = RowsAcross::get(program, passes, rowLoops, argument, lanes, why);
    if (failed(across))
      continue;
    int64_t bytes = across->elements.asConstant().value_or(device.getL2Bytes()) * int64_t(sizeof(float));
    SmallVector<int64_t> rows = TypicalRuns(program).evaluate(across->reader.getExtents()[rowLoops - 1]);
    if (bytes <= device.getL2Bytes() / 4 && llvm::all_of(rows, [&](int64_t count) { return count >= lanes; }))
      return argument;
  }
  return std::nullopt;
}

/// The pass that prefetches rows: the one that computes most of all behind the first, -1 if none computes for longer
/// than a row takes to come.
static int64_t choosePrefetching(const RowPasses &passes, unsigned rowLoops, ArrayRef<int64_t> runLoops,
                                 ArrayRef<int64_t> lanes) {
  int64_t chosen = -1, most = 2 * cheapBody;
  for (unsigned pass = 1; pass < passes.passes; ++pass) {
    if (!rowLoops || lanes[pass] == 1 || !goAlike(passes, 0, pass, rowLoops, runLoops))
      continue;
    int64_t cost = 0;
    for (const RowPasses::Entry &entry : passes.entries)
      if (entry.role != RowRole::scalar && entry.pass == pass)
        cost += getBodyCost(entry.compute);
    if (cost > most) {
      most = cost;
      chosen = pass;
    }
  }
  return chosen;
}

/// The rows of a tile, so few that workers have equally much: whole copies, or whole groups of rows that go together.
static Expr chooseRows(const RowPasses &passes, unsigned rowLoops, const DeviceDescription &device, int64_t copied,
                       int64_t together) {
  constexpr double seconds = 6e-7; // some three hand-overs of a line to another worker
  MLIRContext *context = passes.entries.front().compute->getContext();
  Expr one = Expr::constant(context, 1), length = one;
  for (const RowPasses::Entry &entry : passes.entries)
    if (entry.role != RowRole::scalar)
      length = getRowLength(entry.compute, rowLoops);
  if (!rowLoops)
    return one;
  int64_t elements = std::clamp<int64_t>(seconds * device.getMultiplyAdds(32) / countOperations(passes),
                                         8 * getCommonLanes(device), getTileElements(device));
  Expr groups = Expr::floorDiv(Expr::constant(context, elements / together), length);
  return Expr::ceilDiv(Expr::max(groups * together, one), copied) * copied;
}

static RowsTilingAttr tileRows(ProgramOp program, unsigned rowLoops, const RowPasses &passes,
                               const DeviceDescription &device, LoopTilings allowed) {
  MLIRContext *context = passes.entries.front().compute->getContext();
  SmallVector<int64_t> runLoops, lanes, accumulators;
  std::optional<unsigned> across;
  for (unsigned pass = 0; pass < passes.passes; ++pass) {
    runLoops.push_back(chooseRunLoops(passes, pass, rowLoops));
    lanes.push_back(canKeepLanes(passes, pass) ? getCommonLanes(device) : 1);
    accumulators.push_back(allowed.sideBySide ? getAccumulators(passes, pass, rowLoops, lanes.back()) : 1);
  }
  if (allowed.rowsAcross && llvm::all_of(lanes, [&](int64_t width) { return width == getCommonLanes(device); }))
    across = findRowsAcross(program, rowLoops, passes, device);
  RowsTogether together;
  int64_t prefetching = allowed.prefetchRows && !across ? choosePrefetching(passes, rowLoops, runLoops, lanes) : -1;
  if (allowed.rowsTogether && !across)
    together = RowsTogether::choose(passes, rowLoops, lanes);
  Expr rows = chooseRows(passes, rowLoops, device, across ? getCommonLanes(device) : 1, together.rows);
  return RowsTilingAttr::get(context, rowLoops, rows, runLoops, lanes, accumulators, /*block_rows=*/1,
                             /*block_columns=*/1, across ? int64_t(*across) : -1, together.rows, together.shortRow,
                             prefetching);
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
      return Attribute(tileRows(program, *rowLoops, *passes, device, allowed));
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
