#ifndef FREESTONE_COMPILER_PLAN_VARIANTS_H
#define FREESTONE_COMPILER_PLAN_VARIANTS_H

#include "compiler/plan/ContractionTree.h"

namespace freestone::tile {

/// The value of the variant that a run chooses, as one expression. There is one value for each tiling, in the order of
/// `getTilings`.
sym::Expr chooseVariant(ChoiceAttr tiling, llvm::ArrayRef<sym::Expr> values);

/// The nodes that may be chosen: those of a choice, and of choices among them; else the node itself.
llvm::SmallVector<mlir::Attribute> getAlternatives(mlir::Attribute node);
/// The one of them that a run with such sizes chooses.
mlir::Attribute getChosen(mlir::Attribute node, llvm::function_ref<int64_t(sym::Expr)> valueOf);

/// The number of the tiling, in the order of `getTilings`, that a run with such sizes chooses; 0 of a tiling that is
/// the same for all runs.
size_t getVariantOf(mlir::Attribute tiling, llvm::function_ref<int64_t(sym::Expr)> valueOf);

/// The trees of contractions in multiply-adds among the tilings, if one code serves all of them. Else nothing.
llvm::SmallVector<ContractionTree> getContractions(ChoiceAttr tiling);

/// Fails with a diagnostic if a variant is chosen by what is no size of the program.
mlir::LogicalResult verifyVariants(ProgramOp program, ChoiceAttr tiling);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_VARIANTS_H
