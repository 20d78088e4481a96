// Elements that are only stored (`graph::isStorageOnly`): float8 and float4 as codes, integers below a byte as they
// are.
#ifndef FREESTONE_COMPILER_INTERPRETER_STOREDELEMENTS_H
#define FREESTONE_COMPILER_INTERPRETER_STOREDELEMENTS_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace freestone::interpreter {

/// The value of a code.
double decodeStored(mlir::FloatType type, int64_t code);

/// The code of a value, by way of f32: see `graph.cast`.
int64_t encodeStored(mlir::FloatType type, double value, bool saturate, graph::RoundMode round);

/// Elements that share bytes (`graph::isSubByte`), one to a byte, integers extended by their sign; and the opposite.
std::vector<char> unpackBytes(mlir::Type elementType, llvm::ArrayRef<char> packed, int64_t count);
std::vector<char> packBytes(mlir::Type elementType, llvm::ArrayRef<char> unpacked);

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_STOREDELEMENTS_H
