#ifndef FREESTONE_COMPILER_CODEGEN_CPU_PACKDOTPRODUCTS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_PACKDOTPRODUCTS_H

#include "compiler/codegen/cpu/Pack.h"

namespace freestone::codegen {

/// Packs strips of rows of A from `memory[start]` on, as `freestone_dot_products_bf16` reads them: a strip is `groups`
/// times 32 rows of 32 steps of k. Steps past the block's depth are zeros; rows past its count have unspecified values.
void packDotProductRows(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                  const PackedBlock &block, mlir::Value groups, mlir::Value memory, mlir::Value start);

/// Packs panels of B from `memory[start]` on, each `pitch` elements after the previous one: `groups` times 16 rows of
/// pairs of steps for 32 columns. Steps past the block's depth are zeros; columns past its count have unspecified
/// values.
void packDotProductPanels(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                    const PackedBlock &block, mlir::Value groups, mlir::Value memory, mlir::Value start,
                    mlir::Value pitch);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_PACKDOTPRODUCTS_H
