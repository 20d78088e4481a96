#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITWEIGHTGRADIENT_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITWEIGHTGRADIENT_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits the gradient of a convolution's weights. Of every image, what the places of a block of rows see of the picture
/// is copied with its border, pixel after pixel with all channels, and a panel of the gradient place after place;
/// micro-kernels then add up, for each row of taps, all its taps and channels at once, and find the picture at offsets
/// of the places.
void emitWeightGradient(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITWEIGHTGRADIENT_H
