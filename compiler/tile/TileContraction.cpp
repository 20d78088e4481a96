#include "compiler/tile/TileContraction.h"

#include "compiler/plan/DotProductTiles.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

/// Rows of an epilogue between a prefetch and its use: about the latency of memory.
static constexpr int64_t prefetchRows = 8;

ContractionBlocks ContractionBlocks::get(const DeviceDescription &device, unsigned elementBytes) {
  ContractionBlocks blocks;
  // Three quarters of L1 for a panel of B; the rest for streaming rows of A and C.
  int64_t panelRowBytes = int64_t(device.getPanelWidth(elementBytes * 8)) * elementBytes;
  blocks.depth = std::max<int64_t>(64, device.getL1Bytes() * 3 / 4 / panelRowBytes / 64 * 64);
  // A quarter of L2 for the rows of A.
  int64_t rowUnit = device.getPanelRows();
  int64_t rows = device.getL2Bytes() / 4 / (blocks.depth * elementBytes);
  blocks.rows = std::clamp<int64_t>(rows / rowUnit, 4, 18) * rowUnit;
  blocks.panels = 8;
  return blocks;
}

MicroKernelAttr tile::getMicroKernel(const DeviceDescription &device, Type elementType) {
  unsigned bits = elementType.getIntOrFloatBitWidth();
  int64_t lanes = device.getLanes(bits), vectors = device.getPanelWidth(bits) / lanes;
  // Further unrolling would spill registers.
  return MicroKernelAttr::get(elementType.getContext(), device.getPanelRows(), vectors, lanes, /*unroll=*/2);
}

/// Whether a product has a single row, and is summed in place faster than its columns are packed. Narrow integers are
/// widened in any case, and packing is a small part of that.
static bool isSingleRow(ContractionForm &form) {
  bool isWide = !form.getExtent(form.n).isConstant(1);
  return form.getExtent(form.m).isConstant(1) && !(isWide && form.multipliesPairs());
}

bool tile::isMicroKernelContraction(ContractionForm &form, int64_t width) {
  return !isSingleRow(form) || form.getPackedInput(width);
}

ContractionTilingAttr tile::tileContraction(ContractionForm &form, const DeviceDescription &device, bool keepPacked,
                                            bool multiplyPairs) {
  MLIRContext *context = form.compute.getContext();
  MicroKernelAttr kernel = getMicroKernel(device, form.elementType);
  int64_t width = kernel.getWidth(), bytes = form.elementType.getIntOrFloatBitWidth() / 8;
  ContractionBlocks blocks = ContractionBlocks::get(device, bytes);
  bool isWindow = form.getWindowTaps().has_value(), isPacked = form.getPackedInput(width).has_value();

  // Prefetching from L2 keeps up with long panels, and fewer blocks of k read and write C less often. Panels that are
  // packed first are still in cache and gain nothing beyond this size.
  constexpr int64_t mostPackedBytes = 64 << 10;
  int64_t panelBytes = device.getL2Bytes() / 16;
  if (!isPacked)
    panelBytes = std::min(panelBytes, mostPackedBytes);
  int64_t depth = isWindow ? blocks.depth : std::max<int64_t>(blocks.depth, panelBytes / (width * bytes) / 64 * 64);
  // Packed weights are read in place: with few rows at a time most of L2 is left to them.
  int64_t mostRows = isPacked ? std::min(blocks.rows, 10 * kernel.getRows()) : blocks.rows;
  // Enough tiles for every worker of a large machine.
  constexpr int64_t leastTiles = 32;
  int64_t keptDepths = !keepPacked ? 0 : isPacked ? 4 : 8;
  int64_t keptColumns = isWindow || !keepPacked ? 0 : 4 * device.getL2Bytes() / bytes;
  return ContractionTilingAttr::get(context, kernel, mostRows, blocks.panels, leastTiles, depth,
                                    isWindow ? 1 : kernel.getLanes(), keptDepths, keptColumns, prefetchRows,
                                    multiplyPairs && form.multipliesPairs() ? 2 : 1);
}

static WordUnit getUnit(const DotProductFactors &factors, const DeviceDescription &device) {
  return factors.areIntegers ? device.quadUnit : device.pairUnit;
}

bool tile::isDotProductContraction(ContractionForm &form, const DeviceDescription &device) {
  std::optional<DotProductFactors> factors = form.getDotProductFactors();
  return factors && getUnit(*factors, device) != WordUnit::none && !(factors->areIntegers && isSingleRow(form));
}

DotProductTilingAttr tile::tileDotProducts(ContractionForm &form, const DeviceDescription &device) {
  constexpr int64_t unit = DotProductTiles::unit, rowBytes = DotProductTiles::rowWords * DotProductTiles::wordBytes;
  DotProductFactors factors = *form.getDotProductFactors();
  // Blocks are equal in bytes for all elements.
  int64_t bytes = DotProductTiles::wordBytes / factors.getStepsOfWord(), depth = 4096 / bytes;
  // A panel takes two thirds of L1, rows of A a quarter of L2.
  int64_t groups = std::max<int64_t>(4, device.getL1Bytes() * 2 / 3 / (unit * rowBytes));
  int64_t rows = std::clamp<int64_t>(device.getL2Bytes() / 4 / (depth * bytes) / unit, 4, 8) * unit;
  auto usedUnit = getUnit(factors, device) == WordUnit::tiles ? DotProductUnit::tiles : DotProductUnit::vectors;
  return DotProductTilingAttr::get(form.compute.getContext(), usedUnit, rows, 8 * unit, depth, groups,
                                   4 * device.getL2Bytes() / bytes, prefetchRows);
}
