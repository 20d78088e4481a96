#ifndef FREESTONE_COMPILER_CODEGEN_CPU_RANDOMBLOCKS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_RANDOMBLOCKS_H

#include "mlir/IR/Builders.h"

namespace freestone::codegen {

/// The random bits (i32 or i64) of the elements at `index`, an `index` or a vector of them, as of `tile.random_bits`.
/// Lanes of consecutive elements, which is checked at run time, share the four words of each block; otherwise each lane
/// computes a block of its own.
mlir::Value emitRandomBits(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange key, mlir::Value index,
                           mlir::Type type);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_RANDOMBLOCKS_H
