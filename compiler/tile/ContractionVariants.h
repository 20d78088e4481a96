#ifndef FREESTONE_COMPILER_TILE_CONTRACTIONVARIANTS_H
#define FREESTONE_COMPILER_TILE_CONTRACTIONVARIANTS_H

#include "compiler/tile/ConstructContraction.h"

namespace freestone::tile {

/// The extents by which runs may choose a variant; of results, also the smaller one of rows and columns.
enum class ContractionExtent { outer, rows, columns, depth, narrower };

int64_t getExtent(const ContractionProblem &problem, ContractionExtent extent);

/// A choice for the problems in which an extent is at most a number.
struct ContractionVariant {
  ContractionExtent extent;
  int64_t most;
  ContractionChoice choice;
};

/// The first of `variants` whose condition holds, or `otherwise`.
struct ContractionVariants {
  llvm::SmallVector<ContractionVariant> variants;
  ContractionChoice otherwise;
};

inline constexpr size_t mostTilings = 4;

/// The best candidate for all problems, and others for classes of them as long as these pay: code and time to compile
/// it grow with each; `most` in all. The problems are those for which the candidates were constructed. Deterministic.
ContractionVariants chooseVariants(llvm::ArrayRef<ContractionProblem> problems,
                                   llvm::ArrayRef<ContractionCandidate> candidates, const DeviceRates &rates,
                                   size_t most = mostTilings);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_CONTRACTIONVARIANTS_H
