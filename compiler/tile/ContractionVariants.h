#ifndef FREESTONE_COMPILER_TILE_CONTRACTIONVARIANTS_H
#define FREESTONE_COMPILER_TILE_CONTRACTIONVARIANTS_H

#include "compiler/tile/ConstructContraction.h"

namespace freestone::tile {

/// Shares for the problems in which an extent is at most a number.
struct ContractionVariant {
  int64_t ContractionProblem::*extent;
  int64_t most;
  ContractionShares shares;
};

/// The first of `variants` whose condition holds, or `otherwise`.
struct ContractionVariants {
  llvm::SmallVector<ContractionVariant> variants;
  ContractionShares otherwise;
};

inline constexpr size_t mostTilings = 3;

/// The best candidate for all problems, and others for classes of them as long as these pay: code and time to compile
/// it grow with each; `most` in all. The problems are those for which the candidates were constructed. Deterministic.
ContractionVariants chooseVariants(llvm::ArrayRef<ContractionProblem> problems,
                                   llvm::ArrayRef<ContractionCandidate> candidates, const DeviceRates &rates,
                                   size_t most = mostTilings);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_CONTRACTIONVARIANTS_H
