#ifndef FREESTONE_COMPILER_CODEGEN_CPU_PACKROWCOLUMNS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_PACKROWCOLUMNS_H

#include "compiler/codegen/cpu/VectorizeBody.h"
#include "compiler/plan/RowBlocks.h"

namespace freestone::codegen {

/// Copies the columns of a packed operand, in the matrix of row and column 0 that `first` is, one after another into
/// `memory`: squares of columns and steps are transposed in registers.
void packRowColumns(Emission &emission, tile::RowBlocks &blocks, const LanePoints &first, mlir::Value memory,
                    unsigned lanes);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_PACKROWCOLUMNS_H
