#ifndef FREESTONE_COMPILER_TILE_TILECONVOLUTION_H
#define FREESTONE_COMPILER_TILE_TILECONVOLUTION_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/ConvolutionForm.h"
#include "compiler/tile/ConvolutionCost.h"
#include "compiler/tile/TypicalRuns.h"

namespace freestone::tile {

/// A convolution at the sizes of each run; the last vectors of rows may overlap those before.
llvm::SmallVector<ConvolutionProblem> getConvolutionProblems(ConvolutionForm &form, MicroKernelAttr kernel,
                                                             const TypicalRuns &runs, bool overlaps);

/// The tiling of a convolution whose weights are packed for the device's micro-kernel; of a stage of a chain, which
/// need not have tiles for all workers. Constructed for typical runs, or a plain one; taps that read a border of zeros
/// alone may be skipped, pictures go `together`, the last panel may have fewer vectors, the last vector of results of a
/// row may overlap the one before, and rows are prefetched before they are copied.
ConvolutionTilingAttr tileConvolution(ConvolutionForm &form, const TypicalRuns &runs, const DeviceDescription &device,
                                      bool isStage, bool construct, bool skipTaps, bool together, bool narrowPanels,
                                      bool overlaps, bool copiesAhead);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILECONVOLUTION_H
