#ifndef FREESTONE_COMPILER_CODEGEN_CPU_MICROKERNELS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_MICROKERNELS_H

#include "compiler/codegen/cpu/Emission.h"
#include "compiler/plan/ContractionForm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace freestone::codegen {

/// The functions that all programs over an element type and a shape of micro-kernels share. Rows are computed in blocks of `height` rows, the last
/// block of the rows that are left; rows of B are a panel's width apart, and all of them readable.
enum class KernelKind {
  /// void freestone_contract_T(i64 rows, i64 height, i64 columns, i64 depth, const T *A, const T *B, T *C, i64 ldc, i64
  /// accumulate,
  ///                           const void *ahead, i64 pitch)
  /// adds to (accumulate != 0) or sets C[rows, columns] = A[rows, depth] * B[depth, columns]; rows of C are `ldc`
  /// elements apart,
  /// nothing but the named elements of C is touched. A is packed (`packRows`): a block of h rows is h elements for
  /// every step of k.
  /// Meanwhile `depth` rows of the panel's bytes, `pitch` bytes apart, are brought into L2 from `ahead` on, which need
  /// not be memory.
  contract,
  /// void freestone_pairs_T(…)
  /// The same where T is i32 and every element of A and B is a word of two steps of k, 16 bits each, whose products are
  /// both added.
  pairs,
  /// void freestone_window_T(i64 rows, i64 height, i64 depth, const T *A, const i64 *offsets, const T *B, T *C, i64
  /// accumulate)
  /// The same where A[row, step] is `A[row + offsets[step]]`, rows of C are the panel width apart and `height` is even.
  /// Where the
  /// number of rows is odd, A is read and C written as if there were one more.
  window,
};
/// The kind for a contraction that is tiled as one.
inline KernelKind getKernelKind(tile::ContractionForm &form) {
  return form.multipliesPairs() ? KernelKind::pairs : KernelKind::contract;
}
/// The height of blocks, a multiple of `unit` and at most `most`, that divides rows (both `index`) most evenly.
mlir::Value getBlockHeight(Emission &emission, mlir::Value rows, int64_t most, int64_t unit = 2);
std::string getKernelName(KernelKind kind, mlir::Type elementType, tile::MicroKernelAttr shape);

/// Its declaration, added to the module once.
mlir::func::FuncOp declareKernel(mlir::ModuleOp module, KernelKind kind, mlir::Type elementType,
                                 tile::MicroKernelAttr shape);

/// Appends to `module` a nested module that defines it.
void emitMicroKernels(mlir::ModuleOp module, KernelKind kind, mlir::Type elementType, tile::MicroKernelAttr shape);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_MICROKERNELS_H
