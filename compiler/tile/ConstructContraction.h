#ifndef FREESTONE_COMPILER_TILE_CONSTRUCTCONTRACTION_H
#define FREESTONE_COMPILER_TILE_CONSTRUCTCONTRACTION_H

#include "compiler/tile/CostModel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace freestone::tile {

/// The number of workers is known at run time only: tilings suit one as well as one for each unit, or so many at least,
/// since the machine that compiles may be a small one.
inline constexpr int64_t fewestWorkers = 4;

struct ContractionCandidate {
  ContractionChoice choice;
  /// In the order of construction; the first of equals is the better one.
  size_t number = 0;
  /// For each problem, the logarithm of the predicted time relative to the best candidate's: the mean of those of one
  /// worker and of many.
  llvm::SmallVector<double, 0> costs;

  /// The mean square of the costs of so many problems, given by their numbers: bad cases weigh more than many small
  /// gains, which the model does not tell from its errors.
  double getCost(llvm::ArrayRef<size_t> problems) const;
};

/// Aligned candidates, grown level by level until a level's share is full (Roller; Zhu et al., OSDI 2022), with the
/// best one first, and inner products where they can compute it: ranked by the model at typical sizes of the program,
/// none of which may be missing, with such strips. Deterministic; there are at most `mostCandidates`.
llvm::SmallVector<ContractionCandidate> constructContraction(llvm::ArrayRef<ContractionProblem> problems,
                                                             const DeviceRates &rates, int64_t depthUnit,
                                                             const ContractionStrips &strips = {});
inline constexpr size_t mostCandidates = 1024;

/// Workers for which tilings have tiles.
int64_t getTiledWorkers(const DeviceRates &rates);

/// The most bytes that are kept packed: what is kept is a worker's, however many there are. Panels pass by once for
/// each block of rows, rows for each run.
int64_t getMostKeptRows(const DeviceRates &rates);
int64_t getMostKeptColumns(const DeviceRates &rates);

/// A tiling by the capacities of the device alone: a panel takes half of L1, rows a quarter of L2.
ContractionShares getPlainShares(const ContractionProblem &problem, const DeviceRates &rates, int64_t depthUnit);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_CONSTRUCTCONTRACTION_H
