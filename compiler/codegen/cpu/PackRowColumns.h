#ifndef FREESTONE_COMPILER_CODEGEN_CPU_PACKROWCOLUMNS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_PACKROWCOLUMNS_H

#include "compiler/codegen/cpu/VectorizeBody.h"
#include "compiler/plan/RowBlocks.h"

namespace freestone::codegen {

/// Copies up to a vector of columns of an operand, from `column` on and before `end`, one after another, `pitch`
/// elements apart, from `place` in `memory` on: squares of columns and of the `steps` of the loop behind those of
/// `first` are transposed in registers. `first` has the positions of all loops before, of which `columnLoop` counts
/// columns.
void packColumns(Emission &emission, tile::ComputeOp compute, unsigned input, const LanePoints &first,
                 unsigned columnLoop, mlir::Value column, mlir::Value end, mlir::Value steps, mlir::Value place,
                 mlir::Value pitch, mlir::Value memory, unsigned lanes);

/// Copies the columns of a packed operand, in the matrix of row and column 0 that `first` is, one after another into
/// `memory`: squares of columns and steps are transposed in registers.
void packRowColumns(Emission &emission, tile::RowBlocks &blocks, const LanePoints &first, mlir::Value memory,
                    unsigned lanes);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_PACKROWCOLUMNS_H
