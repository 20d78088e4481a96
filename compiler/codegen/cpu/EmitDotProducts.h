#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITDOTPRODUCTS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITDOTPRODUCTS_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits a contraction of bf16 whose products are summed in pairs of steps of k, and the computes that follow on its
/// elements while they are in L1.
///
/// Per tile and block of k: the rows of A are packed in strips and the columns of B in panels, then the kernel runs
/// panel by panel; after the last block of k the panel's epilogue.
void emitDotProducts(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITDOTPRODUCTS_H
