#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITOPAQUE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITOPAQUE_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits a program of a single `tile.opaque`: its body, once per tile. Results that the program does not return are in
/// scratch.
void emitOpaque(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITOPAQUE_H
