#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITOUTERLOOP_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITOUTERLOOP_H

#include "compiler/codegen/cpu/Emission.h"
#include "compiler/plan/OuterLoopTiles.h"

namespace freestone::codegen {

/// Emits stages under an outer loop: for each tile, a call of each stage's function in order. `functions` are those of
/// the stages' programs, and become internal to the module.
void emitOuterLoop(const tile::OuterLoopForm &form, const tile::OuterLoopTiles &tiles,
                   llvm::ArrayRef<tile::StageProgram> stages, llvm::ArrayRef<mlir::func::FuncOp> functions,
                   Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITOUTERLOOP_H
