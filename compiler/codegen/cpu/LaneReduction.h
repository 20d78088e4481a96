#ifndef FREESTONE_COMPILER_CODEGEN_CPU_LANEREDUCTION_H
#define FREESTONE_COMPILER_CODEGEN_CPU_LANEREDUCTION_H

#include "compiler/codegen/cpu/VectorizeBody.h"
#include "compiler/plan/Combiner.h"

namespace freestone::codegen {

/// A constant in all lanes; a scalar for a single lane.
mlir::Value getLaneConstant(Emission &emission, mlir::TypedAttr scalar, unsigned lanes);

/// A reduction along lanes, each with its own accumulators.
class LaneReduction {
public:
  /// With several lanes, `canKeepLanes(compute)` must hold.
  LaneReduction(Emission &emission, tile::ComputeOp compute, unsigned lanes);

  tile::ComputeOp getCompute() const { return compute; }

  /// The initial accumulators.
  llvm::SmallVector<mlir::Value> getStart();
  /// The accumulators after the points of `body`; `mask` as in `LanePoints`.
  llvm::SmallVector<mlir::Value> emitStep(BodyVectorizer &body, mlir::ValueRange accumulators, mlir::Value mask);
  /// The accumulators after the points of both; several accumulators need `getCombiners(compute)`.
  llvm::SmallVector<mlir::Value> emitCombined(mlir::ValueRange lhs, mlir::ValueRange rhs);
  /// The scalar results of the final accumulators. `row` has the positions of the parallel loops; the first `used`
  /// lanes had points (null: all).
  llvm::SmallVector<mlir::Value> emitResults(const LanePoints &row, mlir::ValueRange accumulators, mlir::Value used);
  /// The same of several rows, a power of two that is at most `lanes`: each result is a vector with a row a lane. Needs
  /// `getCombiners(compute)`.
  llvm::SmallVector<mlir::Value> emitResultsOfRows(llvm::ArrayRef<llvm::SmallVector<mlir::Value>> rows);

private:
  llvm::SmallVector<mlir::Value> select(BodyVectorizer &body, mlir::ValueRange accumulators, mlir::Value mask);
  llvm::SmallVector<mlir::Value> selectAmongLanes(const LanePoints &row, mlir::ValueRange accumulators,
                                                  mlir::Value used);
  mlir::Value combine(const tile::Combiner &combiner, mlir::Value lhs, mlir::Value rhs);

  Emission &emission;
  mlir::OpBuilder &builder;
  mlir::Location location;
  tile::ComputeOp compute;
  unsigned lanes;
  std::optional<llvm::SmallVector<tile::Combiner>> combiners;
  std::optional<tile::Selection> selection;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_LANEREDUCTION_H
