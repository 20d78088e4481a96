#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITCONTRACTION_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITCONTRACTION_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits a contraction, and the computes that follow on its elements while they are in L1.
///
/// Per tile and block of k: the rows of A are packed, then, panel by
/// panel, B is packed (unless it is stored so) and the micro-kernel runs; after the last block of k the panel's
/// epilogue.
void emitContraction(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITCONTRACTION_H
