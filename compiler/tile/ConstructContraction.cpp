#include "compiler/tile/ConstructContraction.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <map>

using namespace freestone;
using namespace freestone::tile;

/// Values from `unit` on, multiplied by `factor` while they are at most `most`; `unit` at least.
static llvm::SmallVector<int64_t> grow(int64_t unit, int64_t factor, int64_t most) {
  llvm::SmallVector<int64_t> values = {unit};
  while (values.back() * factor <= most)
    values.push_back(values.back() * factor);
  return values;
}

/// Steps of k whose panel takes so many bytes, in whole lines and vectors.
static int64_t alignDepth(const ContractionProblem &problem, int64_t depthUnit, int64_t bytes) {
  int64_t unit = std::max<int64_t>(depthUnit, 64);
  return std::max<int64_t>(1, bytes / (problem.getWidth() * problem.bytes) / unit) * unit;
}

/// The depths whose panels take a quarter of L1, a half, all of it, and powers of two up to an eighth of L2 and a half
/// of the pages that are translated at once.
static llvm::SmallVector<int64_t> getDepths(const ContractionProblem &problem, const DeviceRates &rates,
                                            int64_t depthUnit) {
  auto align = [&](int64_t bytes) { return alignDepth(problem, depthUnit, bytes); };
  llvm::SmallVector<int64_t> depths = {align(rates.l1Bytes / 4), align(rates.l1Bytes / 2), align(rates.l1Bytes)};
  // Powers of two, since extents often are.
  constexpr int64_t mostPages = 32;
  int64_t most = std::min(rates.l2Bytes / 8, mostPages * pageBytes);
  for (int64_t bytes = llvm::PowerOf2Ceil(rates.l1Bytes); bytes <= most; bytes *= 2)
    depths.push_back(align(bytes));
  llvm::sort(depths);
  depths.erase(llvm::unique(depths), depths.end());
  return depths;
}

double ContractionCandidate::getCost(llvm::ArrayRef<size_t> problems) const {
  double sum = 0;
  for (size_t problem : problems)
    sum += costs[problem] * costs[problem];
  return sum / double(problems.size());
}

int64_t tile::getTiledWorkers(const DeviceRates &rates) { return std::max(rates.units, fewestWorkers); }

int64_t tile::getMostKeptRows(const DeviceRates &rates) { return std::min(rates.l3Bytes / 2, 4 * rates.l2Bytes); }
int64_t tile::getMostKeptColumns(const DeviceRates &rates) { return std::min(rates.l3Bytes / 2, 16 * rates.l2Bytes); }

ContractionShares tile::getPlainShares(const ContractionProblem &problem, const DeviceRates &rates, int64_t depthUnit) {
  int64_t depth = alignDepth(problem, depthUnit, rates.l1Bytes / 2), rowElements = rates.l2Bytes / 4 / problem.bytes;
  return {.rowElements = rowElements,
          .mostRows = int64_t(llvm::alignTo(std::max<int64_t>(1, rowElements / depth), problem.kernelRows)),
          .leastTiles = getTiledWorkers(rates),
          .panels = 4,
          .depth = depth,
          .depthUnit = depthUnit,
          .keptRows = getMostKeptRows(rates) / problem.bytes,
          .keptColumns = getMostKeptColumns(rates) / problem.bytes};
}

llvm::SmallVector<ContractionCandidate> tile::constructContraction(llvm::ArrayRef<ContractionProblem> problems,
                                                                   const DeviceRates &rates, int64_t depthUnit,
                                                                   const ContractionStrips &strips) {
  const ContractionProblem &first = problems.front();
  int64_t bytes = first.bytes;
  int64_t workers = getTiledWorkers(rates);
  int64_t mostRowsKept = getMostKeptRows(rates) / bytes, mostColumnsKept = getMostKeptColumns(rates) / bytes;
  llvm::SmallVector<ContractionCandidate> candidates;
  for (int64_t depth : getDepths(first, rates, depthUnit))
    for (int64_t rowBytes : {rates.l2Bytes / 8, rates.l2Bytes / 4, rates.l2Bytes / 2})
      for (int64_t mostRows : {rowBytes / bytes, 2 * pagesAtOnce, pagesAtOnce + first.kernelRows - 1, pagesOfResults})
        for (int64_t tilesOfWorker : {1, 4}) {
          // Sums of a run take as much of L2 as the rows do, while a row of them is a whole block of the kernel.
          int64_t ofPanel = first.kernelRows * first.getWidth() * bytes;
          for (int64_t panels : grow(1, 4, std::min<int64_t>(64, rowBytes / ofPanel))) {
            ContractionShares shares{
                .rowElements = rowBytes / bytes,
                .mostRows = std::max(first.kernelRows, int64_t(llvm::alignDown(mostRows, first.kernelRows))),
                .leastTiles = tilesOfWorker * workers,
                .panels = panels,
                .depth = depth,
                .depthUnit = depthUnit,
                .keptRows = mostRowsKept,
                .keptColumns = mostColumnsKept,
                .strips = strips};
            candidates.push_back({{shares}, candidates.size(), {}});
          }
        }
  if (first.innerRows > 0)
    candidates.push_back({{.shares = candidates.front().choice.shares, .isInner = true}, candidates.size(), {}});
  for (const ContractionProblem &problem : problems) {
    // Many candidates are the same at small sizes.
    std::map<std::pair<bool, TileSteps>, double> known;
    for (ContractionCandidate &candidate : candidates) {
      const ContractionChoice &choice = candidate.choice;
      auto [cost, isNew] = known.try_emplace({choice.isInner, TileSteps::get(problem, choice.shares)});
      if (isNew) {
        double alone = choice.estimate(problem, rates, 1).getTotal();
        double together = choice.estimate(problem, rates, workers).getTotal();
        cost->second = (std::log(alone) + std::log(together)) / 2;
      }
      candidate.costs.push_back(cost->second);
    }
    double least = INFINITY;
    for (const auto &[steps, cost] : known)
      least = std::min(least, cost);
    for (ContractionCandidate &candidate : candidates)
      candidate.costs.back() -= least;
  }
  llvm::SmallVector<size_t> all = llvm::to_vector(llvm::seq(problems.size()));
  llvm::sort(candidates, [&](const ContractionCandidate &lhs, const ContractionCandidate &rhs) {
    return std::pair(lhs.getCost(all), lhs.number) < std::pair(rhs.getCost(all), rhs.number);
  });
  return candidates;
}
