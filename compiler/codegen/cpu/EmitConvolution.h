#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITCONVOLUTION_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITCONVOLUTION_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits a program planned for "convolution": the part of the picture that a tile sees is copied with its border, so
/// that every step of k reads it at a fixed offset; micro-kernels add up panels of channels out, pixel by pixel; sums
/// are transposed, since results have pixels as neighbours, and go through the epilogue.
void emitConvolution(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITCONVOLUTION_H
