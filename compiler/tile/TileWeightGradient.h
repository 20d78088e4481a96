#ifndef FREESTONE_COMPILER_TILE_TILEWEIGHTGRADIENT_H
#define FREESTONE_COMPILER_TILE_TILEWEIGHTGRADIENT_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/WeightGradientForm.h"
#include "compiler/tile/TypicalRuns.h"

namespace freestone::tile {

/// Whether sums may be transformed (see WinogradTransforms), channels copied apart, and what is packed next prefetched.
struct GradientSwitches {
  bool transform, apart, bring;
};

/// The tiling of a convolution's weight gradient, with sums transformed where that takes least time in typical runs.
/// Null where only transformed sums are better than another tiling, and they are not: than a convolution's, or than
/// dot products of words (`hasWords`).
WeightGradientTilingAttr tileWeightGradient(WeightGradientForm &form, const TypicalRuns &runs,
                                            const DeviceDescription &device, GradientSwitches switches, bool hasWords);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILEWEIGHTGRADIENT_H
