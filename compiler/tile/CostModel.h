#ifndef FREESTONE_COMPILER_TILE_COSTMODEL_H
#define FREESTONE_COMPILER_TILE_COSTMODEL_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/ContractionTree.h"
#include "compiler/plan/Plans.h"

namespace freestone::tile {

/// What one core does in a cycle, and what its caches hold: all that the model knows of a device. The only place that
/// turns a description into rates.
struct DeviceRates {
  /// Multiply-adds of whole vectors and loads of any kind a cycle; cycles from a sum to the next addition to it.
  double multiplyAdds = 2, loads = 2, latency = 4;
  /// Bytes a cycle of one core, from L2, L3 and memory.
  double l2, l3, memory;
  /// The part of transfers from L2 that computing does not hide.
  double exposedL2;
  /// Cycles until the processor prefetches a row's piece from beyond L2.
  double beginOfPiece;
  /// Bytes of the caches: of L3, the part of one core.
  int64_t l1Bytes, l2Bytes, l3Bytes;
  int64_t units;

  static DeviceRates get(const DeviceDescription &device);
  /// The most bytes that a core's part of L3 gives so fast that the processor's own prefetchers are in time.
  int64_t getNearBytes() const { return std::min(l3Bytes, 16 * l2Bytes); }
};

/// Numbers of workers that a run on a device with so many units may have, which is not known before: powers of two.
llvm::SmallVector<int64_t> getWorkersOfRuns(int64_t units);

/// Pages that the first level of a TLB translates.
inline constexpr int64_t pagesAtOnce = 64;
/// Bytes that a cache fetches at once.
inline constexpr int64_t lineBytes = 64;
/// The part of them that rows of results have for themselves, beside operands and scratch.
inline constexpr int64_t pagesOfResults = 48;

/// A contraction at given sizes, each from 1 to 2^20, and how its operands are stored.
struct ContractionProblem {
  int64_t outer = 1, m = 1, n = 1, k = 1;
  /// Of an element in the micro-kernel; of A and B in memory; of an element of the result.
  int64_t bytes = 4, lhsBytes = 4, rhsBytes = 4, resultBytes = 4;
  /// B is stored in panels, which are read in place. Otherwise: whether columns are contiguous in memory.
  bool isPacked = false, areColumnsContiguous = true;
  /// Whether neighbouring rows of A, rather than steps of k, are contiguous in memory.
  bool areRowsContiguous = false;
  /// The most rows that read columns in place, and the most columns that read rows in place.
  int64_t streamedRows = 0, streamedColumns = 0;
  /// Panels that are packed at once where rows of memory share sets of the caches.
  int64_t packedTogether = 1;
  /// Steps of k that each of these rows needs, where they are inner products.
  int64_t stepsOfRow = 0;
  /// The micro-kernel adds to the result itself, rather than to sums in scratch.
  bool isDirect = true;
  /// The micro-kernel's block; the vectors of a last panel whose columns fit them, or 0.
  int64_t kernelRows = 6, vectors = 2, lanes = 8, lastVectors = 0;
  /// The block of results of inner products; no rows if these can't compute it. Whether they pack B.
  int64_t innerRows = 0, innerColumns = 0;
  bool packsInner = false;

  int64_t getWidth() const { return vectors * lanes; }
  bool readsColumnsInPlace() const { return m <= streamedRows && m * stepsOfRow <= k; }
  bool readsRowsInPlace() const { return n <= streamedColumns && !readsColumnsInPlace(); }
  double getMultiplyAdds() const { return double(outer) * double(m) * double(n) * double(k); }
};

/// The panels of a strip of rows, and the most steps of k with which runs go strip by strip; 0 if none do.
struct ContractionStrips {
  int64_t panels = 1, depth = 0;

  bool operator==(const ContractionStrips &) const = default;
};

/// The numbers of a contraction's tree, for all sizes: shares of levels of memory, and multiples of the units of the
/// micro-kernel.
struct ContractionShares {
  int64_t rowElements, mostRows, leastTiles, panels, depth, depthUnit, keptRows, keptColumns;
  ContractionStrips strips = {};

  static ContractionShares get(const ContractionTree &tree);
  bool operator==(const ContractionShares &) const = default;
};

/// The most rows of a tile at the sizes of a problem.
int64_t getMostRows(const ContractionProblem &problem, const ContractionShares &shares);

/// What a tiling is at the sizes of a problem: rows of a tile, blocks of k and steps of each, panels of a run.
struct TileSteps {
  int64_t rows, depthBlocks, depth, panels;

  static TileSteps get(const ContractionProblem &problem, const ContractionShares &shares);
  auto operator<=>(const TileSteps &) const = default;
};

/// Bytes that come from a level into the ones nearer to the core.
struct LevelBytes {
  double l2 = 0, l3 = 0, memory = 0;

  LevelBytes operator+(const LevelBytes &other) const { return {l2 + other.l2, l3 + other.l3, memory + other.memory}; }
};

/// The part of what passes by again and again that is not found any more: none of up to `fits` bytes, all from `most`
/// on.
double getMissingPart(double bytes, double fits, double most);

/// Predicted cycles of the busiest worker, by cause.
struct TilingCost {
  /// Micro-kernels fed by L1, lanes and rows outside the operands included; transfers that computing does not hide,
  /// from L2, L3 and memory; packing; calls and tiles; other workers' work that this one waits for.
  double compute = 0, l2 = 0, l3 = 0, memory = 0, packing = 0, overhead = 0, imbalance = 0;
  /// By all workers: operands, packed blocks, and lines that are written. What of scratch holds packed operands at a
  /// time, of one worker.
  LevelBytes fetched;
  double packedBytes = 0;

  double getTotal() const { return compute + l2 + l3 + memory + packing + overhead + imbalance; }
};

/// The time of a tiled contraction with so many workers: an analytic model in the manner of Roller (Zhu et al., OSDI
/// 2022), whose levels are those of a processor. Sizes and numbers are at least 1.
TilingCost estimateContraction(const ContractionProblem &problem, const ContractionShares &shares,
                               const DeviceRates &rates, int64_t workers);

/// As estimateContraction, of inner products: a rows tiling with blocks of results.
TilingCost estimateInnerProducts(const ContractionProblem &problem, const DeviceRates &rates, int64_t workers);

/// How a contraction is computed: by micro-kernels with these shares, or by inner products.
struct ContractionChoice {
  ContractionShares shares;
  bool isInner = false;

  bool operator==(const ContractionChoice &) const = default;
  TilingCost estimate(const ContractionProblem &problem, const DeviceRates &rates, int64_t workers) const {
    return isInner ? estimateInnerProducts(problem, rates, workers)
                   : estimateContraction(problem, shares, rates, workers);
  }
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_COSTMODEL_H
