#ifndef FREESTONE_COMPILER_TILE_CONVOLUTIONCOST_H
#define FREESTONE_COMPILER_TILE_CONVOLUTIONCOST_H

#include "compiler/plan/ConvolutionTiles.h"
#include "compiler/tile/CostModel.h"

namespace freestone::tile {

/// A convolution at given sizes.
struct ConvolutionProblem {
  ConvolutionSizes<int64_t> sizes;
  ConvolutionUnits units;
  /// As of `ConvolutionForm`.
  int64_t taps = 1, rowStride = 1, pixelStride = 1, rowSpan = 1, pixelSpan = 1;
  /// Elements between channels where the picture may be read in place; 0 elsewhere.
  int64_t pictureStride = 0;
  /// Whether there is a loop over rows, and whether the last vector of results of a row begins within the one before.
  bool hasRows = false, overlaps = false;
  int64_t bytes = 4;
  /// The micro-kernel's block; the vectors of a last panel whose columns fit them, or 0.
  int64_t kernelRows = 6, vectors = 2, lanes = 8, lastVectors = 0;

  int64_t getWidth() const { return vectors * lanes; }
};

/// The numbers of `#tile.convolution`, for all sizes.
struct ConvolutionShares {
  int64_t pixels, area, panels, channels, leastTiles, inPlace, transformed, pictures = 1;

  static ConvolutionShares get(ConvolutionTilingAttr tiling);
  bool operator==(const ConvolutionShares &) const = default;
};

/// The blocks of a tiling at the sizes of a problem.
ConvolutionBlocks<int64_t> getBlocks(const ConvolutionProblem &problem, const ConvolutionShares &shares);

/// What a tiling is at the sizes of a problem: channels in of a block, and a tile's pixels, rows, pictures and panels.
struct ConvolutionSteps {
  int64_t channels, pixels, rows, pictures, panels;

  static ConvolutionSteps get(const ConvolutionProblem &problem, const ConvolutionShares &shares);
  auto operator<=>(const ConvolutionSteps &) const = default;
};

/// The time of a tiled convolution with so many workers, as `estimateContraction`: `packing` is copying or transforming
/// the picture, and `overhead` has what follows on the sums. Sizes are at least 1.
TilingCost estimateConvolution(const ConvolutionProblem &problem, const ConvolutionShares &shares,
                               const DeviceRates &rates, int64_t workers);

/// How much more the busiest of so many workers has than an equal share of all pixels and panels.
double getBusiest(const ConvolutionProblem &problem, const ConvolutionBlocks<int64_t> &blocks, int64_t workers);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_CONVOLUTIONCOST_H
