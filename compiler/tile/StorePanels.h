#ifndef FREESTONE_COMPILER_TILE_STOREPANELS_H
#define FREESTONE_COMPILER_TILE_STOREPANELS_H

#include "compiler/tile/ComputeBuilder.h"

namespace freestone::tile {

/// The storage of a tensor of this shape in panels: its elements are those of `source` at `indices`, which are over the
/// loops that stand for the tensor's dimensions (getLoopSymbol). The padding of the last panel is zeros. Fails where
/// the indices are not linear, or where there is padding and the axis of the panels is no dimension of `source`.
/// Elements are widened to `element`; by default they stay as they are.
mlir::FailureOr<ComputeOp> storePanels(mlir::OpBuilder &builder, mlir::Location location, mlir::Value source,
                                       llvm::ArrayRef<sym::Expr> indices, llvm::ArrayRef<sym::Expr> shape,
                                       PanelsAttr layout, mlir::Type element = {});

/// The storage of a matrix of this shape, [steps, columns], in words; as above.
mlir::FailureOr<ComputeOp> storeWords(mlir::OpBuilder &builder, mlir::Location location, mlir::Value source,
                                      llvm::ArrayRef<sym::Expr> indices, llvm::ArrayRef<sym::Expr> shape,
                                      WordsAttr layout);

/// The storage of rows of steps, which `source` has row-major, in strips of words.
mlir::FailureOr<ComputeOp> storeStrips(mlir::OpBuilder &builder, mlir::Location location, mlir::Value source,
                                       StripsAttr layout);

/// The storage of filters of this shape, [channels in…, 3, 3, channels out], that are transformed; as above.
mlir::FailureOr<ComputeOp> storeTransformed(mlir::OpBuilder &builder, mlir::Location location, mlir::Value source,
                                            llvm::ArrayRef<sym::Expr> indices, llvm::ArrayRef<sym::Expr> shape,
                                            WinogradAttr layout, mlir::Type element = {});

/// The storage of a matrix of this shape in parts; `panels` is its storage in panels of as many columns. Fails where
/// its sizes are no sizes of loops.
mlir::FailureOr<ComputeOp> storeParts(mlir::OpBuilder &builder, mlir::Location location, mlir::Value panels,
                                      llvm::ArrayRef<sym::Expr> shape, PartsAttr layout);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_STOREPANELS_H
