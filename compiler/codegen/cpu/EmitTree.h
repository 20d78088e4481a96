#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITTREE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITTREE_H

#include "compiler/codegen/cpu/UsedKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace freestone::codegen {

/// Emits a program as its plan's tree says, and returns its function. Nodes above the blocks that are dealt become
/// functions of the module at the builder, which begin with `name`: the variants of a choice, the stages of a tile.
/// What micro-kernels these call is added to `kernels`. Fails with a diagnostic.
mlir::FailureOr<mlir::func::FuncOp> emitTree(mlir::OpBuilder builder, tile::ProgramOp program, llvm::StringRef name,
                                             UsedKernels &kernels);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITTREE_H
