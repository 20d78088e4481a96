#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITCHOICE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITCHOICE_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits the call of the variant that is chosen by the sizes of the run. `functions` has one for each tiling, which
/// becomes internal to its module.
void emitChoice(tile::VariantsTilingAttr tiling, llvm::ArrayRef<mlir::func::FuncOp> functions, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITCHOICE_H
