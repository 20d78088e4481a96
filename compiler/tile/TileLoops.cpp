#include "compiler/tile/TileLoops.h"

#include "compiler/plan/Combiner.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/MapTiles.h"
#include "compiler/plan/RowPasses.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/RowRuns.h"
#include "compiler/tile/TileTransposition.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Elements of a tile: a sixty-fourth of the second-level cache in f32, so that workers share evenly, and still far
/// more work than it costs to begin a tile.
static int64_t getTileElements(const DeviceDescription &device) {
  return std::max<int64_t>(1024, device.getL2Bytes() / 256);
}

/// Elements of loops count lanes by the widest common type.
static int64_t getLanes(const DeviceDescription &device) { return device.getLanes(32); }

/// Whether the innermost loop that reduces walks along memory in some operand.
static bool reducesAlongMemory(ComputeOp compute) {
  for (unsigned input = 0; input < compute.getInputs().size(); ++input)
    if (std::optional<LinearIndex> linear = getStrides(compute, input))
      if (linear->strides.back().isConstant(1))
        return true;
  return false;
}

/// Whether the reductions walk along memory far enough to fill vectors; else neighbouring rows make better lanes.
static bool reduceLongRuns(const RowPasses &passes, unsigned rowLoops, const DeviceDescription &device) {
  bool any = false;
  for (const RowPasses::Entry &entry : passes.entries) {
    if (entry.role != RowRole::reduction)
      continue;
    std::optional<int64_t> length = getRowLength(entry.compute, rowLoops).asConstant();
    if (length && *length < 2 * getLanes(device))
      return false;
    any |= reducesAlongMemory(entry.compute);
  }
  return any;
}

/// The number of row loops if the program's reductions run along rows: as many as the parallel loops of every
/// reduction.
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

/// Where lanes can't each keep an accumulator, a pass goes element by element.
static bool canKeepLanes(const RowPasses &passes, unsigned pass) {
  return llvm::all_of(passes.entries, [&](const RowPasses::Entry &entry) {
    return entry.role != RowRole::reduction || entry.pass != pass || canKeepLanes(entry.compute);
  });
}

static RowsTilingAttr tileRows(unsigned rowLoops, const RowPasses &passes, const DeviceDescription &device) {
  MLIRContext *context = passes.entries.front().compute->getContext();
  Expr length = Expr::constant(context, 1);
  for (const RowPasses::Entry &entry : passes.entries)
    if (entry.role != RowRole::scalar)
      length = getRowLength(entry.compute, rowLoops);
  Expr rows =
      Expr::max(Expr::floorDiv(Expr::constant(context, getTileElements(device)), length), Expr::constant(context, 1));
  SmallVector<int64_t> runLoops, lanes;
  for (unsigned pass = 0; pass < passes.passes; ++pass) {
    runLoops.push_back(chooseRunLoops(passes, pass, rowLoops));
    lanes.push_back(canKeepLanes(passes, pass) ? getLanes(device) : 1);
  }
  return RowsTilingAttr::get(context, rowLoops, rows, runLoops, lanes);
}

/// Elements of the result that one tile computes: fewer where each is a reduction of many, but whole vectors.
static Expr getMapElements(ArrayRef<ComputeOp> computes, const DeviceDescription &device, MLIRContext *context) {
  Expr elements = Expr::constant(context, getTileElements(device)), one = Expr::constant(context, 1), reduced = one;
  for (ComputeOp compute : computes) {
    Expr points = one;
    for (Expr extent : llvm::drop_begin(compute.getExtents(), compute.getNumParallel()))
      points = points * extent;
    reduced = Expr::max(reduced, points);
  }
  return reduced.isConstant(1)
             ? elements
             : Expr::max(Expr::floorDiv(elements, reduced), Expr::constant(context, 8 * getLanes(device)));
}

/// Vectors that are computed side by side: reductions of several read longer runs of memory, and need not wait for each
/// other.
static int64_t getVectorsOfMap(ArrayRef<ComputeOp> computes, Expr columns, int64_t lanes) {
  constexpr int64_t sideBySide = 8;
  bool isLong = columns.asConstant().value_or(sideBySide * lanes) >= sideBySide * lanes;
  bool reduces = llvm::any_of(computes, [](ComputeOp compute) { return compute.getNumReductions() > 0; });
  bool isCheap = llvm::all_of(computes, [](ComputeOp compute) { return getBodyCost(compute) <= cheapBody; });
  return isLong && reduces && isCheap ? sideBySide : 1;
}

static MapTilingAttr tileMap(ArrayRef<ComputeOp> computes, const DeviceDescription &device) {
  ComputeOp first = computes.front();
  MLIRContext *context = first.getContext();
  SmallVector<Expr> extents = first.getExtents();
  ArrayRef<Expr> parallel = ArrayRef(extents).take_front(first.getNumParallel());
  Expr one = Expr::constant(context, 1), elements = getMapElements(computes, device, context);
  int64_t lanes = parallel.empty() || parallel.back().isConstant(1) ? 1 : getLanes(device);
  int64_t vectors = lanes == 1 ? 1 : getVectorsOfMap(computes, parallel.back(), lanes);
  if (parallel.size() < 2)
    return MapTilingAttr::get(context, one, elements, lanes, vectors);
  // Whole rows, so that a tile is a run of consecutive elements.
  Expr rows = Expr::max(Expr::floorDiv(elements, parallel.back()), one);
  return MapTilingAttr::get(context, rows, parallel.back(), lanes, vectors);
}

FailureOr<Attribute> tile::tileLoops(ProgramOp program, const DeviceDescription &device, bool transpositions,
                                     std::string &why) {
  if (!program.getBody()->getOps<OpaqueOp>().empty())
    return Attribute(OpaqueTilingAttr::get(program.getContext()));
  SmallVector<ComputeOp> computes = program.getComputes();
  bool share = shareParallelLoops(computes);
  if (std::optional<unsigned> rowLoops = findRowLoops(computes)) {
    FailureOr<RowPasses> passes = getRowPasses(program, *rowLoops, why);
    if (succeeded(passes) && (!share || reduceLongRuns(*passes, *rowLoops, device)))
      return Attribute(tileRows(*rowLoops, *passes, device));
  }
  if (share && !computes.empty()) {
    if (std::optional<TranspositionTilingAttr> tiling = tileTransposition(computes, device); transpositions && tiling)
      return Attribute(*tiling);
    return Attribute(tileMap(computes, device));
  }
  if (why.empty())
    why = "its computes have different parallel loops";
  return failure();
}
