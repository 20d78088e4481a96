#ifndef FREESTONE_COMPILER_CODEGEN_CPU_VECTORIZEBODY_H
#define FREESTONE_COMPILER_CODEGEN_CPU_VECTORIZEBODY_H

#include "compiler/codegen/cpu/Emission.h"
#include "compiler/plan/ColumnSegments.h"

namespace freestone::codegen {

/// Neighbouring points of a compute's loops, one for each vector lane.
///
/// For loops (d0, d1) with sixteen lanes along d1, whose current indices are the values `row` and `column`:
///   loops = {%row, %column}, positions = {{%row, row}, {%column, column}}, lane = %column, lanes = 16.
/// Lanes across two loops are loops = {%n floordiv s, %n mod s}, lane = %n: an operand with contiguous rows is then
/// still read as one vector.
struct LanePoints {
  /// The position of each loop, over symbols of `positions` and sizes.
  llvm::SmallVector<sym::Expr> loops;
  /// The values of the symbols; for `lane`, lane 0's value.
  Positions positions;
  /// The symbol that grows by one from lane to lane. Null where `lanes` is 1.
  sym::Expr lane;
  /// 1: scalars instead of vectors.
  unsigned lanes = 1;
  /// vector<lanes x i1>: the active lanes; null: all.
  mlir::Value mask;
  /// Exclusive upper bound of the values of `lane`; 0: unknown.
  int64_t laneEnd = 0;
};

/// Restricts lanes along `points.lane` to one panel of this width: it becomes panel * width + lane.
void keepWithinPanel(Emission &emission, LanePoints &points, int64_t width);

/// Values of a body that all lanes or all vectors of a row share, and checks of them, emitted in advance.
struct SharedValues {
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::SmallPtrSet<mlir::Operation *, 2> checks;
};

/// Emits values of a compute's body for `points`. Values that all lanes share stay scalars; others are vector<lanes x
/// T>. Loads go through the operands' maps: contiguous elements as one (masked) vector, a common element as a scalar,
/// else a gather. Out of bounds an operand gives its fill; no memory outside of buffers is read.
class BodyVectorizer {
public:
  BodyVectorizer(Emission &emission, tile::ComputeOp compute, LanePoints points);

  /// Sets a value of the body (an operand's element, an accumulator) instead of computing it: a scalar or a vector.
  void set(mlir::Value value, mlir::Value lanes) { known[value] = lanes; }
  /// Reuses values and checks emitted in advance.
  void share(const SharedValues &shared);
  /// Leaves out what these facts decide.
  void assume(const tile::ColumnFacts &known);
  /// A value of the body, computed once with everything it depends on. A scalar if all lanes agree.
  mlir::Value get(mlir::Value value);
  /// As get, but always a vector if `lanes` is more than 1.
  mlir::Value getVector(mlir::Value value) { return spread(get(value)); }
  mlir::Value spread(mlir::Value value);
  /// Emits the body's checks, then the yielded values.
  llvm::SmallVector<mlir::Value> getYielded();
  /// Stores a result at the points of the parallel loops into its flat memory; bool as i8.
  void store(mlir::Value value, graph::TensorType type, mlir::Value memory);

private:
  mlir::Value load(unsigned input);
  mlir::Value loadAt(sym::Expr linear, mlir::Value memory, mlir::Type storage, mlir::Value mask, mlir::TypedAttr fill);
  mlir::Value loadEvery(int64_t stride, mlir::Value memory, mlir::Value index, mlir::Type storage, mlir::Value mask,
                        mlir::TypedAttr fill);
  mlir::Value loadRepeated(mlir::Value memory, sym::Expr linear, int64_t times, mlir::Value phase, mlir::Type storage);
  mlir::Value read(tile::ReadOp op);
  mlir::Value readRun(tile::ReadOp op, mlir::Value begin, graph::TensorType type, mlir::Value memory);
  mlir::Value getRunBegin(mlir::Value index);
  mlir::Value getInside(tile::ReadOp op, graph::TensorType type);
  mlir::Value isBelow(mlir::Value coordinate, sym::Expr extent);
  mlir::Value loadIf(mlir::Value condition, mlir::Type type, mlir::TypedAttr fill,
                     llvm::function_ref<mlir::Value()> load);
  mlir::Value gather(mlir::Value memory, mlir::Value base, mlir::Value indices, mlir::Type storage, mlir::Value mask,
                     mlir::TypedAttr fill);
  std::optional<sym::Expr> getLaneStride(sym::Expr index);
  sym::Expr getLinear(graph::TensorType type, llvm::ArrayRef<sym::Expr> indices);
  mlir::Value getIndexLanes(sym::Expr index);
  mlir::Value getCastLanes(sym::Expr index, mlir::Type type);
  mlir::Value getInside(unsigned input, llvm::ArrayRef<sym::Expr> indices);
  mlir::Value clone(mlir::Operation *op);
  std::optional<bool> isDecided(mlir::Value condition);
  /// The operand of a choice or of a conjunction that the facts make its value; null where they do not.
  mlir::Value getDecided(mlir::Operation *op);
  mlir::Value toScalarType(mlir::Value value, mlir::Type elementType);
  mlir::Value getFill(mlir::Type type, mlir::TypedAttr fill);
  mlir::Value combine(mlir::Value lhs, mlir::Value rhs);
  mlir::VectorType vectorOf(mlir::Type type) { return mlir::VectorType::get({points.lanes}, type); }

  Emission &emission;
  mlir::OpBuilder &builder;
  mlir::Location location;
  tile::ComputeOp compute;
  LanePoints points;
  llvm::DenseMap<mlir::Value, mlir::Value> known;
  llvm::SmallPtrSet<mlir::Operation *, 2> checked;
  tile::ColumnFacts facts;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_VECTORIZEBODY_H
