#ifndef FREESTONE_COMPILER_CODEGEN_CPU_MICROKERNELS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_MICROKERNELS_H

#include "compiler/codegen/DeviceDescription.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace freestone::codegen {

/// The function that all contractions over an element type share:
///   void freestone_contract_T(i64 rows, i64 columns, i64 depth, const T *A, const T *B, T *C, i64 ldc, i64 accumulate)
/// adds to (accumulate != 0) or sets C[rows, columns] = A[rows, depth] * B[depth, columns]. Rows of A are
/// `ContractionBlocks::getRowStride` elements apart, rows of B the device's panel width (all of them readable; columns is at most
/// that), rows of C `ldc`. Nothing but the named elements of C is touched.
std::string getContractName(mlir::Type elementType);

/// Its declaration, added to the module once.
mlir::func::FuncOp declareContract(mlir::ModuleOp module, mlir::Type elementType);

/// Appends to `module` a nested module that defines it.
void emitMicroKernels(mlir::ModuleOp module, mlir::Type elementType, const DeviceDescription &device);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_MICROKERNELS_H
