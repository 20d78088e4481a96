#ifndef FREESTONE_COMPILER_INTERPRETER_ROUNDING_H
#define FREESTONE_COMPILER_INTERPRETER_ROUNDING_H

#include "mlir/IR/Types.h"
#include <cstdint>

namespace freestone::interpreter {

/// Rounds to a float type: to nearest, ties to even, with denormals and overflow to infinity.
double roundTo(mlir::Type floatType, double value);

/// Rounds a 64-bit integer, signed or unsigned, to a float type.
double roundInteger(mlir::Type floatType, int64_t value, bool isUnsigned);

/// Truncates to the width of an integer type (bool: the lowest bit), or of the code of a float that is only stored.
int64_t wrapTo(mlir::Type integerType, int64_t value);

/// The range of an integer type; the largest ui64 is returned as its bits.
int64_t getSmallest(mlir::Type integerType);
int64_t getLargest(mlir::Type integerType);

/// Conversion between f16 or bf16 and their bits; `value` must be exact in the type.
double decodeNarrow(mlir::Type floatType, uint16_t bits);
uint16_t encodeNarrow(mlir::Type floatType, double value);

/// The bits of a float of 16 to 64 bits, to which the value is rounded; and the opposite.
uint64_t toBits(mlir::Type floatType, double value);
double fromBits(mlir::Type floatType, uint64_t bits);

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_ROUNDING_H
