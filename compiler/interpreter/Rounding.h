#ifndef FREESTONE_COMPILER_INTERPRETER_ROUNDING_H
#define FREESTONE_COMPILER_INTERPRETER_ROUNDING_H

#include "mlir/IR/Types.h"
#include <cstdint>

namespace freestone::interpreter {

/// The nearest value of a float type, ties to even, with its denormals and its overflow to infinity.
double roundTo(mlir::Type floatType, double value);

/// The nearest value to an integer, which is given as its 64 bits.
double roundInteger(mlir::Type floatType, int64_t value, bool isUnsigned);

/// The low bits of a value as a value of an integer type (bool: whether it is odd).
int64_t wrapTo(mlir::Type integerType, int64_t value);

/// The range of an integer type; of ui64 the largest is given as its bits.
int64_t getSmallest(mlir::Type integerType);
int64_t getLargest(mlir::Type integerType);

/// f16 and bf16 from and to their bits; `value` is one of the type.
double decodeNarrow(mlir::Type floatType, uint16_t bits);
uint16_t encodeNarrow(mlir::Type floatType, double value);

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_ROUNDING_H
