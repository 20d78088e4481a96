#ifndef FREESTONE_COMPILER_TILE_REGIONSIZES_H
#define FREESTONE_COMPILER_TILE_REGIONSIZES_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "llvm/ADT/MapVector.h"

namespace freestone::tile {

/// Symbols that an operation binds, with sizes that they never exceed; null where none is known. The symbols of its
/// regions are not among them.
using SymbolLimits = llvm::MapVector<mlir::StringAttr, sym::Expr>;
SymbolLimits getBoundSymbols(mlir::Operation *op);

/// A size of what a loop carries that is no function of the iteration's number: its symbols within the body and behind
/// the loop, what it is before and behind an iteration, and a limit; null where none is known.
struct CarriedSize {
  mlir::StringAttr within, behind;
  sym::Expr first, next, limit;
};
llvm::SmallVector<CarriedSize> getCarriedSizes(graph::WhileOp loop);

/// Symbols that change from one iteration of a loop to the next, or that an iteration compares before it uses them.
llvm::SmallDenseSet<mlir::StringAttr> getChangingSymbols(mlir::Operation *loop);

/// Whether a size of the operation, or of one within it, depends on one of the symbols.
bool usesSymbols(mlir::Operation *root, const llvm::SmallDenseSet<mlir::StringAttr> &symbols);

/// The number of iterations of a loop, where that is no symbol that it binds.
std::optional<sym::Expr> getKnownTrips(graph::WhileOp loop);

/// Lets a symbol have the value of an integer scalar from here on, which is at most `limit`; null: without a limit.
void bindSymbol(mlir::OpBuilder &builder, mlir::Location location, mlir::StringAttr symbol, mlir::Value scalar,
                sym::Expr limit);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_REGIONSIZES_H
