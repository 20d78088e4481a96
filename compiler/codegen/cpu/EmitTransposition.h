#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITTRANSPOSITION_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITTRANSPOSITION_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits computes over the same parallel loops, some of whose operands lie in memory along another loop than their
/// results, block by block: see `#tile.transposition`.
void emitTransposition(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITTRANSPOSITION_H
