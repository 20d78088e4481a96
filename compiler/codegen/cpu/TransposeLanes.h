#ifndef FREESTONE_COMPILER_CODEGEN_CPU_TRANSPOSELANES_H
#define FREESTONE_COMPILER_CODEGEN_CPU_TRANSPOSELANES_H

#include "mlir/IR/Builders.h"

namespace freestone::codegen {

/// Transposes a square of vectors, whose number is their number of lanes, a power of two: lane j of vector i becomes
/// lane i of vector j. Uses the shuffles of the processor: within 128 bits first, then of whole 128-bit parts.
llvm::SmallVector<mlir::Value> transposeLanes(mlir::OpBuilder &builder, mlir::Location location,
                                              mlir::ValueRange vectors);

/// Interleaves vectors of equal length: lane 0 of each, then lane 1 of each, …, as vectors of that length.
llvm::SmallVector<mlir::Value> interleaveLanes(mlir::OpBuilder &builder, mlir::Location location,
                                               mlir::ValueRange vectors);

/// Reduces each of several vectors to one lane of the result, by an associative operation on two vectors. Their number
/// is a power of two, at most their lanes. Lanes are combined in the order of `vector.reduction`: halves of a vector,
/// of halves, and so on. What is left of two vectors is one again: four of 16 lanes take 5 operations rather than 16.
mlir::Value reduceEach(mlir::OpBuilder &builder, mlir::Location location, llvm::SmallVector<mlir::Value> vectors,
                       llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_TRANSPOSELANES_H
