#include "compiler/tile/WindowCost.h"

#include "compiler/plan/SizeOperations.h"
#include "compiler/tile/CostParts.h"

using namespace freestone;
using namespace freestone::tile;
using llvm::divideCeil;

/// Cycles of a tile, of a row of the picture that is copied besides its vectors, of a block of registers, of a vector
/// of its sums, which go through scratch, and of a mask of one; of a vector of channels that is stored transposed; of a
/// row that is found in place, under a block of registers.
static constexpr double callOfTile = 100, copiedRow = 8, callOfWindow = 12, storedSum = 2, maskedSum = 5,
                        storedSquare = 7, foundRow = 3;
/// The part of the latency of a block's sums that blocks before and behind it do not hide.
static constexpr double exposedLatency = 0.3;

WindowShares WindowShares::get(WindowTilingAttr tiling) {
  return {.channels = tiling.getChannels(),
          .rows = tiling.getRows(),
          .vectors = tiling.getVectors(),
          .lanes = tiling.getLanes(),
          .pixels = tiling.getPixels(),
          .copy = tiling.getCopy(),
          .unroll = tiling.getUnroll(),
          .channelVectors = tiling.getChannelVectors()};
}

namespace {

/// What `getWindowBlocks` asks of a tiling.
struct WindowOfShares {
  const WindowShares &shares;

  int64_t getRows() const { return shares.rows; }
  int64_t getLanes() const { return shares.lanes; }
  int64_t getPixels() const { return shares.pixels; }
  int64_t getCopy() const { return shares.copy; }
};

} // namespace

WindowBlocks<int64_t> tile::getBlocks(const WindowProblem &problem, const WindowShares &shares) {
  return getWindowBlocks<int64_t>(WindowOfShares{shares}, problem.sizes, IntegerOperations());
}

/// Cycles of the taps of a block of so many vectors in a row.
static double getBlockCycles(const WindowProblem &problem, const WindowShares &shares, const DeviceRates &rates,
                             int64_t vectors) {
  double taps = double(problem.taps), sums = double(shares.channels * shares.rows * vectors);
  double columns = taps / double(problem.sizes.rowSpan);
  // With all taps at a time, rows share what they load; an operand of each tap is spread over a vector.
  double rows = shares.unroll > 1
                    ? double((shares.rows - 1) * problem.sizes.rowStride + problem.sizes.rowSpan) * columns
                    : double(shares.rows) * taps;
  double loads = rows * double(vectors) + taps * double(shares.channels);
  double throughput = std::max(sums * taps / rates.multiplyAdds, loads / rates.loads);
  double latency = taps * rates.latency;
  return callOfWindow + throughput + exposedLatency * std::max(0.0, latency - throughput);
}

TilingCost tile::estimateWindow(const WindowProblem &problem, const WindowShares &shares, const DeviceRates &rates,
                                int64_t workers) {
  const WindowSizes<int64_t> &sizes = problem.sizes;
  WindowBlocks<int64_t> blocks = getBlocks(problem, shares);
  double outer = double(problem.outer), bytes = double(problem.bytes);
  double tiles = outer * double(blocks.rowBlocks * blocks.pixelBlocks);
  TilingCost cost;
  /// The sum over the blocks of an extent.
  auto sum = [](int64_t extent, int64_t step, auto function) {
    return double(extent / step) * function(step) + (extent % step ? function(extent % step) : 0.0);
  };
  double ofRow = sum(sizes.pixels, blocks.pixelStep, [&](int64_t pixels) {
    int64_t whole = pixels / (shares.vectors * shares.lanes), rest = pixels - whole * shares.vectors * shares.lanes;
    return double(whole) * getBlockCycles(problem, shares, rates, shares.vectors) +
           double(divideCeil(rest, shares.lanes)) * getBlockCycles(problem, shares, rates, 1);
  });
  double registerRows =
      sum(sizes.rows, blocks.rowStep, [&](int64_t rows) { return double(divideCeil(rows, shares.rows)); });
  double channelBlocks = double(divideCeil(problem.channels, shares.channels));
  cost.compute = outer * channelBlocks * registerRows * ofRow;
  double vectors = double(
      sum(sizes.pixels, blocks.pixelStep, [&](int64_t pixels) { return double(divideCeil(pixels, shares.lanes)); }));
  double masked = sum(sizes.pixels, blocks.pixelStep, [&](int64_t pixels) {
    return pixels % shares.lanes && !(problem.overlaps && pixels > shares.lanes) ? 1.0 : 0.0;
  });
  cost.overhead = callOfProgram + tiles * callOfTile +
                  outer * double(problem.channels * sizes.rows) * (vectors * storedSum + masked * maskedSum);

  double ofCopiedRow = double(blocks.run / shares.lanes * sizes.pixelStride * sizes.otherSpan);
  double copiedRows = sum(sizes.rows, blocks.rowStep,
                          [&](int64_t rows) { return double((rows - 1) * sizes.rowStride + sizes.rowSpan); });
  double times = outer * copiedRows * double(blocks.pixelBlocks);
  double results = outer * double(problem.channels * sizes.rows) * double(sizes.pixels) * bytes;
  double picture = outer * double(sizes.rows * sizes.rowStride) * double(sizes.pixels * sizes.pixelStride) * bytes;
  Transfers transfers{rates}, packed{rates};
  transfers.fetch(results, results);
  transfers.write(results, results);
  if (problem.inPlace && shares.unroll > 1) {
    double rowsOfBlock = double((shares.rows - 1) * sizes.rowStride + sizes.rowSpan);
    cost.overhead += outer * registerRows * double(blocks.pixelBlocks) * rowsOfBlock * foundRow;
    transfers.fetch(picture * rowsOfBlock / double(shares.rows * sizes.rowStride), picture);
    hideTransfers(transfers, cost);
    cost.fetched = transfers.fetched;
    spread(cost, workers, std::ceil(tiles / double(workers)) * double(workers) / tiles);
    return cost;
  }
  cost.packing = times * (copiedRow * double(sizes.otherSpan) + ofCopiedRow * copiedVector);
  double copy = double((blocks.rowStep - 1) * sizes.rowStride + sizes.rowSpan) * double(blocks.ofRow) * bytes;
  double copied = times * ofCopiedRow * double(shares.lanes) * bytes;
  packed.fetch(copied, picture);
  double beyondL1 = getMissingPart(copy, double(rates.l1Bytes) / 2, double(rates.l1Bytes));
  packed.written.l2 += copied * beyondL1;
  transfers.fetched.l2 += copied * beyondL1 * channelBlocks;
  hideTransfers(transfers, cost);
  cost.packing += exposedPacked * packed.getCycles();
  cost.fetched = transfers.fetched + packed.fetched;
  spread(cost, workers, std::ceil(tiles / double(workers)) * double(workers) / tiles);
  return cost;
}

double tile::estimateChannelVectors(const WindowProblem &problem, const DeviceRates &rates) {
  const WindowSizes<int64_t> &sizes = problem.sizes;
  double lanes = double(problem.lanes), taps = double(problem.taps), windows = 8;
  bool sharesPicture = problem.channels > 1;
  auto countVectors = [&](int64_t count) { return double(divideCeil(count, problem.lanes)); };
  int64_t rows = sizes.rows * sizes.rowStride, pixels = sizes.pixels * sizes.pixelStride;
  double copied = sharesPicture ? double(sizes.otherSpan * rows) * (copiedRow + copiedVector * countVectors(pixels))
                                : countVectors(rows * pixels) * lanes * (transposedVector + 1);
  double ofTap = std::max({windows / rates.multiplyAdds, (windows + 2) / rates.loads, double(rates.latency)});
  double blocks = std::ceil(double(sizes.rows * sizes.pixels) / windows);
  double ofBlock = countVectors(problem.taps) * lanes * (transposedVector + 1) +
                   blocks * (callOfWindow + taps * ofTap) +
                   countVectors(sizes.rows * sizes.pixels) * lanes * (transposedVector + storedSquare);
  if (sharesPicture)
    return double(problem.outer) * (callOfTile + copied + countVectors(problem.channels) * ofBlock);
  return std::ceil(double(problem.outer) / lanes) * (callOfTile + copied + ofBlock);
}
