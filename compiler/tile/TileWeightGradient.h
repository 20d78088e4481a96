#ifndef FREESTONE_COMPILER_TILE_TILEWEIGHTGRADIENT_H
#define FREESTONE_COMPILER_TILE_TILEWEIGHTGRADIENT_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/WeightGradientForm.h"
#include "compiler/tile/TypicalRuns.h"

namespace freestone::tile {

/// The tiling of a convolution's weight gradient. With `transform`, its sums are transformed (see WinogradTransforms)
/// where that takes least time in typical runs. Null where only transformed sums are better than a convolution's
/// tiling, and they are not.
WeightGradientTilingAttr tileWeightGradient(WeightGradientForm &form, const TypicalRuns &runs,
                                            const DeviceDescription &device, bool transform);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILEWEIGHTGRADIENT_H
