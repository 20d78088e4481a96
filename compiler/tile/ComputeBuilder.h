#ifndef FREESTONE_COMPILER_TILE_COMPUTEBUILDER_H
#define FREESTONE_COMPILER_TILE_COMPUTEBUILDER_H

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace freestone::tile {

/// The body of a compute under construction: gives access to its scalars.
class ComputeBody {
public:
  mlir::ImplicitLocOpBuilder &builder;

  /// The scalar of operand `number`, as `ComputeBuilder::read` numbered it.
  mlir::Value input(unsigned number) const { return inputs[number]; }
  mlir::Value accumulator(unsigned result) const { return accumulators[result]; }
  llvm::ArrayRef<mlir::Value> getAccumulators() const { return accumulators; }
  /// The tensor `number`, as `ComputeBuilder::table` numbered it.
  mlir::Value tensor(unsigned number) const { return tables[number]; }
  /// The element at data-dependent indices (of type index) of tensor `number`, as `ComputeBuilder::table` numbered it.
  mlir::Value readTable(unsigned number, mlir::ValueRange indices) const;
  /// The position of a loop, and the value of a size, as index.
  mlir::Value loop(unsigned number) const;
  mlir::Value size(sym::Expr expr) const;
  /// The value of an index expression over loops and sizes, as index.
  mlir::Value index(sym::Expr expr) const;

private:
  friend class ComputeBuilder;
  ComputeBody(mlir::ImplicitLocOpBuilder &builder) : builder(builder) {}

  llvm::SmallVector<mlir::Value> inputs, accumulators, tables;
};

/// Builds a compute from index expressions: loops, then operands, then results with a body.
class ComputeBuilder {
public:
  ComputeBuilder(mlir::OpBuilder &builder, mlir::Location location, llvm::ArrayRef<sym::Expr> parallel,
                 llvm::ArrayRef<sym::Expr> reduction = {});

  /// Loop i as an index expression; parallel loops come first.
  sym::Expr loop(unsigned number) const;
  llvm::SmallVector<sym::Expr> parallelLoops() const;
  sym::Expr constant(int64_t value) const;

  /// Reads a tensor once per point. A splat constant becomes a value of the body, not an operand.
  unsigned read(mlir::Value tensor, llvm::ArrayRef<sym::Expr> indices, mlir::TypedAttr fill = {});
  /// Reads a tensor at the parallel loops, one coordinate each.
  unsigned read(mlir::Value tensor);
  /// Lets the body read a tensor at data-dependent indices.
  unsigned table(mlir::Value tensor);

  using BodyFunction = llvm::function_ref<llvm::SmallVector<mlir::Value>(ComputeBody &)>;
  /// Results have the parallel extents and these element types; `inits` are required with reduction loops. Fails where
  /// an index is no affine function of the loops.
  mlir::FailureOr<ComputeOp> create(llvm::ArrayRef<mlir::Type> elements, llvm::ArrayRef<mlir::TypedAttr> inits,
                                    BodyFunction body);
  mlir::FailureOr<ComputeOp> create(mlir::Type element, llvm::function_ref<mlir::Value(ComputeBody &)> body);

private:
  struct Read {
    mlir::Value tensor;
    llvm::SmallVector<sym::Expr> indices;
    mlir::TypedAttr fill;
    /// Set if the tensor is a splat constant.
    mlir::TypedAttr splat;
  };

  mlir::OpBuilder &builder;
  mlir::Location location;
  llvm::SmallVector<sym::Expr> extents;
  unsigned numParallel;
  llvm::SmallVector<Read> reads;
  llvm::SmallVector<mlir::Value> tables;
};

/// The element of a splat constant, as a scalar of a body; null for other tensors.
mlir::TypedAttr getSplat(mlir::Value tensor);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_COMPUTEBUILDER_H
