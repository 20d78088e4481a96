#ifndef FREESTONE_COMPILER_TILE_SCALARS_H
#define FREESTONE_COMPILER_TILE_SCALARS_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace freestone::tile {

// The scalar arithmetic of the graph's elementwise operators. `element` is the tensors' element type, which a signless
// scalar does not determine: unsigned, or bool. f16 and bf16 are computed in f32 and rounded. Nothing here traps or is
// undefined for any operand: integer x/0 is 0, shifts by at least the width shift out all bits, floats out of an
// integer's range are clamped to it, and NaN becomes 0.

mlir::Value emitUnary(mlir::ImplicitLocOpBuilder &builder, graph::UnaryKind kind, mlir::Value operand,
                      mlir::Type element);
mlir::Value emitBinary(mlir::ImplicitLocOpBuilder &builder, graph::BinaryKind kind, mlir::Value lhs, mlir::Value rhs,
                       mlir::Type element);
mlir::Value emitCompare(mlir::ImplicitLocOpBuilder &builder, graph::CompareKind kind, mlir::Value lhs, mlir::Value rhs,
                        mlir::Type element);
mlir::Value emitCast(mlir::ImplicitLocOpBuilder &builder, mlir::Value operand, mlir::Type from, mlir::Type to);
struct CastMode {
  bool saturate = false;
  /// Of casts to f8E8M0FNU.
  graph::RoundMode round = graph::RoundMode::nearest;
};
/// A cast from or to a type whose elements are only stored (`graph::isStorageOnly`).
mlir::Value emitStoredCast(mlir::ImplicitLocOpBuilder &builder, mlir::Value operand, mlir::Type from, mlir::Type to,
                           CastMode mode);
/// The same bits as another type; a bool that is no 0 is true.
mlir::Value emitBitcast(mlir::ImplicitLocOpBuilder &builder, mlir::Value operand, mlir::Type from, mlir::Type to);
/// Clamps out-of-range values to the type's range; casts of floats to integers always do.
mlir::Value emitSaturatingCast(mlir::ImplicitLocOpBuilder &builder, mlir::Value operand, mlir::Type from,
                               mlir::Type to);

/// A constant as the scalar of an element type; given as a double for floats and integers alike.
mlir::Value emitConstant(mlir::ImplicitLocOpBuilder &builder, mlir::Type element, double value);
mlir::TypedAttr getScalarAttr(mlir::Type element, double value);
/// The smallest (largest) value of the type; infinities for floats.
mlir::TypedAttr getLowest(mlir::Type element);
mlir::TypedAttr getHighest(mlir::Type element);

/// The type in which elements are summed: f32 for narrower floats, else the element type.
mlir::Type getAccumulatorType(mlir::Type element);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_SCALARS_H
