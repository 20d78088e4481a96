#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITWINDOW_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITWINDOW_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// A program whose plan is tiled as windows: what the windows of a tile see is copied with its border, then blocks of
/// channels, rows and pixels are reduced in registers, tap by tap, without looking where the picture ends.
void emitWindow(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITWINDOW_H
