#include "compiler/tile/TileMap.h"

#include "compiler/plan/ColumnSegments.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/tile/Cost.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Result elements of a tile: fewer if each reduces many elements, but whole vectors.
static Expr getReducedPoints(ArrayRef<ComputeOp> computes, MLIRContext *context) {
  Expr reduced = Expr::constant(context, 1);
  for (ComputeOp compute : computes)
    reduced =
        Expr::max(reduced, getNumPoints(ArrayRef(compute.getExtents()).drop_front(compute.getNumParallel()), context));
  return reduced;
}

/// Vectors of a map without reductions that hide the latency of a long chain of operations: a processor looks some 256
/// operations ahead, and four chains in that window keep it busy. Processors with few registers have schedulers that
/// fill before the window does: chains of some length stand side by side in the code. Bodies of several chains do so by
/// themselves.
static int64_t getVectorsOfChain(ArrayRef<ComputeOp> computes, const DeviceDescription &device) {
  constexpr int64_t window = 256, chains = 4, fewRegisters = 16, shortChain = 16, sideBySide = 8;
  int64_t chain = getChainCost(computes), cost = 0;
  for (ComputeOp compute : computes)
    cost += getBodyCost(compute);
  if (cost > 2 * chain)
    return 1;
  int64_t vectors = std::clamp<int64_t>(chain * chains / window, 1, chains);
  if (device.vectorRegisters <= fewRegisters && chain >= shortChain && chain <= window)
    vectors = std::max<int64_t>(vectors, std::min<int64_t>(llvm::bit_ceil<uint64_t>(window / chain), sideBySide));
  return vectors;
}

/// Vectors side by side: with several, reductions read longer runs of memory and hide latency.
static int64_t getVectorsOfMap(ArrayRef<ComputeOp> computes, Expr columns, int64_t lanes,
                               const DeviceDescription &device) {
  constexpr int64_t sideBySide = 8;
  int64_t most = std::clamp<int64_t>(columns.asConstant().value_or(sideBySide * lanes) / lanes, 1, sideBySide);
  if (llvm::none_of(computes, [](ComputeOp compute) { return compute.getNumReductions() > 0; }))
    return std::min(most, getVectorsOfChain(computes, device));
  bool isCheap = llvm::all_of(computes, [](ComputeOp compute) { return getBodyCost(compute) <= cheapBody; });
  return isCheap ? most : 1;
}

/// Bits of an element in memory.
static int64_t getStoredBits(graph::TensorType type) {
  return getStorageType(type.getElementType()).getIntOrFloatBitWidth();
}

/// The lanes of a map whose loads and stores fill registers with the narrowest elements; the widest values take two
/// registers at most. Where these are not more than those of 32 bits, and for maps that do more than walk along memory,
/// the latter.
static int64_t getLanesOfMap(ArrayRef<ComputeOp> computes, const DeviceDescription &device) {
  int64_t common = getCommonLanes(device), narrowest = 32, widest = 8;
  auto meet = [&](graph::TensorType type) {
    narrowest = std::min(narrowest, getStoredBits(type));
    widest = std::max(widest, getStoredBits(type));
  };
  for (ComputeOp compute : computes) {
    if (compute.getNumReductions() || !compute.getReads().empty())
      return common;
    for (unsigned input = 0; input < compute.getInputs().size(); ++input) {
      std::optional<LinearIndex> linear = getStrides(compute, input);
      if (compute.getFill(input) || !linear ||
          !(linear->strides.back().isConstant(0) || linear->strides.back().isConstant(1)))
        return common;
      meet(compute.getInputType(input));
    }
    for (Value result : compute.getResults())
      meet(cast<graph::TensorType>(result.getType()));
    for (Operation &op : compute.getBody()->without_terminator()) {
      if (isa<RandomBitsOp>(op))
        return common;
      for (Type type : op.getResultTypes())
        widest = std::max<int64_t>(widest, type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64);
    }
  }
  int64_t lanes = std::min<int64_t>(device.getLanes(narrowest), 2 * device.getLanes(widest));
  ComputeOp first = computes.front();
  SmallVector<Expr> extents = first.getExtents();
  ArrayRef<Expr> parallel = ArrayRef(extents).take_front(first.getNumParallel());
  // Rows must be worth it: AVX2 computes the rest of each row element by element.
  constexpr int64_t fewVectors = 8;
  std::optional<int64_t> columns = parallel.back().asConstant();
  bool areRowsLong = parallel.size() == 1 || (columns && (*columns % lanes == 0 || *columns >= fewVectors * lanes));
  return areRowsLong ? std::max(common, lanes) : common;
}

/// Whether rows have few segments, whose code is short.
static bool areShort(ArrayRef<Expr> ends, int64_t cost) {
  constexpr int64_t mostEnds = 4, longestCode = 16 * cheapBody;
  return ends.size() <= mostEnds && cost * int64_t(ends.size()) <= longestCode;
}

/// Where columns are long enough, and code for every segment is short enough, for vectors without comparisons.
static SmallVector<Expr> chooseEnds(ArrayRef<ComputeOp> computes, Expr columns, int64_t lanes) {
  int64_t cost = 0;
  for (ComputeOp compute : computes) {
    if (compute.getNumReductions())
      return {};
    cost += getBodyCost(compute);
  }
  if (lanes == 1 || columns.asConstant().value_or(2 * lanes) < 2 * lanes)
    return {};
  std::optional<SmallVector<Expr>> ends = getColumnEnds(computes);
  return ends && areShort(*ends, cost) ? *ends : SmallVector<Expr>();
}

bool tile::hasShortSegments(ComputeOp map, int64_t more) {
  std::optional<SmallVector<Expr>> ends = getColumnEnds(map);
  return ends && areShort(*ends, getBodyCost(map) + more);
}

/// The columns of equal parts of a row, in whole vectors, where elements take so long that a part is worth a tile; else
/// nothing.
static std::optional<int64_t> getPartOfRow(ArrayRef<ComputeOp> computes, Expr row, int64_t lanes,
                                           const DeviceDescription &device) {
  int64_t least = getLeastElements(computes, device), columns = row.asConstant().value_or(0);
  if (columns < 2 * least)
    return std::nullopt;
  return llvm::alignTo(llvm::divideCeil(columns, columns / least), lanes);
}

MapTilingAttr tile::tileMap(ArrayRef<ComputeOp> computes, const DeviceDescription &device, LoopTilings allowed) {
  ComputeOp first = computes.front();
  MLIRContext *context = first.getContext();
  SmallVector<Expr> extents = first.getExtents();
  ArrayRef<Expr> parallel = ArrayRef(extents).take_front(first.getNumParallel());
  Expr one = Expr::constant(context, 1), reduced = getReducedPoints(computes, context);
  // Fewer results where each is a reduction of many.
  Expr elements = Expr::floorDiv(Expr::constant(context, getTileElements(computes, device)), reduced);
  int64_t lanes = 1;
  if (!parallel.empty() && !parallel.back().isConstant(1))
    lanes = allowed.narrowLanes ? getLanesOfMap(computes, device) : getCommonLanes(device);
  int64_t vectors = lanes == 1 || !allowed.sideBySide ? 1 : getVectorsOfMap(computes, parallel.back(), lanes, device);
  if (parallel.size() < 2) {
    Expr columns =
        reduced.isConstant(1) ? elements : Expr::max(elements, Expr::constant(context, 8 * getCommonLanes(device)));
    return MapTilingAttr::get(context, one, columns, lanes, vectors, {});
  }
  SmallVector<Expr> ends = allowed.segments ? chooseEnds(computes, parallel.back(), lanes) : SmallVector<Expr>();
  std::optional<int64_t> part;
  if (allowed.partsOfRows && reduced.isConstant(1) && ends.empty())
    part = getPartOfRow(computes, parallel.back(), lanes, device);
  if (part)
    return MapTilingAttr::get(context, one, Expr::constant(context, *part), lanes, vectors, {});
  // Whole rows, so that a tile is a range of consecutive elements.
  Expr rows = Expr::max(Expr::floorDiv(elements, parallel.back()), one);
  return MapTilingAttr::get(context, rows, parallel.back(), lanes, vectors, ends);
}
