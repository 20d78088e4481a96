#ifndef FREESTONE_COMPILER_CODEGEN_CPU_ROWEMITTER_H
#define FREESTONE_COMPILER_CODEGEN_CPU_ROWEMITTER_H

#include "compiler/codegen/cpu/LaneReduction.h"
#include "compiler/plan/RowGrid.h"
#include "compiler/plan/RowPasses.h"

namespace freestone::codegen {

/// Neighbouring elements of a row that are computed as one vector.
struct RowElements {
  /// The loop positions of lane 0.
  llvm::SmallVector<mlir::Value> loops;
  /// Lane 0's number in the row.
  mlir::Value number;
  unsigned lanes = 1;
  mlir::Value mask = {};
  /// Values computed there.
  llvm::DenseMap<mlir::Value, mlir::Value> computed{};
};

/// Emits computes row by row, in passes over the elements of a row: those of reductions along memory, and the single
/// one of maps. In two files: rows, passes and their loops; the bodies at some elements.
class RowEmitter {
public:
  RowEmitter(Emission &emission, tile::RowPasses passes, tile::RowGrid grid)
      : emission(emission), builder(emission.builder), location(emission.location), passes(std::move(passes)),
        grid(std::move(grid)) {}

  void emit();

private:
  /// A reduction of the current pass along its lanes, with the index of its accumulators in the pass.
  struct Reduction {
    LaneReduction lanes;
    unsigned first;
  };

  /// All computes of one pass over a row.
  struct Pass {
    unsigned number;
    llvm::SmallVector<Reduction> reductions;
    /// The loops over the row's elements; several if they are not merged.
    llvm::SmallVector<sym::Expr> extents;
    unsigned lanes;
    /// Vectors that are computed side by side, each with accumulators of its own.
    unsigned sideBySide;
  };

  using Elements = RowElements;

  // Rows, passes and their loops.
  void emitTile(mlir::Value tile);
  void emitRow();
  void emitScalars(unsigned before);
  void emitPass(unsigned number);
  llvm::SmallVector<mlir::Value> emitLoops(Pass &pass, Elements outer, mlir::ValueRange accumulators);
  llvm::SmallVector<mlir::Value> emitSegments(Pass &pass, const Elements &outer, mlir::ValueRange accumulators);
  llvm::SmallVector<mlir::Value> emitRun(Pass &pass, const Elements &outer, mlir::Value from, mlir::Value to,
                                         mlir::ValueRange accumulators);
  llvm::SmallVector<mlir::Value> emitVectors(Pass &pass, const Elements &outer, mlir::Value from, mlir::Value end,
                                             unsigned count, mlir::ValueRange accumulators);
  llvm::SmallVector<mlir::Value> emitSideBySide(Pass &pass, const Elements &outer, mlir::Value from, mlir::Value end,
                                                mlir::ValueRange accumulators);
  llvm::SmallVector<mlir::Value> emitIf(mlir::Value condition, mlir::ValueRange accumulators,
                                        llvm::function_ref<llvm::SmallVector<mlir::Value>()> update);
  mlir::Value isBehind(mlir::Value column, mlir::Value other);
  Elements getElements(const Pass &pass, const Elements &outer, mlir::Value column, mlir::Value mask);

  // Bodies at some elements.
  llvm::SmallVector<mlir::Value> emitElements(Pass &pass, llvm::MutableArrayRef<Elements> vectors,
                                              mlir::ValueRange accumulators);
  void emitReduction(Pass &pass, tile::ComputeOp compute, Elements &elements,
                     llvm::SmallVectorImpl<mlir::Value> &accumulators);
  llvm::ArrayRef<tile::ComputeOp> takeTogether(llvm::ArrayRef<tile::ComputeOp> &left);
  void emitValues(llvm::ArrayRef<tile::ComputeOp> together, llvm::MutableArrayRef<Elements> vectors);
  void emitMap(tile::ComputeOp compute, llvm::MutableArrayRef<Elements> vectors);
  void emitInnerReductions(llvm::ArrayRef<tile::ComputeOp> together, llvm::MutableArrayRef<Elements> vectors);
  llvm::SmallVector<mlir::Value> emitInnerLoops(llvm::ArrayRef<tile::ComputeOp> together,
                                                llvm::ArrayRef<Elements> vectors, Positions reduced, unsigned loop,
                                                mlir::ValueRange accumulators);
  bool canShareValues(unsigned lanes);
  void shareValues(const Elements &outer, mlir::Value column, unsigned lanes);
  LanePoints getPoints(tile::ComputeOp compute, const Elements &elements);
  void setInputs(BodyVectorizer &body, tile::ComputeOp compute, const Elements &elements);
  void store(tile::ComputeOp compute, mlir::Value result, mlir::Value value, const Elements &elements);
  void keep(mlir::Value result, mlir::Value value, const Elements &elements);
  mlir::Value loadKept(mlir::Value result, const Elements &elements);

  Emission &emission;
  mlir::OpBuilder &builder;
  mlir::Location location;
  tile::RowPasses passes;
  tile::RowGrid grid;
  /// Indices of the current row, and the columns of the tile.
  llvm::SmallVector<mlir::Value> rowIndices;
  mlir::Value firstColumn, endColumn;
  /// Values of the row.
  llvm::DenseMap<mlir::Value, mlir::Value> computed;
  /// The memory of values that later passes read.
  llvm::DenseMap<mlir::Value, mlir::Value> scratch;
  /// Values that the columns of a row share, and what holds in the current segment of columns.
  llvm::DenseMap<mlir::Operation *, SharedValues> shared;
  llvm::DenseMap<mlir::Operation *, tile::ColumnFacts> facts;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_ROWEMITTER_H
