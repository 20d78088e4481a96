#ifndef FREESTONE_COMPILER_TILE_OPAQUEBUILDER_H
#define FREESTONE_COMPILER_TILE_OPAQUEBUILDER_H

#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/tile/DataIndex.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace freestone::tile {

/// Builds the body of a `tile.opaque`: flat buffers, index arithmetic, loops. Positions are of type index and count
/// elements.
class OpaqueBuilder {
public:
  OpaqueBuilder(mlir::OpBuilder &builder, mlir::Location location, sym::Expr tiles, mlir::ValueRange inputs,
                llvm::ArrayRef<graph::TensorType> results);

  mlir::ImplicitLocOpBuilder &ir() { return inside; }
  mlir::Value tile() { return op.getTileNumber(); }

  /// The scalar of an element, and its stored form.
  mlir::Value load(unsigned input, mlir::Value position);
  /// Consecutive elements from a position on, as a vector.
  mlir::Value loadRun(unsigned input, mlir::Value position, int64_t elements);
  mlir::Value loadResult(unsigned result, mlir::Value position);
  mlir::Value loadResultRun(unsigned result, mlir::Value position, int64_t elements);
  void store(unsigned result, mlir::Value position, mlir::Value scalar);

  mlir::Value constant(int64_t value);
  mlir::Value size(sym::Expr expr);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value rem(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value isEqual(mlir::Value a, mlir::Value b);
  mlir::Value toIndex(mlir::Value integer);
  mlir::Value toI64(mlir::Value index);

  /// The coordinates of element `position`, in row-major order of a shape.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value position, llvm::ArrayRef<sym::Expr> shape);
  mlir::Value linearize(mlir::ValueRange coordinates, llvm::ArrayRef<sym::Expr> shape);

  /// for i = from; i < to; i += step, with loop-carried values.
  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value i, mlir::ValueRange carried)>;
  mlir::ValueRange loop(mlir::Value from, mlir::Value to, mlir::ValueRange carried, LoopBody body);
  void loop(mlir::Value from, mlir::Value to, llvm::function_ref<void(mlir::Value)> body);
  void loop(mlir::Value from, mlir::Value to, mlir::Value step, llvm::function_ref<void(mlir::Value)> body);
  /// A loop that `vectorizeLoop` vectorizes.
  void loopInVectors(mlir::Value from, mlir::Value to, llvm::function_ref<void(mlir::Value)> body);
  /// Runs `body` if the condition holds; a null condition always holds.
  void onlyIf(mlir::Value condition, llvm::function_ref<void()> body);

  /// A data-dependent index along an axis. Use it only within `onlyIf(inside, …)`.
  DataIndex dataIndex(mlir::Value index, mlir::Value extent) { return emitDataIndex(inside, index, extent); }

  /// Terminates the body.
  OpaqueOp finish();

private:
  /// Converts stored elements to scalars of a body; both may be vectors.
  mlir::Value fromStored(mlir::Value stored, mlir::Type element);

  OpaqueOp op;
  mlir::ImplicitLocOpBuilder inside;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_OPAQUEBUILDER_H
