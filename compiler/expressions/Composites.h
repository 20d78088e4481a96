#ifndef FREESTONE_COMPILER_EXPRESSIONS_COMPOSITES_H
#define FREESTONE_COMPILER_EXPRESSIONS_COMPOSITES_H

#include "mlir/IR/Builders.h"

namespace freestone::expressions {

/// The decomposition of a composite: its results, in their types, built of core operators at the insertion point of
/// `builder`. Fails without a diagnostic if there is none; the operator itself stays.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> decompose(mlir::Operation *composite, mlir::OpBuilder &builder);

/// Replaces composites within `root` by core operators until none is left that has a decomposition and that `keep`
/// (optional) does not hold back. Returns the number replaced.
int64_t decomposeComposites(mlir::Operation *root, llvm::function_ref<bool(mlir::Operation *)> keep = nullptr);

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_COMPOSITES_H
