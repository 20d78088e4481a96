#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITROWBLOCKS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITROWBLOCKS_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits a rows tiling with blocks of results: inner products whose vectors run along the sum, several rows and columns
/// at a time, so that each loaded vector is used by several of them.
void emitRowBlocks(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITROWBLOCKS_H
