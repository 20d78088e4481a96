#ifndef FREESTONE_COMPILER_CODEGEN_CPU_SHAREDVALUES_H
#define FREESTONE_COMPILER_CODEGEN_CPU_SHAREDVALUES_H

#include "compiler/codegen/cpu/VectorizeBody.h"

namespace freestone::codegen {

/// Emits the values and checks of a body that are invariant in the innermost parallel loop, such as the index of a row
/// in a table and its bounds check, as scalars at `row`, any point of that loop. For bodies without reductions that
/// have such loads or checks; nothing for others. Loads may be hoisted: a program reads none of the memory that it
/// writes at other points.
SharedValues emitSharedValues(Emission &emission, tile::ComputeOp compute, const LanePoints &row);

/// Whether a body has such loads or checks.
bool hasSharedValues(tile::ComputeOp compute);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_SHAREDVALUES_H
