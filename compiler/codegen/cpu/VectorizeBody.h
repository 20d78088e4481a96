#ifndef FREESTONE_COMPILER_CODEGEN_CPU_VECTORIZEBODY_H
#define FREESTONE_COMPILER_CODEGEN_CPU_VECTORIZEBODY_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// Neighbouring points of a compute's loops that are computed together, one a lane.
///
/// For loops (d0, d1) with sixteen lanes along d1, of which the code at hand knows as indices `row` and `column`:
///   loops = {%row, %column}, positions = {{%row, row}, {%column, column}}, lane = %column, lanes = 16.
/// Lanes that run over two loops at once are loops = {%n floordiv s, %n mod s}, lane = %n: an operand whose rows follow
/// each other is then still read as one vector.
struct LanePoints {
  /// Where each loop of the compute stands, over symbols of `positions` and sizes.
  llvm::SmallVector<sym::Expr> loops;
  /// The values of the symbols; that of `lane` is lane 0's.
  Positions positions;
  /// The symbol that grows by one from lane to lane. Null where `lanes` is 1.
  sym::Expr lane;
  /// 1: plain scalars, no vectors.
  unsigned lanes = 1;
  /// vector<lanes x i1>: lanes that are computed; null: all.
  mlir::Value mask;
  /// What the values of `lane` stay below; 0: not known.
  int64_t laneEnd = 0;
};

/// Lanes along `points.lane` that never leave one panel of so many: it becomes panel * width + lane.
void keepWithinPanel(Emission &emission, LanePoints &points, int64_t width);

/// Values of a body that are the same for all lanes, and checks of such, that were emitted before.
struct SharedValues {
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::SmallPtrSet<mlir::Operation *, 2> checks;
};

/// Whether an expression has a symbol in it.
bool dependsOn(sym::Expr expr, sym::Expr symbol);

/// By how much an index grows when `symbol` does by one; nothing where that is not the same everywhere.
std::optional<sym::Expr> getStride(sym::Expr index, sym::Expr symbol);

/// Emits values of a compute's body for `points`. Values that all lanes share stay scalars; others are vector<lanes x
/// T>. Loads go through the operands' maps: neighbours in memory as one (masked) vector, one element for all lanes as a
/// scalar, else a gather. Outside of an operand its fill is given. Nothing outside of buffers is read.
class BodyVectorizer {
public:
  BodyVectorizer(Emission &emission, tile::ComputeOp compute, LanePoints points);

  /// Gives a value of the body (an operand's element, an accumulator) instead of computing it: a scalar or a vector.
  void set(mlir::Value value, mlir::Value lanes) { known[value] = lanes; }
  /// Takes values and checks as they were emitted for all lanes of this and other points.
  void share(const SharedValues &shared);
  /// A value of the body, computed with what it needs; each once. A scalar where all lanes agree.
  mlir::Value get(mlir::Value value);
  /// The same, always a vector where `lanes` is more than 1.
  mlir::Value getVector(mlir::Value value) { return spread(get(value)); }
  mlir::Value spread(mlir::Value value);
  /// Emits the body's checks, then what it yields.
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
  mlir::Value getInside(unsigned input, llvm::ArrayRef<sym::Expr> indices);
  mlir::Value clone(mlir::Operation *op);
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
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_VECTORIZEBODY_H
