#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITCONVOLUTION_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITCONVOLUTION_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits a program with a convolution's plan. The part of the picture that a tile covers is copied with its border, so
/// that every step of k reads it at a fixed offset. Micro-kernels accumulate panels of output channels, pixel by pixel.
/// The results are transposed, since pixels are contiguous in memory, and go through the epilogue.
void emitConvolution(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITCONVOLUTION_H
