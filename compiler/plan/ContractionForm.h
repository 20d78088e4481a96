#ifndef FREESTONE_COMPILER_PLAN_CONTRACTIONFORM_H
#define FREESTONE_COMPILER_PLAN_CONTRACTIONFORM_H

#include "compiler/plan/Classify.h"

namespace freestone::tile {

/// Factors whose products are summed as dot products of words of four bytes: neighbouring steps of k.
struct DotProductFactors {
  /// 8-bit integers, summed in i32; otherwise bf16, summed in f32.
  bool areIntegers = false;
  /// Of integers.
  bool isLhsSigned = false, isRhsSigned = false;
  /// The numbers of bf16 whose sum an element is: 3 of an f32.
  int64_t parts = 1;

  int64_t getStepsOfWord() const { return areIntegers ? 4 : 2; }
  /// `bf16`, `bf16x3`, or the signs of both: `u8s8`.
  std::string getName() const;
  /// The types of elements and sums in memory.
  mlir::Type getElementType(mlir::MLIRContext *context) const;
  mlir::Type getSumType(mlir::MLIRContext *context) const;

  bool operator==(const DotProductFactors &) const = default;
};

/// An input with contiguous columns of the micro-kernel's type: nothing between its elements and a vector register.
struct StreamedInput {
  unsigned input;
  /// Elements from one step of k to the next.
  sym::Expr stride;
};

/// The vector operand of a convolution of elements that words are made of (8-bit integers, bf16), of dot or pair
/// products, or of the gradient of its weights: a window that moves over rows of memory.
struct WordWindow {
  /// The greatest distance of neighbouring positions in memory.
  static constexpr int64_t mostStride = 4;
  static constexpr int64_t mostTaps = 256;
  unsigned input;
  /// Elements from one position to the next within a row.
  int64_t stride;
  /// Whether positions are steps of k, and taps columns (of a gradient); otherwise positions are columns.
  bool isAlongDepth;
};

/// A contraction in the form of the emitter: for every point of `outer`, C[m, n] = sum over k of A[m, k] * B[k, n].
/// Each of m, n, k merges several loops, row-major. Vectors run along n.
struct ContractionForm {
  ComputeOp compute;
  /// The factors of the product, values of the body; `lhs` depends on outer, m and k, `rhs` on outer, n and k.
  mlir::Value lhs, rhs;
  llvm::SmallVector<unsigned> outer, m, n, k;
  /// The accumulator's type: f32, f64, i32 or i64.
  mlir::Type elementType;
  /// Equal parts of the columns whose elements at the same place the epilogue reads together.
  int64_t slices = 1;

  /// Nothing if the compute is no contraction or does not begin at zero.
  static std::optional<ContractionForm> get(ComputeOp compute);
  /// As get, with one loop each of m, n and k: of several loops of rows or columns, the longest one is kept, and the
  /// others are outer ones. Nothing if k has several.
  static std::optional<ContractionForm> getOfMatrices(ComputeOp compute);

  /// The input that a factor reads, possibly widened.
  std::optional<unsigned> getInput(mlir::Value factor);
  /// Whether the emitter can compute a program whose epilogue reads so many slices: factors are inputs of f32, without
  /// windows, and slices are whole panels of `width` columns, which are one loop.
  bool mayHaveSlices(int64_t count, int64_t width);
  /// Whether the vector operand is stored in words, which dot products alone read.
  bool areColumnsWords();
  /// Whether these are read from a whole group of so many steps on, also where they are some steps of a larger matrix.
  bool areWordsWhole(int64_t stepsOfGroup);
  /// The same of the other operand, in strips of words.
  bool areRowsStrips();
  /// What dot products multiply, if both factors are unmodified inputs: of bf16, or of 8 bits and widened.
  std::optional<DotProductFactors> getDotProductFactors();
  /// The same where both factors are inputs of f32, to be split into parts of bf16, and lie in memory along rows,
  /// columns or k.
  std::optional<DotProductFactors> getSplitFactors();
  /// The parts of `rhs`, if they are packed beside it.
  mlir::Value getParts();
  /// Whether pair products can multiply it: both factors are unmodified inputs that fit i16, summed in i32; a window is
  /// one of words. A word has two steps of k, whose products one instruction multiplies and adds.
  bool multipliesPairs();
  /// The words of k, rounded up.
  sym::Expr getDepth(int64_t wordSteps);
  sym::Expr getExtent(llvm::ArrayRef<unsigned> loops);
  llvm::SmallVector<sym::Expr> getExtents(llvm::ArrayRef<unsigned> loops);
  /// The positions of the loops at `number` of the merged loop.
  llvm::SmallVector<sym::Expr> getDigits(llvm::ArrayRef<unsigned> loops, sym::Expr number);
  /// The input that is packed in panels of `width` columns, as the micro-kernel reads the vector operand; nothing if
  /// none is.
  std::optional<unsigned> getPackedInput(int64_t width);
  /// The vector operand, if rows of any panel can be read in place.
  std::optional<StreamedInput> getStreamedInput();
  /// Whether the result is stored in packed panels of `width` columns.
  bool storesPanels(int64_t width);
  /// The compute whose result is the program's, if nothing follows on sums but that they are narrowed; else null.
  ComputeOp getWritten();
  /// Elements from row to row of that result, if a micro-kernel can write sums of a panel of `width` columns there, or
  /// narrow ones: columns are neighbours.
  std::optional<sym::Expr> getRowStride(int64_t width);
  /// The same if these are sums as they are.
  std::optional<sym::Expr> getDirectStride(int64_t width);
  /// Whether an input is packed in panels of `width` along a loop, with steps of k as rows.
  bool isPackedAlong(unsigned input, unsigned loop, int64_t width);
  /// The number of inner steps of k for each outermost step, if the vector operand is a window that moves over rows of
  /// memory (a convolution of unit stride); else nothing. Columns are then contiguous up to the end of a row, and only
  /// the inner loops of k reach out of bounds.
  std::optional<int64_t> getWindowTaps();
  /// The vector operand as elements of words under a window, of which only positions and taps reach out of bounds;
  /// nothing if it is no such operand, or if its positions have no rows, ends or strides.
  std::optional<WordWindow> getWordWindow();
};

/// The contraction at the beginning of a program, if all later computes are its epilogue, also in slices.
std::optional<ContractionForm> getContractionWithEpilogue(ProgramOp program);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CONTRACTIONFORM_H
