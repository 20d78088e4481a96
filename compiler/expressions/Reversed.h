#ifndef FREESTONE_COMPILER_EXPRESSIONS_REVERSED_H
#define FREESTONE_COMPILER_EXPRESSIONS_REVERSED_H

#include "compiler/dialect/graph/GraphDialect.h"

namespace freestone::expressions {

/// The value of which this one is the reverse along its first dimension; null for others.
mlir::Value getReversed(mlir::Value value);

/// The reverse of a value along its first dimension.
mlir::Value makeReversed(mlir::OpBuilder &builder, mlir::Value value);

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_REVERSED_H
