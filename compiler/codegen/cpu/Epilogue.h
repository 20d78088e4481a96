#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EPILOGUE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EPILOGUE_H

#include "compiler/codegen/cpu/VectorizeBody.h"

namespace freestone::codegen {

/// Emits what follows a compute on its elements as they come: `value` is the program's first compute at `points`. Every later compute
/// is evaluated at the same elements, and what the program returns is stored. The program must be one that
/// `tile::getContractionWithEpilogue` accepts.
void emitEpilogue(Emission &emission, mlir::Value value, const LanePoints &points);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EPILOGUE_H
