#include "compiler/tile/TileTransposition.h"

#include "compiler/plan/TranspositionTiles.h"
#include "compiler/tile/Cost.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

static int64_t getBits(Type tensor) {
  return getStorageType(cast<graph::TensorType>(tensor).getElementType()).getIntOrFloatBitWidth();
}

/// The loop, other than the innermost one, along which most operands are contiguous.
static std::optional<unsigned> findLoopAcross(ArrayRef<ComputeOp> computes) {
  ComputeOp first = computes.front();
  std::optional<unsigned> across;
  int64_t most = 0;
  for (unsigned loop = 0; loop + 1 < first.getNumParallel(); ++loop) {
    int64_t operands = 0;
    for (ComputeOp compute : computes)
      for (unsigned input = 0; input < compute.getInputs().size(); ++input)
        operands += liesAlong(compute, input, loop);
    if (operands > most && !first.getExtents()[loop].isConstant(1)) {
      across = loop;
      most = operands;
    }
  }
  return across;
}

/// Vector lanes for the widest element, at most 16: a block has as many vectors as lanes, which must fit the registers.
static int64_t getLanes(ArrayRef<ComputeOp> computes, const DeviceDescription &device) {
  constexpr int64_t mostLanes = 16;
  int64_t bits = 8;
  for (ComputeOp compute : computes)
    for (TypeRange types : {TypeRange(compute.getInputs()), TypeRange(compute.getResultTypes())})
      for (Type type : types)
        bits = std::max(bits, getBits(type));
  return std::min<int64_t>(device.getLanes(bits), mostLanes);
}

std::optional<TranspositionTilingAttr> tile::tileTransposition(ArrayRef<ComputeOp> computes,
                                                               const DeviceDescription &device) {
  // Bytes along a tile's side: it uses whole cache lines of operand and result, and its pages fit the TLB.
  constexpr int64_t mostInterleaved = 4, sideBytes = 256;
  ComputeOp first = computes.front();
  if (first.getNumParallel() < 2)
    return std::nullopt;
  std::optional<unsigned> across = findLoopAcross(computes);
  // A block's code repeats the bodies for every row.
  int64_t cost = 0;
  for (ComputeOp compute : computes)
    cost += getBodyCost(compute);
  if (!across || cost > costOfStoring)
    return std::nullopt;

  SmallVector<Expr> extents = first.getExtents();
  int64_t lanes = getLanes(computes, device), side = sideBytes * 8 / getBits(first.getResultTypes().front());
  int64_t rows = extents[*across].asConstant().value_or(lanes), columns = extents.back().asConstant().value_or(lanes);
  bool isNarrow = columns > 0 && columns <= mostInterleaved && columns < lanes && *across + 2 == first.getNumParallel();
  if (2 * rows < lanes || (2 * columns < lanes && !isNarrow))
    return std::nullopt;
  MLIRContext *context = first.getContext();
  auto tiling = isNarrow ? TranspositionTilingAttr::get(context, *across, side * lanes, columns, columns, lanes)
                         : TranspositionTilingAttr::get(context, *across, side, side, lanes, lanes);
  return isTransposition(computes, tiling) ? std::optional(tiling) : std::nullopt;
}
