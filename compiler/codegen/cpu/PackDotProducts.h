#ifndef FREESTONE_COMPILER_CODEGEN_CPU_PACKDOTPRODUCTS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_PACKDOTPRODUCTS_H

#include "compiler/codegen/cpu/Pack.h"
#include "compiler/plan/DotProductLayout.h"

namespace freestone::codegen {

/// Packs strips of rows of A from `memory[start]` on, as `freestone_dot_products_F` reads them: a strip is `groups`
/// times 32 rows of 16 words of steps of k. Steps past the block's depth are zeros, flipped where A is; rows past its
/// count have unspecified values.
void packDotProductRows(Emission &emission, tile::ContractionForm &form, const tile::DotProductLayout &layout,
                        const ContractionPoints &points, const PackedBlock &block, mlir::Value groups,
                        mlir::Value memory, mlir::Value start);

/// The same of at most 16 columns, as rows of a strip that is not flipped.
void packDotProductColumns(Emission &emission, tile::ContractionForm &form, const tile::DotProductLayout &layout,
                           const ContractionPoints &points, const PackedBlock &block, mlir::Value groups,
                           mlir::Value memory, mlir::Value start);

/// The words of steps of a block that are multiplied: on tiles, those of whole groups.
mlir::Value countMultipliedWords(Emission &emission, const tile::DotProductLayout &layout, const PackedBlock &block);

/// Packs panels of B from `memory[start]` on, each `pitch` elements after the previous one: `groups` times 16 rows of
/// words of steps for 32 columns. Steps past the block's depth are zeros in words that are multiplied; columns past its
/// count have unspecified values.
void packDotProductPanels(Emission &emission, tile::ContractionForm &form, const tile::DotProductLayout &layout,
                          const ContractionPoints &points, const PackedBlock &block, mlir::Value groups,
                          mlir::Value memory, mlir::Value start, mlir::Value pitch);

/// As packDotProductRows and packDotProductPanels, of f32 that is split into parts of bf16 (`getSplitFactors`).
void packSplitRows(Emission &emission, tile::ContractionForm &form, const tile::DotProductLayout &layout,
                   const ContractionPoints &points, const PackedBlock &block, mlir::Value groups, mlir::Value memory,
                   mlir::Value start);
void packSplitPanels(Emission &emission, tile::ContractionForm &form, const tile::DotProductLayout &layout,
                     const ContractionPoints &points, const PackedBlock &block, mlir::Value groups, mlir::Value memory,
                     mlir::Value start, mlir::Value pitch);

/// As packDotProductPanels, of a window (`getWordWindow`): rows of memory are copied with masks, a run of
/// columns at a time, and joined to words.
void packWindowPanels(Emission &emission, tile::ContractionForm &form, const tile::DotProductLayout &layout,
                      const ContractionPoints &points, const PackedBlock &block, mlir::Value groups, mlir::Value memory,
                      mlir::Value start, mlir::Value pitch);

/// The words at 32 positions, in two vectors, of neighbouring steps' vectors of 32 elements.
std::pair<mlir::Value, mlir::Value> joinRows(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange rows);

/// Adds to (`accumulates`, an i1) or sets `sums[column]`: the dot product of a row of flipped zeros with each column of
/// packed panels.
void sumDotProductColumns(Emission &emission, const tile::DotProductLayout &layout, const PackedBlock &block,
                          mlir::Value memory, mlir::Value start, mlir::Value pitch, mlir::Value accumulates,
                          mlir::Value sums);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_PACKDOTPRODUCTS_H
