#ifndef FREESTONE_COMPILER_CODEGEN_CPU_RANDOMBLOCKS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_RANDOMBLOCKS_H

#include "mlir/IR/Builders.h"

namespace freestone::codegen {

/// The random bits (i32 or i64) of the elements at `index`, an `index` or a vector of them, as `tile.random_bits` gives
/// them. Lanes that are consecutive elements, which is found out at run time, take all four words of the blocks that
/// they share; else each lane computes a block of its own.
mlir::Value emitRandomBits(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange key, mlir::Value index,
                           mlir::Type type);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_RANDOMBLOCKS_H
