#ifndef FREESTONE_COMPILER_CODEGEN_CPU_DOTPRODUCTKERNELS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_DOTPRODUCTKERNELS_H

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace freestone::codegen {

/// The functions shared by all bf16 contractions with dot products over pairs of steps of k.
enum class DotProductFunction {
  /// void freestone_dot_products_bf16(i64 strips, i64 groups, const void *A, i64 stripBytes, const void *B, float *C,
  ///                                   i64 accumulate)
  /// adds to (accumulate != 0) or sets `strips` times 32 consecutive rows of 32 sums. A strip of A is 32 rows of 32
  /// steps for every group; B is 16 rows for every group, of pairs of steps for 32 columns. Both are aligned to 64
  /// bytes.
  multiply,
  /// void freestone_dot_products_enter(), void freestone_dot_products_leave()
  /// enclose all calls of a thread: they acquire and release the AMX tiles.
  enter,
  leave,
};

/// The module of these functions; its object is the one that requires AMX.
inline constexpr llvm::StringLiteral dotProductModuleName = "dot_products_bf16";

/// The function's declaration, added to the module once.
mlir::func::FuncOp declareDotProductFunction(mlir::ModuleOp module, DotProductFunction function);

/// Appends to `module` a nested module with the definitions.
void emitDotProductKernels(mlir::ModuleOp module, tile::DotProductUnit unit);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_DOTPRODUCTKERNELS_H
