#ifndef FREESTONE_COMPILER_CODEGEN_CPU_SHAREDVALUES_H
#define FREESTONE_COMPILER_CODEGEN_CPU_SHAREDVALUES_H

#include "compiler/codegen/cpu/VectorizeBody.h"

namespace freestone::codegen {

/// Emits the values and checks of a body that are invariant in the innermost parallel loop, such as the index of a row
/// in a table and its bounds check, as scalars at `point`, any point of that loop; and operands that repeat from vector
/// to vector, such as those indexed by the loop modulo two, as the lanes of `vector`, the first one. For bodies without
/// reductions that have such loads or checks; nothing for others. Loads may be hoisted: a program reads none of the
/// memory that it writes at other points.
SharedValues emitSharedValues(Emission &emission, tile::ComputeOp compute, const LanePoints &point,
                              const LanePoints &vector);

/// Whether a body has such loads or checks.
bool hasSharedValues(tile::ComputeOp compute, int64_t lanes);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_SHAREDVALUES_H
