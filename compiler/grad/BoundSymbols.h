#ifndef FREESTONE_COMPILER_GRAD_BOUNDSYMBOLS_H
#define FREESTONE_COMPILER_GRAD_BOUNDSYMBOLS_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace freestone::grad {

/// Symbols of sizes that data determine within the regions of an operator: the rest of the function has none of them.
llvm::SetVector<mlir::StringAttr> findBoundSymbols(mlir::Operation *op);

/// Whether a tensor has sizes of these symbols.
bool hasSizeOf(mlir::Value value, const llvm::SetVector<mlir::StringAttr> &symbols);

/// A symbol that the function does not use. Its bounds, if any, are noted there.
sym::Expr declareSymbol(mlir::func::FuncOp function, llvm::StringRef stem, sym::SymbolBoundsAttr bounds);

/// New names, of the same bounds and definitions, for symbols that a copy of regions binds once more.
llvm::DenseMap<mlir::StringAttr, sym::Expr> renameSymbols(mlir::func::FuncOp function,
                                                          const llvm::SetVector<mlir::StringAttr> &symbols);

/// Replaces symbols by their new names in an operator and its regions.
void applyNames(mlir::Operation *op, const llvm::DenseMap<mlir::StringAttr, sym::Expr> &names);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_BOUNDSYMBOLS_H
