#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITWEIGHTGRADIENT_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITWEIGHTGRADIENT_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits a convolution's weight gradient. For every image, the part of the picture that a row block covers is copied
/// with its border, pixel by pixel with all channels, and a panel of the output gradient position by position. For each
/// row of taps, micro-kernels then accumulate all its taps and channels at once, reading the picture at the positions'
/// offsets.
void emitWeightGradient(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITWEIGHTGRADIENT_H
