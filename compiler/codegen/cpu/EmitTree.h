#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITTREE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITTREE_H

#include "compiler/codegen/cpu/MicroKernels.h"

namespace freestone::codegen {

/// Emits a program whose plan is a tree of tiles (`#tile.tree`). For each tile, the nodes of the tree are emitted in
/// order: loops over blocks, packed copies, calls of micro-kernels, evaluations in vectors.
void emitTree(tile::ProgramOp program, Emission &emission);

/// The kinds of micro-kernels, of f32, that the code of such a program calls.
llvm::SmallVector<KernelKind> getTreeKernels(tile::ProgramOp program);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITTREE_H
