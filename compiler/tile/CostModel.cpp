#include "compiler/tile/CostModel.h"

#include "compiler/plan/ContractionTiles.h"
#include "compiler/plan/MatrixInPlace.h"
#include "compiler/plan/SizeOperations.h"
#include "compiler/tile/CostParts.h"
#include "compiler/tile/TileInnerProducts.h"

using namespace freestone;
using namespace freestone::tile;
using llvm::divideCeil;

DeviceRates DeviceRates::get(const DeviceDescription &device) {
  DeviceRates rates;
  rates.units = device.units;
  rates.l1Bytes = device.getL1Bytes();
  rates.l2Bytes = device.getL2Bytes();
  const MemoryLevel &last = device.memoryLevels.back();
  rates.l3Bytes = std::max(device.getL3Bytes() / std::max<int64_t>(1, last.sharedBy), rates.l2Bytes);
  double cyclesPerSecond = device.getCycles();
  rates.multiplyAdds = device.getMultiplyAdds(32) / (cyclesPerSecond * device.getLanes(32));
  rates.loads = device.getBandwidth(0) > 1.25 * cyclesPerSecond * device.vectorBytes ? 2 : 1;
  rates.exposedL2 = device.getExposedReads();
  rates.beginOfPiece = device.getPieceSeconds() * cyclesPerSecond;
  rates.l2 = device.getBandwidth(1) / cyclesPerSecond;
  rates.l3 = device.getBandwidth(2) / cyclesPerSecond;
  rates.memory = device.getMemoryBandwidth() / cyclesPerSecond;
  return rates;
}

ContractionShares ContractionShares::get(const ContractionTree &tree) {
  return {.rowElements = tree.share.getElements(),
          .mostRows = tree.share.getMostRows(),
          .leastTiles = tree.share.getLeastTiles(),
          .panels = tree.panels,
          .depth = tree.depth,
          .depthUnit = tree.depthUnit,
          .keptRows = tree.keptRows,
          .keptColumns = tree.keptColumns,
          .strips = {tree.stripPanels, tree.stripDepth}};
}

namespace {

/// Cycles that the sum of a vector's lanes takes for each halving of it, and those of what follows for each result; the
/// part of transfers that inner products do not hide, whose operands come from where they are; of those from L2, at most
/// so many times the part that micro-kernels do not hide.
constexpr double halvedVector = 1.25, innerResult = 1.5, exposedInner = 0.8, exposedBeside = 3;
/// Cycles of a vector of sums that is added to in a row of results, and of such a row that waits for the one before.
constexpr double addedToRow = 2.5, overlappedRow = 25;
/// The part that shows of transfers of packed rows, which nothing prefetches.
constexpr double exposedRows = 0.4;
/// How many times as long lines of rows take that share sets of the caches.
constexpr double sharedSets = 2;
/// Cycles in which a further run finds its place, of many small products.
constexpr double placeOfRun = 175;
/// Columns that are vectors along the rows at most, at the end of those of panels.
constexpr int64_t mostNarrow = 8;
/// Accumulators that hide the latency of sums.
constexpr int64_t accumulators = 8;

} // namespace

llvm::SmallVector<int64_t> tile::getWorkersOfRuns(int64_t units) {
  // The machine that compiles may be a small one; more than so many workers change no choice.
  int64_t most = std::clamp<int64_t>(units, 4, 16);
  llvm::SmallVector<int64_t> workers = {1};
  while (workers.back() * 2 <= most)
    workers.push_back(workers.back() * 2);
  return workers;
}

double tile::getMissingPart(double bytes, double fits, double most) {
  return std::clamp((bytes - fits) / (most - fits), 0.0, 1.0);
}

int64_t tile::getMostRows(const ContractionProblem &problem, const ContractionShares &shares) {
  int64_t width = problem.getWidth();
  RowShare share{.height = problem.kernelRows,
                 .width = width,
                 .sums = width,
                 .depth = shares.depth,
                 .elements = shares.rowElements,
                 .mostRows = shares.mostRows,
                 .leastTiles = shares.leastTiles};
  return getMostRows<int64_t>(share, problem.outer, problem.m, problem.n, problem.k, IntegerOperations());
}

/// Of all panels. A few columns at their end are vectors along the rows.
static double getRowCycles(const ContractionProblem &problem, const DeviceRates &rates, int64_t rows) {
  double all = getAllPanelsCycles(problem, rows, problem.n, /*otherLoads=*/0, rates);
  int64_t width = problem.getWidth(), tail = problem.n % width;
  if (tail == 0 || tail > mostNarrow || problem.kernelRows > problem.lanes || problem.readsRowsInPlace())
    return all;
  double whole = getAllPanelsCycles(problem, rows, problem.n - tail, /*otherLoads=*/0, rates);
  return std::min(all, whole + double(tail) / double(width) *
                                   getPanelCycles(rows, problem.kernelRows, problem.vectors, /*otherLoads=*/0, rates));
}

TileSteps TileSteps::get(const ContractionProblem &problem, const ContractionShares &shares) {
  int64_t rowBlocks = divideCeil(problem.m, getMostRows(problem, shares));
  int64_t depthBlocks = divideCeil(problem.k, shares.depth);
  return {.rows = int64_t(divideCeil(problem.m, rowBlocks)),
          .depthBlocks = depthBlocks,
          .depth = int64_t(llvm::alignTo(divideCeil(problem.k, depthBlocks), shares.depthUnit)),
          .panels = std::min<int64_t>(shares.panels, divideCeil(problem.n, problem.getWidth()))};
}

/// Of inner products in blocks of `problem`: columns pass by once for so many rows, a result has so many sums of lanes,
/// and tiles have so many columns.
static TilingCost estimateBlocks(const ContractionProblem &problem, int64_t rowsOfPass, int64_t sums,
                                 int64_t columnsOfTile, const DeviceRates &rates, int64_t workers);

/// Of few rows whose operands are read in place: columns pass by once for the rows of a tile.
static TilingCost estimateInPlace(const ContractionProblem &problem, const ContractionShares &shares,
                                  const DeviceRates &rates, int64_t workers) {
  ContractionProblem inner = problem;
  inner.innerRows = std::min(problem.m, AlongDepth::getBlockRows(problem.lanes * problem.bytes));
  inner.innerColumns = AlongDepth::blockColumns;
  inner.packsInner = false;
  TileSteps steps = TileSteps::get(problem, shares);
  return estimateBlocks(inner, steps.rows, steps.depthBlocks, problem.getWidth(), rates, workers);
}

TilingCost tile::estimateContraction(const ContractionProblem &problem, const ContractionShares &shares,
                                     const DeviceRates &rates, int64_t workers) {
  if (problem.stepsOfRow > 0 && problem.readsColumnsInPlace())
    return estimateInPlace(problem, shares, rates, workers);
  int64_t width = problem.getWidth(), bytes = problem.bytes;
  auto [rowStep, depthBlocks, depthStep, runPanels] = TileSteps::get(problem, shares);
  int64_t panels = divideCeil(problem.n, width), rowBlocks = divideCeil(problem.m, rowStep);
  double tiles = double(problem.outer) * double(rowBlocks) * double(panels);
  double perWorker = std::ceil(tiles / double(workers)), busy = std::min(double(workers), tiles);
  double runs =
      std::min(tiles, double(problem.outer) * double(rowBlocks) * double(divideCeil(panels, runPanels)) + busy - 1);
  // Groups of panels stay packed for all row blocks.
  int64_t mostPanels = shares.keptColumns / (width * depthStep * depthBlocks);
  int64_t groups = mostPanels ? divideCeil(panels, mostPanels) : panels;
  bool streams = problem.readsColumnsInPlace(), readsInPlace = problem.isPacked || streams;
  bool keepsColumns = !readsInPlace && rowBlocks > 1 && mostPanels && groups <= rowBlocks;
  if (!keepsColumns)
    groups = 1;
  // Row blocks are packed for every group, by every worker that computes one of their tiles.
  double packedRowBlocks = std::min(tiles, double(problem.outer) * double(rowBlocks * groups) + busy - 1);
  double depth = double(problem.k), ofBlock = double(rowStep) * double(depthStep) * double(bytes),
         ofRows = ofBlock * double(depthBlocks), ofPanel = double(depthStep) * double(width) * double(bytes);
  bool keepsRows = rowStep * depthStep * depthBlocks <= shares.keptRows;

  double wholeRows = double(problem.m / rowStep);
  double stepsOfRows = wholeRows * getRowCycles(problem, rates, rowStep);
  if (int64_t rest = problem.m % rowStep)
    stepsOfRows += getRowCycles(problem, rates, rest);
  TilingCost cost;
  cost.compute = double(problem.outer) * stepsOfRows * depth;

  Transfers transfers{rates};
  double passes = tiles * double(depthBlocks), blocks = double(divideCeil(rowStep, problem.kernelRows));
  double ofStrip = double(problem.kernelRows) * double(depthStep) * double(bytes);
  double ofSums = double(rowStep) * double((depthBlocks > 1 ? runPanels : 1) * width * bytes);
  double l1 = double(rates.l1Bytes), half = double(rates.l2Bytes) / 2;
  // The panels of a strip pass by for every block of the kernel, while strips of rows do.
  bool goesByStrips = !streams && depthBlocks == 1 && problem.k <= shares.strips.depth;
  double together = goesByStrips ? double(std::min({shares.strips.panels, runPanels, panels})) : 1;
  double beyondL1 = getMissingPart(ofPanel + ofStrip, l1 / 2, 1.5 * l1);
  // A block's rows pass by for every panel, or strip: from L1, from L2 beside two panels and the sums of a run, or from
  // beyond.
  double beyond = getMissingPart(ofBlock + 2 * ofPanel + ofSums, half, 2 * half);
  transfers.fetched.l3 += beyond * passes / together * ofBlock;
  transfers.fetched.l2 += (1 - beyond) * getMissingPart(ofBlock + ofPanel, l1 / 2, l1) * passes / together * ofBlock;
  transfers.fetched.l2 += beyondL1 * passes * ofPanel * (blocks - 1);
  // Rows that L2 does not hold over all of k come again for every run, strip by strip.
  Transfers farRows{rates};
  if (keepsRows && ofRows > half)
    farRows.fetch(runs * ofRows, ofRows);
  // Panels come from where all of B is, or have just been packed.
  double ofColumns = depth * double(problem.n) * double(bytes) / double(groups);
  double allColumns = double(problem.outer) * double(rowBlocks * groups) * ofColumns;
  Transfers unforeseen{rates};
  if (problem.isPacked || keepsColumns)
    unforeseen.fetch(getUnforeseenPart(blocks, width * bytes) * allColumns, ofColumns);
  if (readsInPlace || keepsColumns)
    transfers.fetch(allColumns, ofColumns);
  else
    transfers.fetched.l2 += beyondL1 * passes * ofPanel;
  // Sums are read and written for each block of k but the first, and the result is written once.
  double allSums = double(problem.outer) * double(problem.m) * double(problem.n);
  double addedSums = double(depthBlocks - 1) * allSums * double(bytes);
  transfers.fetch(addedSums, ofSums * 2);
  transfers.write(addedSums, ofSums * 2);
  double results = allSums * double(problem.resultBytes), sumVectors = allSums / double(problem.lanes);
  transfers.fetch((problem.isDirect ? 1 : 2) * results, results);
  transfers.write(results, results);
  cost.overhead += sumVectors * (storedVector + double(depthBlocks - 1) * addedToRow);
  // Vectors of rows that are shorter than one reach into the row behind, which waits until they are stored.
  if (problem.isDirect && problem.n < width && problem.n % problem.lanes > 0 && problem.n > mostNarrow)
    cost.overhead += double(problem.outer) * double(problem.m) * double(depthBlocks - 1) * overlappedRow;
  double lhs = double(problem.outer) * double(problem.m) * depth * double(problem.lhsBytes);
  double rhs = double(problem.outer) * depth * double(problem.n) * double(problem.rhsBytes);
  bool isFar = lhs + rhs + results > double(rates.l2Bytes);
  if (isFar) {
    int64_t rowBytes = problem.n * problem.resultBytes;
    // Rows a multiple of a page apart share few sets of the caches.
    double ofLine = missOfLine * (rowBytes % pageBytes ? 1 : sharedSets);
    cost.overhead += (problem.isDirect ? passes : tiles) / together * double(rowStep) *
                     countMisses(rowStep, rowBytes, pagesOfResults) * double(width * problem.resultBytes) /
                     double(lineBytes) * ofLine;
  }

  // Whole vectors are packed, also at the ends.
  double lanes = double(problem.lanes), timesRows = packedRowBlocks * (keepsRows ? 1 : runs / packedRowBlocks);
  double packedRows = timesRows * double(rowStep) * depth;
  Transfers packed{rates};
  if (problem.readsRowsInPlace()) {
    transfers.fetch(lhs, lhs);
  } else {
    cost.packing = packedRows / lanes * transposedVector;
    // Pieces of rows, or of steps of k, each of which comes from beyond L2.
    double pieces = problem.areRowsContiguous ? depth : double(rowStep) * double(depthBlocks);
    if (lhs > half)
      cost.packing += timesRows * pieces * rates.beginOfPiece;
    packed.fetch(packedRows * double(problem.lhsBytes), lhs);
    // What is packed leaves L1 before it is read.
    packed.fetched.l2 += getMissingPart(2 * ofBlock + ofPanel, l1 / 2, l1) * packedRows * double(bytes);
  }
  if (!readsInPlace) {
    double times = keepsColumns ? double(problem.outer) * std::min(double(panels), perWorker) * busy : tiles;
    double packedColumns = times * double(width) * depth;
    cost.packing += packedColumns / lanes * (problem.areColumnsContiguous ? copiedVector : transposedVector);
    if (problem.areColumnsContiguous) {
      int64_t rowBytes = problem.n * problem.rhsBytes;
      bool shareSets = rowBytes % pageBytes == 0;
      double pieces = times * depth / double(shareSets ? problem.packedTogether : 1);
      cost.packing += pieces * countMisses(depthStep, rowBytes, pagesAtOnce) * missOfRow;
      // Rows a multiple of a page apart share few sets of L2, which lose what was prefetched for the next panel.
      if (shareSets && depthStep * rowBytes > rates.l2Bytes)
        cost.packing += pieces * rates.beginOfPiece;
    }
    packed.fetch(packedColumns * double(problem.rhsBytes), rhs);
    packed.fetched.l2 += getMissingPart(2 * ofPanel, l1 / 2, l1) * packedColumns * double(bytes);
  }
  cost.packing += exposedPacked * (packed.getL2Cycles() + packed.getL3Cycles() + packed.getMemoryCycles());
  cost.overhead +=
      callOfProgram * busy + runs * callOfRun + (runs - 1) * placeOfRun + passes * (callOfPanel + blocks * callOfBlock);

  hideTransfers(transfers, cost);
  showTransfers(farRows, exposedRows, cost);
  showTransfers(unforeseen, exposedUnforeseen, cost);
  cost.fetched = transfers.fetched + farRows.fetched + packed.fetched;
  cost.packedBytes = (keepsRows ? ofRows : ofBlock) + (keepsColumns ? ofColumns : readsInPlace ? 0 : ofPanel);
  spread(cost, workers, perWorker * double(workers) / tiles);
  return cost;
}

static TilingCost estimateBlocks(const ContractionProblem &problem, int64_t rowsOfPass, int64_t sums,
                                 int64_t columnsOfTile, const DeviceRates &rates, int64_t workers) {
  int64_t rows = problem.innerRows, columns = problem.innerColumns, lanes = problem.lanes, bytes = problem.bytes;
  double steps = double(divideCeil(problem.k, lanes)), outer = double(problem.outer);
  TilingCost cost;
  double results = 0, blocks = 0;
  /// So many blocks of each matrix.
  auto add = [&](int64_t count, int64_t height, int64_t width) {
    int64_t points = height * width, vectors = divideCeil(accumulators, points);
    double step = std::max(
        {double(points) / rates.multiplyAdds, double(height + width) / rates.loads, rates.latency / double(vectors)});
    cost.compute += outer * double(count) * steps * step;
    results += outer * double(count * points);
    blocks += outer * double(count);
  };
  int64_t rowBlocks = problem.m / rows, restRows = problem.m % rows, restColumns = problem.n % columns;
  for (auto [count, width] : {std::pair(problem.n / columns, columns), {restColumns / 2, 2}, {restColumns % 2, 1}}) {
    add(rowBlocks * count, rows, width);
    add(restRows * count, 1, width);
  }
  double passes = outer * double(divideCeil(problem.m, rowsOfPass));
  double tiles = passes * double(divideCeil(problem.n, columnsOfTile)), busy = std::min(double(workers), tiles);
  cost.overhead =
      double(sums) * (results * (halvedVector * double(llvm::Log2_64(lanes)) + innerResult) + blocks * callOfBlock) +
      callOfProgram * busy;

  Transfers transfers{rates};
  double k = double(problem.k) * double(bytes), lhs = outer * double(problem.m) * k, ofColumns = double(problem.n) * k;
  double l1 = double(rates.l1Bytes);
  // Rows come once, and again for each block of columns; all columns come for each pass.
  transfers.fetch(lhs, lhs);
  if (double(rowsOfPass + columns) * k > l1 / 2)
    transfers.fetched.l2 += double(divideCeil(problem.n, columns) - 1) * lhs;
  transfers.fetch(outer * ofColumns, outer * ofColumns);
  double passing = getMissingPart(ofColumns + double(rowsOfPass) * k, l1 / 2, l1) * (passes - outer) * ofColumns;
  transfers.fetch(passing, ofColumns);
  double stored = results * double(problem.resultBytes);
  transfers.fetch(stored, stored);
  transfers.write(stored, stored);
  if (problem.packsInner && problem.n > 1) {
    // Every worker that computes a part of a matrix packs all of its columns, in squares.
    double squares = double(divideCeil(problem.n, lanes)) * steps, copies = outer + busy - 1;
    cost.packing = copies * squares * double(lanes) * transposedVector;
    Transfers packed{rates};
    packed.fetch(copies * ofColumns, ofColumns);
    cost.packing += exposedPacked * (packed.getL2Cycles() + packed.getL3Cycles() + packed.getMemoryCycles());
  }
  showTransfers(transfers, exposedInner, cost);
  cost.l2 *= std::min(1.0, exposedBeside * rates.exposedL2 / exposedInner);
  spread(cost, workers, std::ceil(tiles / double(workers)) * double(workers) / tiles);
  return cost;
}

TilingCost tile::estimateInnerProducts(const ContractionProblem &given, const DeviceRates &rates, int64_t workers) {
  ContractionProblem problem = given;
  if (problem.n == 1) {
    problem.innerRows = InnerProducts::sideBySide;
    problem.innerColumns = 1;
  } else if (problem.m == 1 && !problem.packsInner) {
    problem.innerRows = 1;
    problem.innerColumns = InnerProducts::sideBySide;
  }
  return estimateBlocks(problem, problem.innerRows, /*sums=*/1, problem.innerColumns, rates, workers);
}
