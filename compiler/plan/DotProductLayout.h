#ifndef FREESTONE_COMPILER_PLAN_DOTPRODUCTLAYOUT_H
#define FREESTONE_COMPILER_PLAN_DOTPRODUCTLAYOUT_H

#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// How dot products read packed operands: words of neighbouring steps of k. Rows of A are packed in strips, B in
/// panels, both padded with zeros to whole groups of steps. Where elements have several parts, a group has those of all
/// its elements one after another, and a word two steps that are 16 apart.
struct DotProductLayout {
  /// Rows of a strip and columns of a panel: two tiles of a matrix unit, two vectors of sums.
  static constexpr int64_t unit = 32;
  /// Words of a row of a strip in a group, and words of a group of a strip or panel.
  static constexpr int64_t rowWords = 16, groupWords = unit * rowWords, wordBytes = 4;

  DotProductUnit summedBy;
  /// Groups that the kernel sums at a time, at most.
  int64_t groups;
  DotProductFactors factors;
  /// The factors of the kernel, which differ from those of the program where A is packed with its sign bit flipped:
  /// vectors multiply unsigned by signed integers only.
  DotProductFactors multiplied;
  /// Of a last panel whose columns fit; 0 where all have two.
  int64_t lastVectors = 0;

  /// What a kernel multiplies of a form; nothing if this has no such factors.
  static std::optional<DotProductFactors> getFactors(ContractionForm &form, DotProductKernelAttr kernel);
  /// The form has such factors.
  static DotProductLayout get(ContractionForm &form, DotProductKernelAttr kernel);
  /// The type of the elements that the kernel may write to the result itself: sums, or these as bf16; null if it may not.
  static mlir::Type getDirectType(ContractionForm &form, DotProductKernelAttr kernel);
  /// The block that the kernel sums, as one of vectors.
  static MicroKernelAttr getBlock(mlir::MLIRContext *context, int64_t lastVectors);
  /// Whether A is packed flipped. Every sum then has too much by the dot product of its column with `flippedZero`s.
  bool flipsRows() const { return multiplied != factors; }
  static constexpr int8_t flippedZero = -128;
  /// Steps of k of a word, and of a group of a strip or panel.
  int64_t getStepsOfWord() const { return factors.getStepsOfWord(); }
  int64_t getStepsOfGroup() const { return rowWords * getStepsOfWord(); }
  int64_t getGroupElements() const { return factors.parts * getPartElements(); }
  /// Of a group's parts, which follow each other.
  int64_t getPartElements() const { return groupWords * getStepsOfWord(); }
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_DOTPRODUCTLAYOUT_H
