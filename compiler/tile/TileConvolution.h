#ifndef FREESTONE_COMPILER_TILE_TILECONVOLUTION_H
#define FREESTONE_COMPILER_TILE_TILECONVOLUTION_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/ConvolutionForm.h"

namespace freestone::tile {

/// The tiling of a convolution whose weights are packed for the device's micro-kernel; of a stage of a chain, which
/// need not have tiles for all workers.
ConvolutionTilingAttr tileConvolution(ConvolutionForm &form, const DeviceDescription &device, bool isStage);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILECONVOLUTION_H
