#ifndef FREESTONE_COMPILER_CODEGEN_CPU_TRANSPOSELANES_H
#define FREESTONE_COMPILER_CODEGEN_CPU_TRANSPOSELANES_H

#include "mlir/IR/Builders.h"

namespace freestone::codegen {

/// As many vectors as they have lanes, a power of two: lane j of vector i becomes lane i of vector j. In shuffles that
/// processors have: within 128 bits of two vectors, then of such parts.
llvm::SmallVector<mlir::Value> transposeLanes(mlir::OpBuilder &builder, mlir::Location location,
                                              mlir::ValueRange vectors);

/// The elements of vectors of one length in turns: lane 0 of each, then lane 1 of each, …, as vectors of that length.
llvm::SmallVector<mlir::Value> interleaveLanes(mlir::OpBuilder &builder, mlir::Location location,
                                               mlir::ValueRange vectors);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_TRANSPOSELANES_H
