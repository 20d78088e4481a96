#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITWINDOW_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITWINDOW_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits a program tiled as windows: a tile's input is copied with its border, then blocks of channels, rows and pixels
/// are reduced in registers, tap by tap, without bounds checks.
void emitWindow(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITWINDOW_H
