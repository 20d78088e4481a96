#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EPILOGUE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EPILOGUE_H

#include "compiler/codegen/cpu/VectorizeBody.h"

namespace freestone::codegen {

/// Emits what follows a compute on its elements as they come: `value` is the result of `first` at `points`. Every later
/// compute of the program is evaluated at the same elements, and what the program returns is stored; the computes must
/// be such that `tile::areEpilogues` of `first` and them holds. Where a tile goes along columns of memory, the
/// processor does not guess what comes next: `ahead` is where one of the positions will stand some time later, for
/// which memory is brought closer.
void emitEpilogue(Emission &emission, tile::ComputeOp first, mlir::Value value, const LanePoints &points,
                  std::optional<Position> ahead = {});

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EPILOGUE_H
