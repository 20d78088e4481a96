#ifndef FREESTONE_COMPILER_CODEGEN_CPU_PACK_H
#define FREESTONE_COMPILER_CODEGEN_CPU_PACK_H

#include "compiler/codegen/cpu/ContractionPoints.h"

namespace freestone::codegen {

/// A rectangle of an operand of a contraction: `count` rows (of A) or columns (of B) from `first`, `depth` steps of k
/// from `k`.
struct PackedBlock {
  mlir::Value first, count, k, depth;
};

/// Packs rows of A as the micro-kernel reads them, converted to the form's element type: blocks of `height` rows, each
/// `memory[start + step * height + row]`; the last block has the rows that are left. A block has at most `mostHeight`
/// rows, for each of which one vector may be written past the end.
void packRows(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
              const PackedBlock &block, mlir::Value memory, mlir::Value start, mlir::Value height, int64_t mostHeight);

/// Packs a panel of B: `memory[start + step * width + column]`, with the method for its layout in memory. Columns past
/// `count` have unspecified values.
void packPanel(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
               const PackedBlock &block, mlir::Value memory, mlir::Value start, int64_t width);

/// Packs so many whole panels of B, `pitch` elements apart, if columns are contiguous in memory: step by step, so that
/// rows of memory that share a set of the caches are read in longer pieces.
void packPanels(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                const PackedBlock &block, mlir::Value memory, mlir::Value start, mlir::Value pitch, int64_t panels,
                int64_t width);

/// As packPanel, if the form has window taps and k begins with a step of its outermost loop: rows of memory are copied
/// with masks, a run of columns at a time. For rows too short for this, `packShortRows` emits another method.
void packPanelOfWindow(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                       const PackedBlock &block, mlir::Value memory, mlir::Value start, int64_t width,
                       llvm::function_ref<void()> packShortRows);

/// As packPanel, of words of two steps of k of a window of bytes (`getWordWindow`): rows of memory are copied a run of
/// columns at a time, widened, and joined to words.
void packPairsOfWindow(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                       const PackedBlock &block, mlir::Value memory, mlir::Value start, int64_t width,
                       bool areMasksSlow);

/// As packPanel, if steps of k are contiguous in memory and columns are not: squares are transposed in registers.
void packPanelTransposed(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                         const PackedBlock &block, mlir::Value memory, mlir::Value start, int64_t width);

/// Transposes a square of as many vectors as each has lanes; of fewer, a power of two, each square of so many lanes.
void transposeSquare(mlir::OpBuilder &builder, mlir::Location location, llvm::MutableArrayRef<mlir::Value> square);

/// A float or integer (or vector of them) converted to the width of another type.
mlir::Value convertWidth(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, mlir::Type elementType);

/// Elements of the input that a factor reads, widened to another type with or without sign, as the factor widens them.
mlir::Value widenElements(mlir::OpBuilder &builder, mlir::Location location, mlir::Value factor, mlir::Value elements,
                          mlir::Type elementType);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_PACK_H
