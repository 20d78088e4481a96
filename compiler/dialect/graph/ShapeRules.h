// Predicates and sizes that the shape rules of several operator families share.
#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_SHAPERULES_H
#define FREESTONE_COMPILER_DIALECT_GRAPH_SHAPERULES_H

#include "compiler/dialect/graph/GraphDialect.h"

namespace freestone::graph {

inline TensorType typeOf(mlir::Value value) { return llvm::cast<TensorType>(value.getType()); }

inline bool isFloat(mlir::Type elementType) { return llvm::isa<mlir::FloatType>(elementType); }
inline bool isBool(mlir::Type elementType) { return elementType.isSignlessInteger(1); }
inline bool isInteger(mlir::Type elementType) { return !isFloat(elementType) && !isBool(elementType); }

/// Whether elements of this type are indices: i32 and i64.
inline bool isIndex(mlir::Type elementType) {
  return elementType.isSignlessInteger(32) || elementType.isSignlessInteger(64);
}

inline bool hasAxis(TensorType type, int64_t axis) { return axis >= 0 && axis < type.getRank(); }

/// Whether these are distinct dimensions of the type.
bool areDims(llvm::ArrayRef<int64_t> dims, TensorType type);

/// The number of positions of a window that spans `span` of `size` elements; never negative where constant.
sym::Expr getWindowPlaces(sym::Expr size, sym::Expr span, int64_t stride);

/// Whether a constant is a splat of this number; false for a null attribute.
bool isSplatOf(mlir::Attribute constant, double value);

/// The element of a splat constant, as an attribute of any shape; null if the constant is no splat.
mlir::Attribute getSplat(mlir::Attribute constant);

/// Ranges of dimensions of two shapes with equal products, in order: the dimensions that a reshape splits and merges.
struct ReshapeGroup {
  unsigned fromBegin, fromEnd, toBegin, toEnd;
};
llvm::SmallVector<ReshapeGroup> getReshapeGroups(llvm::ArrayRef<sym::Expr> from, llvm::ArrayRef<sym::Expr> to);

/// Whether two shapes provably differ in their numbers of elements.
bool haveDifferentProducts(TensorType lhs, TensorType rhs);

} // namespace freestone::graph

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_SHAPERULES_H
