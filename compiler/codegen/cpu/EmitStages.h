#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITSTAGES_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITSTAGES_H

#include "compiler/codegen/cpu/Emission.h"
#include "compiler/plan/ChainTiles.h"

namespace freestone::codegen {

/// Emits the stages of a program: for each tile, a call of each stage's function in order. `functions` are those of the
/// stages' programs, and become internal to the module.
void emitStages(const tile::ChainForm &form, const tile::ChainTiles &tiles, tile::StagesAttr node,
                llvm::ArrayRef<tile::StageProgram> stages, llvm::ArrayRef<mlir::func::FuncOp> functions,
                Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITSTAGES_H
