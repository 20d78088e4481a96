#ifndef FREESTONE_COMPILER_CODEGEN_CPU_UPDATEKERNEL_H
#define FREESTONE_COMPILER_CODEGEN_CPU_UPDATEKERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace freestone::codegen {

/// The most rows of an update: their factors for some steps of k stay in registers.
inline constexpr int64_t mostUpdatedRows = 4;
/// The most vectors of a product's columns whose sums stay in registers, while all rows of B pass by.
inline constexpr int64_t heldVectors = 2;

/// Emits the body of `function`, of KernelKind::update, with vectors of so many lanes.
void emitUpdateKernel(mlir::func::FuncOp function, mlir::Type elementType, int64_t lanes);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_UPDATEKERNEL_H
