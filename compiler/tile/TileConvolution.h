#ifndef FREESTONE_COMPILER_TILE_TILECONVOLUTION_H
#define FREESTONE_COMPILER_TILE_TILECONVOLUTION_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/ConvolutionForm.h"
#include "compiler/plan/WeightGradientForm.h"

namespace freestone::tile {

/// The tiling of a convolution whose weights are packed for the device's micro-kernel.
ConvolutionTilingAttr tileConvolution(ConvolutionForm &form, const DeviceDescription &device);

WeightGradientTilingAttr tileWeightGradient(WeightGradientForm &form, const DeviceDescription &device);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILECONVOLUTION_H
