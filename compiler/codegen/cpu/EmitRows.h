#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITROWS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITROWS_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits computes that share their outer loops, row by row: softmax, norms, reductions of trailing axes with what comes
/// before and after. A row is one point of the first loops. Within a row the computes are gathered into as
/// few passes over its elements as the reductions between them allow; what a later pass needs again stays in scratch,
/// which is a row long.
void emitRows(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITROWS_H
