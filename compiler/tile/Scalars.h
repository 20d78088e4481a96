#ifndef FREESTONE_COMPILER_TILE_SCALARS_H
#define FREESTONE_COMPILER_TILE_SCALARS_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace freestone::tile {

// The scalar arithmetic of the graph's elementwise operators. `element` is the tensors' element type, which says what a
// signless scalar can't: whether it is unsigned, and whether it is a bool. f16 and bf16 are computed in f32 and
// rounded. Nothing here traps or is undefined for any operand: x/0 is 0 for integers, shifts by the width and more
// shift everything out, floats outside of an integer's range become its nearest end and NaN 0.

mlir::Value emitUnary(mlir::ImplicitLocOpBuilder &builder, graph::UnaryKind kind, mlir::Value operand,
                      mlir::Type element);
mlir::Value emitBinary(mlir::ImplicitLocOpBuilder &builder, graph::BinaryKind kind, mlir::Value lhs, mlir::Value rhs,
                       mlir::Type element);
mlir::Value emitCompare(mlir::ImplicitLocOpBuilder &builder, graph::CompareKind kind, mlir::Value lhs, mlir::Value rhs,
                        mlir::Type element);
mlir::Value emitCast(mlir::ImplicitLocOpBuilder &builder, mlir::Value operand, mlir::Type from, mlir::Type to);
/// The nearest end of the range where the value is outside; of floats, every cast does so.
mlir::Value emitSaturatingCast(mlir::ImplicitLocOpBuilder &builder, mlir::Value operand, mlir::Type from,
                               mlir::Type to);

/// A constant of the element type's scalar; floats and integers alike are given as a double.
mlir::Value emitConstant(mlir::ImplicitLocOpBuilder &builder, mlir::Type element, double value);
mlir::TypedAttr getScalarAttr(mlir::Type element, double value);
/// The smallest (largest) value of the type: infinities of floats.
mlir::TypedAttr getLowest(mlir::Type element);
mlir::TypedAttr getHighest(mlir::Type element);

/// The type in which sums of elements are kept: f32 for narrower floats, else the element type.
mlir::Type getAccumulatorType(mlir::Type element);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_SCALARS_H
