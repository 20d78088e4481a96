#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITROWS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITROWS_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits computes that share their outer loops, row by row: softmax, norms, reductions of trailing axes with their
/// prologues and epilogues; and maps. A row is one point of the outer loops. Within a row, the computes take as few
/// passes over its elements as the reductions between them allow; scratch of one row holds the values that later passes
/// need again.
///
/// A map is a single pass, of computes over the same parallel loops, each of which reads the others' results at the same
/// point. Other reductions than along the row run within a point (pooling, sums over leading axes). Where operands are
/// contiguous along another loop than the results (see `#tile.transposition`), squares of rows and columns are computed
/// at once.
void emitRows(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITROWS_H
