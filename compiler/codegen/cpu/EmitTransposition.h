#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITTRANSPOSITION_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITTRANSPOSITION_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits a program tiled as a transposition: computes over the same parallel loops, block by block, with operands that
/// are contiguous along another loop than the results (see `#tile.transposition`).
void emitTransposition(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITTRANSPOSITION_H
