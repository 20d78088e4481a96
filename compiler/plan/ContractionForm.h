#ifndef FREESTONE_COMPILER_PLAN_CONTRACTIONFORM_H
#define FREESTONE_COMPILER_PLAN_CONTRACTIONFORM_H

#include "compiler/plan/Classify.h"

namespace freestone::tile {

/// A contraction as the emitter sees it: for every point of `outer`, C[m, n] = sum over k of A[m, k] * B[k, n]. Each of
/// m, n, k counts several loops as one, row-major. The vectors lie along n.
struct ContractionForm {
  ComputeOp compute;
  /// The factors of the product, values of the body; `lhs` depends on outer, m and k, `rhs` on outer, n and k.
  mlir::Value lhs, rhs;
  llvm::SmallVector<unsigned> outer, m, n, k;
  /// What products are accumulated in: f32, f64, i32 or i64.
  mlir::Type elementType;

  /// Nothing where the compute is no contraction or does not begin at zero.
  static std::optional<ContractionForm> get(ComputeOp compute);

  /// The input that a factor is, as it is or widened.
  std::optional<unsigned> getInput(mlir::Value factor);
  /// Whether both factors are bf16, read as they are, and summed in f32.
  bool multipliesBF16();
  /// Whether both factors fit 16 bits, read as they are, and are summed in i32: the micro-kernel then multiplies words
  /// of two steps of k each, and adds both products at once.
  bool multipliesPairs();
  /// Steps of k of the micro-kernel.
  sym::Expr getDepth();
  sym::Expr getExtent(llvm::ArrayRef<unsigned> loops);
  llvm::SmallVector<sym::Expr> getExtents(llvm::ArrayRef<unsigned> loops);
  /// Where each of the loops stands when they are counted as one by `number`.
  llvm::SmallVector<sym::Expr> getDigits(llvm::ArrayRef<unsigned> loops, sym::Expr number);
  /// The input that is stored as panels of `width` columns, as the micro-kernel reads the vector operand. Else nothing.
  std::optional<unsigned> getPackedInput(int64_t width);
  /// Whether an input is stored as panels of `width` along a loop, one step of k after the other.
  bool isPackedAlong(unsigned input, unsigned loop, int64_t width);
  /// The vector operand as a window that moves over rows of memory (a convolution of unit stride): how many steps of
  /// the inner loops of k follow one of the outermost. Columns then are neighbours in memory up to the end of a row,
  /// and only the inner loops of k lead outside of the operand. Nothing where it is none.
  std::optional<int64_t> getWindowTaps();
};

/// Where the loops of `consumer` stand when it is computed at the element of `producer` at `indices`. Nothing unless it
/// reads that element, only there, and every one of its loops is a coordinate of it.
std::optional<llvm::SmallVector<sym::Expr>> getLoopsAt(ComputeOp consumer, mlir::Value producer,
                                                       llvm::ArrayRef<sym::Expr> indices);

/// Whether all of `later` can be computed on the elements of `first` as they come.
bool areEpilogues(ComputeOp first, llvm::ArrayRef<ComputeOp> later);

/// The contraction that a program computes first, if all that follows can be computed on its elements as they come.
std::optional<ContractionForm> getContractionWithEpilogue(ProgramOp program);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CONTRACTIONFORM_H
