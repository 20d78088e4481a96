#ifndef FREESTONE_COMPILER_CODEGEN_CPU_SHAREDVALUES_H
#define FREESTONE_COMPILER_CODEGEN_CPU_SHAREDVALUES_H

#include "compiler/codegen/cpu/VectorizeBody.h"

namespace freestone::codegen {

/// What of a body without reductions is the same at all points of the innermost parallel loop and reads memory or
/// checks something, with all that it is made of: a row's position in a table, and whether it is one. Emitted here, for
/// `row`, plain scalars at any point of the loop; there must be one. What a program writes it does not read elsewhere,
/// so the values hold for the whole loop.
SharedValues emitSharedValues(Emission &emission, tile::ComputeOp compute, const LanePoints &row);

/// Whether there are such values.
bool hasSharedValues(tile::ComputeOp compute);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_SHAREDVALUES_H
