#ifndef FREESTONE_COMPILER_EXPRESSIONS_COMPOSITES_H
#define FREESTONE_COMPILER_EXPRESSIONS_COMPOSITES_H

#include "mlir/IR/Builders.h"

namespace freestone::expressions {

/// What a composite is made of: its results, in their types, built of core operators at the insertion point of
/// `builder`. Fails without a diagnostic where nothing is known of it; the operator itself stays.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> decompose(mlir::Operation *composite, mlir::OpBuilder &builder);

/// Replaces composites within `root` by core operators until none is left that can be and that `keep` (where given)
/// does not hold back. Returns how many were replaced.
int64_t decomposeComposites(mlir::Operation *root, llvm::function_ref<bool(mlir::Operation *)> keep = nullptr);

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_COMPOSITES_H
