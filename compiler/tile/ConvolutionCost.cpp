#include "compiler/tile/ConvolutionCost.h"

#include "compiler/plan/SizeOperations.h"
#include "compiler/tile/CostParts.h"

using namespace freestone;
using namespace freestone::tile;
using llvm::divideCeil;

/// Cycles of a row of the picture that is copied, besides its vectors; of a vector that is interleaved with others.
static constexpr double copiedRow = 2, interleavedVector = 2;
/// Cycles of an element that is copied beside those of other pictures, and of a run of a row of each.
static constexpr double copiedElement = 2, copiedRun = 6;
/// Cycles of a vector of sums that is transposed and stored, and of one at the end of pixels or channels, which goes
/// through scratch.
static constexpr double storedSum = 2.5, storedPart = 7;
/// Cycles of a vector of values that the picture is transformed to, of one of the products that is transformed back;
/// and those of a call.
static constexpr double transformedValue = 4, transformedProduct = 2.5, callOfTransform = 20;
/// Cycles of an element's way from a channel that is read in place, and of a line of results, in a page which was not
/// visited lately.
static constexpr double missInPlace = 3, missOfResult = 3;
/// The part that shows of windows from L2, whose lines are no neighbours.
static constexpr double exposedWindows = 0.25;
/// The part that shows of panels from beyond L2 that too few blocks prefetch: they lie one behind the other, so that
/// the processor prefetches them as well.
static constexpr double exposedPanels = 0.12;

ConvolutionShares ConvolutionShares::get(ConvolutionTilingAttr tiling) {
  return {.pixels = tiling.getPixels(),
          .area = tiling.getArea(),
          .panels = tiling.getPanels(),
          .channels = tiling.getChannels(),
          .leastTiles = tiling.getLeastTiles(),
          .inPlace = tiling.getInPlace(),
          .transformed = tiling.getTransformed(),
          .pictures = tiling.getPictures()};
}

namespace {

/// What `getBlocks` asks of a tiling.
struct ConvolutionOfProblem {
  const ConvolutionProblem &problem;
  const ConvolutionShares &shares;

  ConvolutionOfProblem getKernel() const { return *this; }
  int64_t getRows() const { return problem.kernelRows; }
  int64_t getWidth() const { return problem.getWidth(); }
  int64_t getPixels() const { return shares.pixels; }
  int64_t getArea() const { return shares.area; }
  int64_t getPanels() const { return shares.panels; }
  int64_t getChannels() const { return shares.channels; }
  int64_t getLeastTiles() const { return shares.leastTiles; }
  int64_t getTransformed() const { return shares.transformed; }
  int64_t getPictures() const { return shares.pictures; }
};

/// Blocks of an extent, the last of which are shorter, or empty.
struct Division {
  int64_t extent, count, step;

  int64_t before(int64_t block) const { return std::min(block * step, extent); }
  int64_t of(int64_t block) const { return before(block + 1) - before(block); }
  /// The sum of what a function says of each block's extent, which is 0 of nothing.
  template <typename Function> double sum(Function function) const {
    int64_t whole = extent / step, rest = extent % step;
    return double(whole) * double(function(step)) + (rest ? double(function(rest)) : 0);
  }
};

/// A tiled convolution: the parts of its cost.
class ConvolutionEstimate {
public:
  ConvolutionEstimate(const ConvolutionProblem &problem, const ConvolutionShares &shares, const DeviceRates &rates)
      : problem(problem), rates(rates),
        blocks(getBlocks(problem, shares)), rows{problem.sizes.rows, blocks.rowBlocks, blocks.rowStep},
        pixels{problem.sizes.pixels, blocks.pixelBlocks, blocks.pixelStep},
        isInPlace(problem.pictureStride && problem.pictureStride * blocks.channelStep <= shares.inPlace &&
                  blocks.pictureStep == 1),
        panels(divideCeil(problem.sizes.columns, problem.getWidth())),
        outer(double(problem.sizes.outer * problem.sizes.pictures)),
        groups(double(problem.sizes.outer * blocks.pictureBlocks)), together(blocks.pictureStep),
        bytes(double(problem.bytes)), planes(double(problem.sizes.channels * problem.units.depthTaps)),
        stepPlanes(double(blocks.channelStep * problem.units.depthTaps)) {}

  TilingCost get() {
    if (problem.units.values)
      addTransformed();
    else
      addDirect();
    addResults();
    cost.overhead += callOfProgram + double(blocks.tiles) * callOfRun;
    hideTransfers(transfers, cost);
    cost.packing += exposedPacked * packed.getCycles();
    showTransfers(unforeseen, exposedPanels, cost);
    showTransfers(windows, exposedWindows, cost);
    cost.fetched = transfers.fetched + packed.fetched + windows.fetched;
    return cost;
  }

  const ConvolutionBlocks<int64_t> &getBlocksOfTiles() const { return blocks; }

private:
  double getWeights(double ofChannel) const { return double(panels * problem.getWidth()) * planes * ofChannel * bytes; }
  /// Bytes of the rows of a picture that windows see.
  double getPicture() const {
    return planes * double(problem.sizes.rows * std::min(problem.rowStride, problem.rowSpan)) *
           double(problem.sizes.pixels * problem.pixelStride) * bytes;
  }

  /// Copies the part of a picture that a tile's windows see, for each block of output channels. Returns its bytes in a
  /// whole tile, of one block of channels.
  double addCopies() {
    double stride = double(problem.pixelStride);
    int64_t copiedStride = problem.rowSpan == 1 ? 1 : problem.rowStride;
    auto countVectors = [&](int64_t count) {
      return double(divideCeil(count + (problem.pixelSpan - 1) / problem.pixelStride, problem.lanes)) * stride;
    };
    // The border's vectors have loops of their own.
    double perRow = pixels.sum([&](int64_t) { return double(problem.pixelSpan > 1 ? 2 : 1); });
    double vectorsOfRow = pixels.sum(countVectors);
    double copiedRows = rows.sum([&](int64_t count) { return (count - 1) * copiedStride + problem.rowSpan; });
    if (together > 1)
      return addInterleaving(copiedRows, copiedStride);
    double times = outer * double(blocks.columnBlocks) * planes * copiedRows;
    double vectors = times * vectorsOfRow;
    cost.packing += times * perRow * copiedRow + vectors * (problem.pixelStride > 1 ? interleavedVector : copiedVector);
    double copied = vectors * double(problem.lanes) * bytes;
    double ofTile = stepPlanes * double((rows.step - 1) * copiedStride + problem.rowSpan) * countVectors(pixels.step) *
                    double(problem.lanes) * bytes;
    addCopied(copied, times * double(pixels.count), ofTile);
    return ofTile;
  }

  /// The same of pictures that go together, element by element, the border's elements too; runs that no tap reads are
  /// left out.
  double addInterleaving(double copiedRows, int64_t copiedStride) {
    double runs = double(std::min(problem.pixelStride, problem.pixelSpan));
    auto countElements = [&](int64_t count) {
      double elements = double((count - 1) * problem.pixelStride + problem.pixelSpan);
      return elements * runs / double(problem.pixelStride) * double(together);
    };
    double times = groups * double(blocks.columnBlocks) * planes * copiedRows, ofRow = pixels.sum(countElements);
    cost.packing += times * (ofRow * copiedElement + double(pixels.count * together) * runs * copiedRun);
    double ofTile =
        stepPlanes * double((rows.step - 1) * copiedStride + problem.rowSpan) * countElements(pixels.step) * bytes;
    addCopied(times * ofRow * bytes, times * double(pixels.count * together), ofTile);
    return ofTile;
  }

  /// Bytes that are copied in so many pieces of rows. Blocks of output channels come one after the other: each finds
  /// the picture where all of it is, beside the copy of a tile.
  void addCopied(double copied, double pieces, double ofTile) {
    double picture = getPicture() * double(together) + ofTile, l1 = double(rates.l1Bytes), l2 = double(rates.l2Bytes);
    packed.fetch(copied, picture);
    cost.packing += pieces * rates.beginOfPiece * getMissingPart(picture, l2 / 2, l2);
    double beyondL1 = copied * getMissingPart(ofTile, l1 / 2, l1);
    packed.fetch(beyondL1, ofTile);
    packed.write(beyondL1, ofTile);
  }

  /// Weights pass by once for each tile, from where those of a block of output channels are, if they stay there beside
  /// what else a tile needs.
  void addWeights(double ofChannel, double others, double blocksOfPanel) {
    double all = getWeights(ofChannel), positions = groups * double(rows.count * pixels.count);
    double ofBlock = all / double(blocks.columnBlocks) + others;
    transfers.fetch((positions - 1) * all, ofBlock);
    transfers.fetch(all, all);
    double part = getUnforeseenPart(blocksOfPanel, problem.getWidth() * problem.bytes);
    unforeseen.fetch(part * (positions - 1) * all, ofBlock);
    unforeseen.fetch(part * all, all);
  }

  void addDirect() {
    double l1 = double(rates.l1Bytes), half = double(rates.l2Bytes) / 2, ofChannel = double(problem.taps);
    double depth = planes * ofChannel, width = double(problem.getWidth()), tilePanels = double(blocks.panelStep);
    auto countBlocks = [&](int64_t count) { return divideCeil(count * together, problem.kernelRows); };
    // Each step of k has an offset.
    cost.compute = groups * double(problem.sizes.rows) * depth * pixels.sum([&](int64_t count) {
      return getAllPanelsCycles(problem, count * together, problem.sizes.columns, /*otherLoads=*/1, rates);
    });
    double calls = groups * double(problem.sizes.rows * pixels.count * panels * blocks.channelBlocks);
    double blocksOfRow = pixels.sum(countBlocks);
    cost.overhead += calls * callOfPanel + calls / double(pixels.count) * blocksOfRow * callOfBlock;

    double copy = isInPlace ? stepPlanes * double(pixels.step) * bytes : addCopies();
    double panel = stepPlanes * ofChannel * width * bytes;
    double sums = double(rows.step * pixels.step * together) * width * bytes;
    // A strip has the elements of its windows, each step's in lines of its own.
    double strip = stepPlanes * double(problem.rowSpan) *
                   (double(problem.kernelRows - 1 + problem.pixelSpan * together) * bytes + double(lineBytes));
    double strips = calls / double(pixels.count) * blocksOfRow;
    double panelsBeyond = getMissingPart(panel + strip, l1 / 2, 1.5 * l1);
    transfers.fetched.l2 += panelsBeyond * strips * panel;
    windows.fetched.l2 += panelsBeyond * strips * strip;
    // The copy passes by for every panel, or once for a single one.
    double passes = double(blocks.channelBlocks) * groups * double(rows.count * pixels.count) * double(panels);
    double picture = isInPlace ? getPicture() : copy;
    double copyBeyond = getMissingPart(copy + panel, l1 / 2, l1);
    double copyFar = getMissingPart(copy + 2 * panel + sums, half, 2 * half);
    transfers.fetched.l2 += passes * copy * copyBeyond * (1 - copyFar);
    transfers.fetch(passes * copy * copyFar, std::max(picture, 2 * half));
    if (isInPlace) {
      transfers.fetch(outer * double(blocks.columnBlocks) * getPicture(), getPicture());
      // Channels lie in pages of their own.
      cost.overhead += strips * stepPlanes * missInPlace *
                       countMisses(int64_t(stepPlanes), problem.pictureStride * problem.bytes, pagesAtOnce);
    }
    addWeights(ofChannel, copy + sums * tilePanels, double(rows.step) * double(countBlocks(pixels.step)));
    addSums(sums * tilePanels, copy + getWeights(ofChannel) / double(blocks.columnBlocks * blocks.channelBlocks));
  }

  /// Sums of all panels of a tile are read and written for each further block of channels.
  void addSums(double ofTile, double others) {
    double results = outer * double(problem.sizes.rows * problem.sizes.pixels * panels * problem.getWidth());
    double times = double(blocks.channelBlocks - 1);
    cost.overhead += results / double(problem.lanes) * (storedVector + times * addedVector);
    if (ofTile > double(rates.l1Bytes) / 2) {
      transfers.fetch((times + 1) * results * bytes, ofTile + others);
      transfers.write((times + 1) * results * bytes, ofTile + others);
    }
  }

  void addTransformed() {
    double values = double(problem.units.values), width = double(problem.getWidth());
    int64_t outputs = problem.units.outputs;
    auto countSquares = [&](int64_t count) { return divideCeil(count, outputs); };
    auto countVectors = [&](int64_t count) { return divideCeil(divideCeil(count, outputs), problem.lanes); };
    double squareRows = rows.sum(countSquares), squares = squareRows * pixels.sum(countSquares);
    // Products of squares: all of a tile are rows of the micro-kernel.
    auto ofTile = [&](int64_t rowCount, int64_t pixelCount) {
      return getPanelCycles(countSquares(rowCount) * countSquares(pixelCount), problem.kernelRows, problem.vectors,
                            /*otherLoads=*/1, rates);
    };
    double steps = rows.sum(
        [&](int64_t rowCount) { return pixels.sum([&](int64_t pixelCount) { return ofTile(rowCount, pixelCount); }); });
    cost.compute = outer * double(panels) * values * planes * steps;
    double positions = outer * double(rows.count * pixels.count);
    double tileSquares = double(countSquares(rows.step) * countSquares(pixels.step));
    double blocksOfTile = double(divideCeil(int64_t(tileSquares), problem.kernelRows));
    double calls = positions * double(panels * blocks.channelBlocks) * values;
    cost.overhead += calls * (callOfPanel + blocksOfTile * callOfBlock);

    // Channels are copied and transformed one by one, in vectors of the squares of a row.
    double copy = addCopies() / stepPlanes;
    double vectors = outer * double(blocks.columnBlocks) * planes * squareRows * pixels.sum(countVectors) * values;
    cost.packing += vectors * transformedValue + positions * double(blocks.columnBlocks) * planes * callOfTransform;
    double picture = values * stepPlanes * tileSquares * bytes, l1 = double(rates.l1Bytes);
    double ofValue = stepPlanes * (tileSquares + width) * bytes;
    bool isKept = blocks.channelBlocks > 1;
    double products = values * tileSquares * width * bytes, kept = products * double(isKept ? blocks.panelStep : 1);
    // What a panel passes by with its weights, and what comes between two blocks of channels, or tiles.
    double panel = values * stepPlanes * width * bytes, ofPanel = picture + products + panel;
    double ofBlock = picture + kept + panel * double(blocks.panelStep);
    packed.write(outer * double(blocks.columnBlocks) * planes * squares * values * bytes, ofBlock + copy);
    double passed = positions * double(panels * blocks.channelBlocks) * picture;
    transfers.fetch(passed, ofPanel);
    transfers.fetched.l2 +=
        calls * blocksOfTile * stepPlanes * width * bytes * getMissingPart(ofValue, l1 / 2, 1.5 * l1);
    double ofProducts = outer * double(panels) * squares * values * width * bytes;
    transfers.write(double(blocks.channelBlocks) * ofProducts, isKept ? ofBlock : ofPanel);
    transfers.fetch(double(blocks.channelBlocks) * ofProducts, isKept ? ofBlock : products);
    cost.overhead += ofProducts / bytes / double(problem.lanes) *
                     (transformedProduct + storedVector + double(blocks.channelBlocks - 1) * addedVector);
    addWeights(values, picture + kept, blocksOfTile);
  }

  /// Squares of channels and pixels are transposed and stored.
  void addResults() {
    int64_t lanes = problem.lanes;
    double parts = double(problem.sizes.columns) / double(lanes), ofRow = pixels.sum([&](int64_t count) {
      bool hasPart = count % lanes && !(problem.overlaps && count > lanes);
      return double(divideCeil(count, lanes)) * storedSum + (hasPart ? storedPart : 0);
    });
    cost.overhead += outer * double(problem.sizes.rows) * parts * double(lanes) * ofRow;
    // Squares of transformed filters stay together as those of a pooling do, which become one result.
    int64_t pooledRows = problem.units.values ? 1 : problem.units.rows;
    int64_t pooledPixels = problem.units.values ? 1 : problem.units.pixels;
    double channels = outer * double(problem.sizes.columns), rowsOfPlane = double(problem.sizes.rows / pooledRows);
    double plane = rowsOfPlane * double(problem.sizes.pixels / pooledPixels) * bytes, results = channels * plane;
    transfers.fetch(results, results);
    transfers.write(results, results);
    // A tile's pieces of rows begin and end within lines, and lie in pages of as many channels.
    double pieces = channels * rowsOfPlane * double(pixels.count);
    transfers.fetch(pieces * double(lineBytes) / 2, results);
    int64_t ofTile = std::min(blocks.panelStep * problem.getWidth(), problem.sizes.columns);
    cost.overhead +=
        (results / double(lineBytes) + pieces) * missOfResult * countMisses(ofTile, int64_t(plane), pagesOfResults);
  }

  const ConvolutionProblem &problem;
  const DeviceRates &rates;
  ConvolutionBlocks<int64_t> blocks;
  Division rows, pixels;
  bool isInPlace;
  int64_t panels;
  /// Pictures, and groups of those that go together: so many each.
  double outer, groups;
  int64_t together;
  double bytes, planes, stepPlanes;
  TilingCost cost;
  Transfers transfers{rates}, packed{rates}, unforeseen{rates}, windows{rates};
};

} // namespace

ConvolutionBlocks<int64_t> tile::getBlocks(const ConvolutionProblem &problem, const ConvolutionShares &shares) {
  return getBlocks<int64_t>(ConvolutionOfProblem{problem, shares}, problem.units, problem.sizes, IntegerOperations());
}

ConvolutionSteps ConvolutionSteps::get(const ConvolutionProblem &problem, const ConvolutionShares &shares) {
  ConvolutionBlocks<int64_t> blocks = getBlocks(problem, shares);
  return {blocks.channelStep, blocks.pixelStep, blocks.rowStep, blocks.pictureStep, blocks.panelStep};
}

double tile::getBusiest(const ConvolutionProblem &problem, const ConvolutionBlocks<int64_t> &blocks, int64_t workers) {
  Division rows{problem.sizes.rows, blocks.rowBlocks, blocks.rowStep};
  Division pixels{problem.sizes.pixels, blocks.pixelBlocks, blocks.pixelStep};
  int64_t width = problem.getWidth(), panels = divideCeil(problem.sizes.columns, width);
  Division columns{panels, blocks.columnBlocks, blocks.panelStep};
  Division pictures{problem.sizes.pictures, blocks.pictureBlocks, blocks.pictureStep};
  double area = double(rows.extent) * double(pixels.extent), ofPicture = area * double(panels);
  /// The work of the tiles before one.
  auto getBefore = [&](int64_t tile) {
    int64_t pixel = tile % pixels.count, row = tile / pixels.count % rows.count;
    int64_t column = tile / pixels.count / rows.count % columns.count;
    double ofRow = double(rows.before(row)) * double(pixels.extent) + double(rows.of(row) * pixels.before(pixel));
    int64_t group = tile / pixels.count / rows.count / columns.count, block = group % pictures.count;
    double before = double(group / pictures.count * pictures.extent + pictures.before(block)) * ofPicture;
    return before +
           double(pictures.of(block)) * (double(columns.before(column)) * area + double(columns.of(column)) * ofRow);
  };
  double all = double(problem.sizes.outer * problem.sizes.pictures) * ofPicture, most = 0;
  for (int64_t worker = 0; worker < workers; ++worker)
    most =
        std::max(most, getBefore(blocks.tiles * (worker + 1) / workers) - getBefore(blocks.tiles * worker / workers));
  return most * double(workers) / all;
}

TilingCost tile::estimateConvolution(const ConvolutionProblem &problem, const ConvolutionShares &shares,
                                     const DeviceRates &rates, int64_t workers) {
  ConvolutionEstimate estimate(problem, shares, rates);
  TilingCost cost = estimate.get();
  if (workers > 1)
    spread(cost, workers, getBusiest(problem, estimate.getBlocksOfTiles(), workers));
  return cost;
}
