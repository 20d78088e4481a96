#ifndef FREESTONE_COMPILER_DIALECT_TILE_TILEDIALECT_H
#define FREESTONE_COMPILER_DIALECT_TILE_TILEDIALECT_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/sym/SymDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/dialect/tile/TileDialect.h.inc"

namespace freestone::tile {

class ComputeOp;

/// The type of one element in a body: i1 of a bool tensor, signless of an unsigned one, i8 of elements that are only
/// stored (a code, or an integer extended by its sign), else the element type.
mlir::Type getScalarType(mlir::Type elementType);

/// The type of one element in memory: i8 of a bool tensor, else as in a body.
mlir::Type getStorageType(mlir::Type elementType);

/// The scalar in a body of an element that is only stored, by the element's own bits.
llvm::APInt getStoredScalar(mlir::Type elementType, const llvm::APInt &bits);

/// The elements that a tensor occupies, its layout's padding included.
sym::Expr getStorageElements(graph::TensorType type);

/// The dimensions in which a tensor is stored row-major, its layout's padding included, and the position in them of the
/// element at `indices`.
llvm::SmallVector<sym::Expr> getStorageShape(graph::TensorType type);
llvm::SmallVector<sym::Expr> getStorageIndex(graph::TensorType type, llvm::ArrayRef<sym::Expr> indices);

/// Whether neighbours along each dimension are equally far apart in memory: row-major, or a box of what is.
bool hasStrides(graph::TensorType type);

/// The linear position in memory of the element at `indices`, its layout applied.
sym::Expr getLinearIndex(graph::TensorType type, llvm::ArrayRef<sym::Expr> indices);

/// Whether an operation's result aliases its operand, in another shape or layout.
bool isAlias(mlir::Operation *op);

/// A tensor before all reshapes of it.
mlir::Value getReshapeSource(mlir::Value tensor);

/// Of an opaque or its call: two sizes that must be equal, and a text (see `tile.opaque`).
constexpr llvm::StringLiteral assertsAttr = "asserts";

/// Whether an operation, which binds or asserts sizes, must come before what uses them behind it.
bool settlesSizes(mlir::Operation *op);

using graph::getExprArrayAttr;
using graph::getExprs;

} // namespace freestone::tile

#include "compiler/dialect/tile/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/tile/TileAttributes.h.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/tile/TileOps.h.inc"

#endif // FREESTONE_COMPILER_DIALECT_TILE_TILEDIALECT_H
