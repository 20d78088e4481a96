#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITBLOCKS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITBLOCKS_H

#include "compiler/codegen/cpu/MicroKernels.h"

namespace freestone::codegen {

/// Emits the blocks of a `#tile.tree`. For each tile, nodes are emitted in order: loops over blocks, packed copies,
/// calls of micro-kernels, evaluations in vectors.
void emitBlocks(tile::ProgramOp program, Emission &emission);

/// The kinds of micro-kernels, of f32, that the code of such a program calls.
llvm::SmallVector<KernelKind> getBlockKernels(tile::ProgramOp program);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITBLOCKS_H
