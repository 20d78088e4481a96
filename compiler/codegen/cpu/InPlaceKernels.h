#ifndef FREESTONE_COMPILER_CODEGEN_CPU_INPLACEKERNELS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_INPLACEKERNELS_H

#include "compiler/plan/DotProductLayout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace freestone::codegen {

// Dot products on vectors whose operands are not worth packing, one function for each kind of factors F. Panels of sums
// have 32 columns, the rows of each following each other. What is added to (accumulate != 0) or set beside them, where
// rows are flipped, are the dot products of a row of flipped zeros with each column, from `excess` on.

enum class InPlaceKind {
  // void freestone_dot_updates_F(i64 rows, i64 columns, i64 depth, const void *A, const void *B, i64 pitch, T *C,
  //                              i64 accumulate, T *excess, i64 held)
  // multiplies at most four rows of a packed strip by columns that are neighbours in memory: words are made of steps of
  // k that are `pitch` bytes apart. If `held`, columns fit a vector of elements, and their sums stay in registers.
  updates,
  // void freestone_inner_products_F(i64 rows, i64 columns, i64 depth, const void *A, i64 rowPitch, const void *B,
  //                                 i64 columnPitch, i64 groupPitch, T *C, i64 accumulate, T *excess)
  // multiplies rows and at most 32 columns, which both lie along k: vectors are groups of words, those of a column
  // `groupPitch` bytes apart.
  // void freestone_inner_products_F_R(…, R *result, i64 pitch)
  // writes sums less those of each column at `excess` to rows `pitch` bytes apart, where `result` is not null.
  innerProducts,
};

/// One of these functions.
struct InPlaceKernel {
  InPlaceKind kind;
  tile::DotProductLayout layout;
  /// R; null where sums are written to C.
  mlir::Type result;
};

/// The declaration of a kernel, added to the module once.
mlir::func::FuncOp declareInPlace(mlir::ModuleOp module, const InPlaceKernel &kernel);
/// Appends to `module` a nested module with its definition.
void emitInPlaceKernel(mlir::ModuleOp module, const InPlaceKernel &kernel);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_INPLACEKERNELS_H
