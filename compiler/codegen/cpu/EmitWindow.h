#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITWINDOW_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITWINDOW_H

#include "compiler/codegen/cpu/VectorizeBody.h"
#include "compiler/plan/WindowForm.h"

namespace freestone::codegen {

/// Emits a program tiled as windows: a tile's input is copied with its border, then blocks of channels, rows and pixels
/// are reduced in registers, tap by tap, without bounds checks.
void emitWindow(tile::ProgramOp program, Emission &emission);

/// Emits the program for narrow pictures, with vectors along channels (`tile::ChannelVectors`).
void emitChannelVectors(tile::ProgramOp program, Emission &emission);

/// The body's reduction step. Convolutions use fused multiply-add: faster, and the product is not rounded.
mlir::Value accumulateWindow(Emission &emission, BodyVectorizer &body, tile::ComputeOp compute, mlir::Value sum);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITWINDOW_H
