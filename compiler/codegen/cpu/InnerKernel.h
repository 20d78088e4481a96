#ifndef FREESTONE_COMPILER_CODEGEN_CPU_INNERKERNEL_H
#define FREESTONE_COMPILER_CODEGEN_CPU_INNERKERNEL_H

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace freestone::codegen {

/// Emits the body of `function`, of KernelKind::inner, with the vectors of a block of this shape, and appends the
/// functions that it calls to the module around it.
void emitInnerKernel(mlir::func::FuncOp function, mlir::Type elementType, tile::MicroKernelAttr shape);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_INNERKERNEL_H
