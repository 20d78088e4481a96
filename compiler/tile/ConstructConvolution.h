#ifndef FREESTONE_COMPILER_TILE_CONSTRUCTCONVOLUTION_H
#define FREESTONE_COMPILER_TILE_CONSTRUCTCONVOLUTION_H

#include "compiler/tile/ConvolutionCost.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace freestone::tile {

struct ConvolutionCandidate {
  ConvolutionShares shares;
  /// In the order of construction; the first of equals is the better one.
  size_t number = 0;
  /// The mean square of the logarithms of the predicted times relative to the best candidates' of each problem: each is
  /// the mean of those of some numbers of workers.
  double cost = 0;
};

/// Aligned candidates, with the best one first: ranked by the model at typical sizes of the program, none of which may
/// be missing. Stages of a chain are computed by one worker, in one block of output channels, picture by picture; of
/// others several may go `together`. Deterministic.
llvm::SmallVector<ConvolutionCandidate> constructConvolution(llvm::ArrayRef<ConvolutionProblem> problems,
                                                             const DeviceRates &rates, bool isStage, bool together);

/// A tiling by the capacities of the device alone.
ConvolutionShares getPlainShares(const ConvolutionProblem &problem, const DeviceRates &rates, bool isStage);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_CONSTRUCTCONVOLUTION_H
