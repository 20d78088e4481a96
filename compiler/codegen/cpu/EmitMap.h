#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITMAP_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITMAP_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Emits computes over the same parallel loops, point by point: each reads the others' results at the same point.
/// Reduction loops run within a point (pooling, sums over leading axes). Vector lanes run along the innermost parallel
/// loop.
void emitMap(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITMAP_H
