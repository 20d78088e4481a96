#ifndef FREESTONE_COMPILER_TILE_COSTPARTS_H
#define FREESTONE_COMPILER_TILE_COSTPARTS_H

#include "compiler/tile/CostModel.h"
#include "llvm/Support/MathExtras.h"

namespace freestone::tile {

// What models of programs with micro-kernels have in common.

/// Cycles of an element's way from its place in memory to packed scratch, besides the transfer: a line's elements move
/// as vectors if they are neighbours in the packed block as well, and through a transposition in registers otherwise.
inline constexpr double copiedVector = 1.5, transposedVector = 5;
/// Cycles of a row that begins in a page which was not visited lately, so that it is translated anew and not prefetched
/// by the processor: of one that is packed, and of each line of a row of sums.
inline constexpr double missOfRow = 4, missOfLine = 10;
/// Cycles of a micro-kernel's call for one block, of one for all blocks of a panel, of a run of tiles, and of a
/// program.
inline constexpr double callOfBlock = 7, callOfPanel = 6, callOfRun = 25, callOfProgram = 400;
/// The parts of transfers from beyond L2 that computing does not hide, and of those from anywhere that packing does not.
inline constexpr double exposedFar = 0.2, exposedPacked = 0.55;
/// The part of transfers from beyond L2 that shows where too few blocks prefetch the next panel.
inline constexpr double exposedUnforeseen = 0.35;
/// The part of a panel that so many blocks of the micro-kernel leave: each prefetches one line of every row.
inline double getUnforeseenPart(double blocks, int64_t rowBytes) {
  return std::max(0.0, 1 - blocks / double(llvm::divideCeil(rowBytes, lineBytes)));
}
/// Vectors of sums that are read, added to and written at the end of a block, when nothing else is computed.
inline constexpr double addedVector = 1, storedVector = 0.5;

/// What moves between a worker and its memory. Of its caches, the nearest that holds so many bytes serves them; one
/// that has between all of that room and four times as much, a part.
struct Transfers {
  const DeviceRates &rates;
  LevelBytes fetched = {}, written = {};

  void fetch(double bytes, double footprint) { add(fetched, bytes, footprint); }
  void write(double bytes, double footprint) { add(written, bytes, footprint); }

  double getL2Cycles() const { return (fetched.l2 + written.l2) / rates.l2; }
  double getL3Cycles() const { return (fetched.l3 + written.l3) / rates.l3; }
  double getMemoryCycles() const { return (fetched.memory + written.memory) / rates.memory; }
  double getCycles() const { return getL2Cycles() + getL3Cycles() + getMemoryCycles(); }

private:
  void add(LevelBytes &moved, double bytes, double footprint) const {
    auto getBeyond = [&](int64_t level) { return getMissingPart(footprint, double(level) / 4, double(level)); };
    double beyondL2 = bytes * getBeyond(rates.l2Bytes), beyondL3 = beyondL2 * getBeyond(rates.l3Bytes);
    moved.l2 += bytes - beyondL2;
    moved.l3 += beyondL2 - beyondL3;
    moved.memory += beyondL3;
  }
};

/// Of transfers that are not the bottleneck, a part shows nevertheless.
inline void hideTransfers(const Transfers &transfers, TilingCost &cost) {
  auto show = [&](double cycles, double exposed) {
    return std::max(0.0, cycles - cost.compute) + exposed * std::min(cycles, cost.compute);
  };
  cost.l2 = show(transfers.getL2Cycles(), transfers.rates.exposedL2);
  cost.l3 = show(transfers.getL3Cycles(), exposedFar);
  cost.memory = show(transfers.getMemoryCycles(), exposedFar);
}

/// Of other transfers, this part shows, whatever is computed.
inline void showTransfers(const Transfers &transfers, double part, TilingCost &cost) {
  cost.l2 += part * transfers.getL2Cycles();
  cost.l3 += part * transfers.getL3Cycles();
  cost.memory += part * transfers.getMemoryCycles();
}

/// Spreads the cost of tiles over workers, which wait for the busiest one: it has so many times its equal share.
inline void spread(TilingCost &cost, int64_t workers, double busiest) {
  double share = 1 / double(workers);
  for (double *part : {&cost.compute, &cost.l2, &cost.l3, &cost.memory, &cost.packing, &cost.overhead})
    *part *= share;
  cost.imbalance = cost.getTotal() * (busiest - 1);
}

/// The pages that are translated anew, for each of so many rows of memory, when they are visited again and again, and
/// `atOnce` pages stay translated.
inline double countMisses(int64_t rows, int64_t rowBytes, int64_t atOnce) {
  double pages = double(rows) * std::min(1.0, double(rowBytes) / double(pageBytes));
  return pages <= double(atOnce) ? 0
                                 : std::min(1.0, double(rowBytes) / double(pageBytes)) * (1 - double(atOnce) / pages);
}

/// Cycles of one step of k of a block of so many rows: multiply-adds, the loads that feed them (a vector of the panel,
/// an element of a row, and others), or the latency of sums.
inline double getStepCycles(int64_t rows, int64_t vectors, int64_t otherLoads, const DeviceRates &rates) {
  double multiplyAdds = double(rows * vectors) / rates.multiplyAdds;
  return std::max({multiplyAdds, double(vectors + rows + otherLoads) / rates.loads, rates.latency});
}

/// Cycles of a step of k for so many rows and one panel, in blocks of about equal height.
inline double getPanelCycles(int64_t rows, int64_t kernelRows, int64_t vectors, int64_t otherLoads,
                             const DeviceRates &rates) {
  int64_t blocks = llvm::divideCeil(rows, kernelRows), height = llvm::divideCeil(rows, blocks), last = rows % height;
  double whole = double(rows / height) * getStepCycles(height, vectors, otherLoads, rates);
  return last ? whole + getStepCycles(last, vectors, otherLoads, rates) : whole;
}

/// Cycles of a step of k for so many rows and all panels of a problem's columns. A last panel that fits the last
/// vectors is computed in these.
template <typename Problem>
double getAllPanelsCycles(const Problem &problem, int64_t rows, int64_t columns, int64_t otherLoads,
                          const DeviceRates &rates) {
  auto getCycles = [&](int64_t vectors) {
    return getPanelCycles(rows, problem.kernelRows, vectors, otherLoads, rates);
  };
  if (columns == 0)
    return 0;
  int64_t width = problem.getWidth(), panels = llvm::divideCeil(columns, width), last = columns - (panels - 1) * width;
  bool isNarrow = last <= problem.lastVectors * problem.lanes;
  return double(panels - 1) * getCycles(problem.vectors) + getCycles(isNarrow ? problem.lastVectors : problem.vectors);
}

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_COSTPARTS_H
