#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITCONTRACTION_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITCONTRACTION_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits a contraction, and its epilogue on elements that are still in L1.
///
/// For each tile and block of k: the rows of A are packed; then, panel by panel, B is packed (unless it is stored
/// packed) and the micro-kernel runs; after the last block of k follows the panel's epilogue.
void emitContraction(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITCONTRACTION_H
