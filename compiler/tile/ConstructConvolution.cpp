#include "compiler/tile/ConstructConvolution.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <map>

using namespace freestone;
using namespace freestone::tile;
using llvm::divideCeil;

static void sortUnique(llvm::SmallVector<int64_t> &values) {
  llvm::sort(values);
  values.erase(llvm::unique(values), values.end());
}

/// Elements that a half of L2 holds: what of a picture is read in place (from farther away, lines of as many channels
/// come faster one channel after the other), or of a transformed one.
static int64_t getHalfOfL2(const ConvolutionProblem &problem, const DeviceRates &rates) {
  return rates.l2Bytes / 2 / problem.bytes;
}

/// Channels of a block whose part of a panel takes so many bytes.
static int64_t getChannels(const ConvolutionProblem &problem, int64_t bytes) {
  int64_t ofChannel = problem.getWidth() * problem.bytes * problem.taps * problem.units.depthTaps;
  return std::max<int64_t>(1, bytes / ofChannel);
}

/// Channels of a block that leaves a micro-kernel's rows of squares in so many elements of the transformed picture.
static int64_t getTransformedChannels(const ConvolutionProblem &problem, int64_t elements) {
  return std::max<int64_t>(1, elements / (problem.units.values * problem.kernelRows * problem.units.depthTaps));
}

ConvolutionShares tile::getPlainShares(const ConvolutionProblem &problem, const DeviceRates &rates, bool isStage) {
  // Rows of whole micro-kernels, and as many rows as keep the accumulators of a tile in L2 next to the weights.
  int64_t area = 16 * problem.kernelRows, half = getHalfOfL2(problem, rates);
  ConvolutionShares shares{.pixels = problem.hasRows ? area / 2 : area,
                           .area = area,
                           .panels = 8,
                           .channels = getChannels(problem, rates.l1Bytes * 3 / 4),
                           .leastTiles = isStage ? 1 : 16,
                           .inPlace = half,
                           .transformed = 0};
  if (problem.units.values) {
    shares.transformed = half;
    shares.channels = getTransformedChannels(problem, half);
    shares.pixels = shares.area = 2 * problem.kernelRows * problem.units.outputs;
  }
  return shares;
}

namespace {

/// Candidates for the problems of a program.
class Construction {
public:
  Construction(llvm::ArrayRef<ConvolutionProblem> problems, const DeviceRates &rates, bool isStage, bool together)
      : problems(problems), first(problems.front()), rates(rates), isStage(isStage), together(together) {}

  llvm::SmallVector<ConvolutionCandidate> get() {
    // What sums of a tile and its copy share with weights: half of L2.
    int64_t most = rates.l2Bytes / 2 / (first.bytes * first.getWidth());
    llvm::SmallVector<int64_t> leastTiles = {1};
    if (!isStage)
      leastTiles = {4, 16, 32};
    for (int64_t pixels : getPixels())
      for (int64_t area : getAreas(pixels, most))
        for (int64_t channels : getChannelCounts())
          for (int64_t panels : {1, 2, 4, 8, 16})
            for (int64_t least : leastTiles)
              for (int64_t pictures : getPictures(area))
                add(pixels, area, channels, panels, least, pictures);
    return std::move(candidates);
  }

private:
  void add(int64_t pixels, int64_t area, int64_t channels, int64_t panels, int64_t leastTiles, int64_t pictures) {
    ConvolutionShares shares{.pixels = first.hasRows ? std::min(pixels, area) : area,
                             .area = area,
                             .panels = panels,
                             .channels = channels,
                             .leastTiles = leastTiles,
                             .inPlace = getHalfOfL2(first, rates),
                             .transformed = 0,
                             .pictures = pictures};
    if (first.units.values) {
      // The area is that of as many squares for the planes of a block.
      int64_t squares = area / (first.units.outputs * first.units.outputs);
      shares.transformed = squares * first.units.values * std::min(channels, getMostChannels()) * first.units.depthTaps;
      shares.pixels = shares.area = pixels;
    }
    candidates.push_back({shares, candidates.size(), 0});
  }

  /// The most pictures of a tile: one, or as many as fill the area.
  llvm::SmallVector<int64_t> getPictures(int64_t area) const {
    constexpr int64_t most = 64;
    auto leavesRoom = [&](const ConvolutionProblem &problem) {
      return problem.sizes.pictures > 1 && 2 * problem.sizes.rows * problem.sizes.pixels <= area;
    };
    if (together && !isStage && !first.units.values && llvm::any_of(problems, leavesRoom))
      return {1, most};
    return {1};
  }

  int64_t getMostChannels() const {
    int64_t most = 1;
    for (const ConvolutionProblem &problem : problems)
      most = std::max(most, problem.sizes.channels);
    return most;
  }

  /// The most pixels of a row: whole blocks of the micro-kernel, or rows of the sizes at hand in halves and quarters.
  llvm::SmallVector<int64_t> getPixels() const {
    int64_t unit = first.units.values ? first.kernelRows * first.units.outputs : first.kernelRows;
    // Without rows, a tile is a part of the only one.
    if (!first.hasRows)
      return {unit};
    if (first.units.values)
      return {alignPixels(unit), alignPixels(2 * unit)};
    return {alignPixels(4 * unit), alignPixels(8 * unit), alignPixels(16 * unit)};
  }

  int64_t alignPixels(int64_t pixels) const { return int64_t(llvm::alignTo(pixels, first.units.pixels)); }

  /// Areas of tiles: powers of two of blocks of the micro-kernel, and equal parts of the pictures at hand.
  llvm::SmallVector<int64_t> getAreas(int64_t pixels, int64_t most) const {
    llvm::SmallVector<int64_t> areas;
    int64_t ofSquare = std::max<int64_t>(1, first.units.outputs * first.units.outputs);
    int64_t unit = first.kernelRows * ofSquare;
    for (int64_t blocks = 1; blocks <= 64; blocks *= 2)
      areas.push_back(blocks * unit);
    for (const ConvolutionProblem &problem : problems) {
      auto [outer, columns, rows, all, channels, pictures] = problem.sizes;
      int64_t ofRow = alignPixels(divideCeil(all, divideCeil(all, pixels)));
      for (int64_t parts = 1; parts <= 32; parts *= 2) {
        int64_t rowsOfPart = int64_t(llvm::alignTo(divideCeil(rows, parts), problem.units.rows));
        areas.push_back(problem.hasRows ? rowsOfPart * ofRow
                                        : int64_t(llvm::alignTo(divideCeil(all, parts), problem.lanes)));
      }
    }
    sortUnique(areas);
    // A tile holds a row of pixels.
    int64_t least = first.units.values || !first.hasRows ? unit : pixels * first.units.rows;
    llvm::erase_if(areas, [&](int64_t area) { return area > most || area < least; });
    return areas;
  }

  llvm::SmallVector<int64_t> getChannelCounts() const {
    llvm::SmallVector<int64_t> counts;
    int64_t half = getHalfOfL2(first, rates), most = getMostChannels();
    if (first.units.values)
      for (int64_t elements : {half / 8, half / 2, half})
        counts.push_back(std::min(most, getTransformedChannels(first, elements)));
    else
      for (int64_t bytes :
           {rates.l1Bytes / 4, rates.l1Bytes / 2, rates.l1Bytes * 3 / 4, rates.l1Bytes * 3 / 2, rates.l1Bytes * 3})
        counts.push_back(std::min(most, getChannels(first, bytes)));
    sortUnique(counts);
    return counts;
  }

  llvm::ArrayRef<ConvolutionProblem> problems;
  const ConvolutionProblem &first;
  const DeviceRates &rates;
  bool isStage, together;
  llvm::SmallVector<ConvolutionCandidate> candidates;
};

} // namespace

llvm::SmallVector<ConvolutionCandidate> tile::constructConvolution(llvm::ArrayRef<ConvolutionProblem> problems,
                                                                   const DeviceRates &rates, bool isStage,
                                                                   bool together) {
  llvm::SmallVector<ConvolutionCandidate> candidates = Construction(problems, rates, isStage, together).get();
  llvm::SmallVector<int64_t> workersOfRuns = getWorkersOfRuns(rates.units);
  for (const ConvolutionProblem &problem : problems) {
    // Many candidates are the same at small sizes.
    std::map<ConvolutionSteps, double> known;
    llvm::SmallVector<double> costs;
    double least = INFINITY;
    for (ConvolutionCandidate &candidate : candidates) {
      auto [cost, isNew] = known.try_emplace(ConvolutionSteps::get(problem, candidate.shares));
      if (isNew) {
        ConvolutionBlocks<int64_t> blocks = getBlocks(problem, candidate.shares);
        cost->second = std::log(estimateConvolution(problem, candidate.shares, rates, 1).getTotal());
        if (!isStage)
          for (int64_t workers : workersOfRuns)
            cost->second += std::log(getBusiest(problem, blocks, workers)) / double(workersOfRuns.size());
      }
      costs.push_back(cost->second);
      least = std::min(least, cost->second);
    }
    for (auto [candidate, cost] : llvm::zip_equal(candidates, costs))
      candidate.cost += (cost - least) * (cost - least) / double(problems.size());
  }
  llvm::sort(candidates, [](const ConvolutionCandidate &lhs, const ConvolutionCandidate &rhs) {
    return std::pair(lhs.cost, lhs.number) < std::pair(rhs.cost, rhs.number);
  });
  return candidates;
}
