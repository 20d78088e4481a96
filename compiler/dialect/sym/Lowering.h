#ifndef FREESTONE_COMPILER_DIALECT_SYM_LOWERING_H
#define FREESTONE_COMPILER_DIALECT_SYM_LOWERING_H

#include "compiler/dialect/sym/Expr.h"
#include "mlir/IR/Builders.h"

namespace freestone::sym {

/// Emits `arith` operations on i64 that compute the expression, equal to `Expr::evaluate` wherever nothing overflows.
/// `symbolValue` gives each symbol's i64 value. The expression must be valid.
mlir::Value lowerExpr(mlir::OpBuilder &builder, mlir::Location location, Expr expr,
                      llvm::function_ref<mlir::Value(llvm::StringRef)> symbolValue);

} // namespace freestone::sym

#endif // FREESTONE_COMPILER_DIALECT_SYM_LOWERING_H
