#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITROWS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITROWS_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits computes that share their outer loops, row by row: softmax, norms, reductions of trailing axes with their
/// prologues and epilogues. A row is one point of the outer loops. Within a row, the computes take as few passes over
/// its elements as the reductions between them allow; scratch of one row holds the values that later passes need again.
void emitRows(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITROWS_H
