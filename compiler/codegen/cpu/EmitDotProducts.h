#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITDOTPRODUCTS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITDOTPRODUCTS_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits a bf16 contraction with dot products over pairs of steps of k, and its epilogue on elements that are still in
/// L1.
///
/// For each tile and block of k: the rows of A are packed in strips and the columns of B in panels, then the kernel
/// runs panel by panel; after the last block of k follows the panel's epilogue.
void emitDotProducts(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITDOTPRODUCTS_H
