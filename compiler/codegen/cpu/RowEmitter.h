#ifndef FREESTONE_COMPILER_CODEGEN_CPU_ROWEMITTER_H
#define FREESTONE_COMPILER_CODEGEN_CPU_ROWEMITTER_H

#include "compiler/codegen/cpu/LaneReduction.h"
#include "compiler/codegen/cpu/TreeWalker.h"
#include "compiler/plan/FormTrees.h"

namespace freestone::codegen {

/// Neighbouring elements of a row that are computed as one vector.
struct RowElements {
  /// The number of their row among the current ones.
  unsigned row = 0;
  /// The loop positions of lane 0.
  llvm::SmallVector<mlir::Value> loops;
  /// Lane 0's number in the row.
  mlir::Value number;
  unsigned lanes = 1;
  mlir::Value mask = {};
  /// The loop that lanes run along, if not the innermost one.
  std::optional<unsigned> along = {};
  /// Values computed there, and operands of bodies that are loaded already.
  llvm::DenseMap<mlir::Value, mlir::Value> computed{};
};

/// Emits computes row by row, in passes over the elements of a row: those of reductions along memory, and the single
/// one of maps. Short rows are computed several at a time, so that none waits for its own sums. Blocks of neighbouring
/// rows, each with one result, are computed together and share what they load; so do maps whose operands are contiguous
/// across the rows. In four files: rows, passes and their loops; the bodies at some elements; blocks; squares of rows
/// and columns.
class RowEmitter : TreeWalker {
public:
  RowEmitter(Emission &emission, tile::RowForm form)
      : TreeWalker(emission, ranges), passes(std::move(form.passes)), grid(std::move(form.grid)),
        blocks(std::move(form.blocks)), across(std::move(form.across)),
        ranges(llvm::SmallVector<AxisRange>(tile::RowAxis::resultColumns + 1)) {}
  /// Of a map in squares.
  RowEmitter(Emission &emission, tile::RowPasses passes, tile::TranspositionTilingAttr squares)
      : TreeWalker(emission, ranges), passes(std::move(passes)), squares(squares),
        ranges(llvm::SmallVector<AxisRange>(tile::TranspositionAxis::columns + 1)) {}

  void emit();

private:
  /// A reduction of the current pass along its lanes, with the index of its accumulators in the pass.
  struct Reduction {
    LaneReduction lanes;
    unsigned first;
  };

  using Elements = RowElements;

  /// The pass over the current rows whose loops are emitted.
  struct Pass {
    llvm::SmallVector<Reduction> reductions;
    /// The current positions of the loops around vectors, and the number of the first element there.
    Elements outer;
    /// The elements of the innermost loop.
    sym::Expr length;
  };

  /// How neighbouring columns are computed: the nodes at each vector, its lanes, and vectors side by side, each with
  /// accumulators of its own.
  struct Run {
    llvm::ArrayRef<mlir::Attribute> body;
    unsigned lanes, sideBySide;
  };

  struct Row {
    llvm::SmallVector<mlir::Value> indices;
    /// Values of the whole row.
    llvm::DenseMap<mlir::Value, mlir::Value> computed{};
  };

  // Rows, passes and their loops.
  void emitRowTiles();
  std::pair<mlir::Value, mlir::Value> getRowsOfTile();
  void forRows(llvm::function_ref<void()> body);
  void forRowsTogether(mlir::Value first, mlir::Value end, llvm::function_ref<void()> body);
  /// Whether the current rows are neighbours whose values of whole rows stand in vectors, a row a lane.
  bool areTogether() const { return rows.size() > 1 && !blocks; }
  Elements getWholeRows(unsigned row) const;
  void setOfRows(mlir::Value tensor, mlir::Value value, unsigned row);
  void emitPacked(tile::PackedAttr node, unsigned depth) override;
  void placeRow();
  void emitBlocks(tile::BlocksAttr node) override;
  void atVectors(llvm::ArrayRef<tile::ComputeOp> computes, llvm::function_ref<void()> body);
  tile::ComputeOp getFirst(tile::VectorsAttr node);
  sym::Expr getLength(tile::ComputeOp compute);
  void forPass(tile::VectorsAttr node, llvm::function_ref<void()> loops);
  void forElements(tile::BlocksAttr node);
  void emitVectors(tile::VectorsAttr node) override;
  void emitSegments(const Run &run, llvm::ArrayRef<sym::Expr> segments, mlir::Value from, mlir::Value to);
  void emitRun(const Run &run, mlir::Value from, mlir::Value to, llvm::ArrayRef<sym::Expr> sizes = {});
  void walkVectors(const Run &run, mlir::Value column, unsigned sideBySide, mlir::Value mask);
  llvm::SmallVector<mlir::Value> getStart();
  llvm::SmallVector<mlir::Value> combine(llvm::ArrayRef<mlir::Value> accumulators, unsigned sideBySide);

  // Bodies at some elements.
  /// Vectors of operands by their number, and by the row and column of results that they depend on.
  using Loaded = llvm::DenseMap<std::pair<unsigned, unsigned>, mlir::Value>;
  llvm::SmallVector<tile::ComputeOp> getComputes(tile::EvaluateAttr node);
  bool reducesWithin(tile::ComputeOp compute);
  void emitEvaluate(tile::EvaluateAttr node) override;
  void accumulate(tile::ComputeOp compute, Loaded &loaded);
  void prefetchRows();
  void emitValues(tile::ComputeOp compute, llvm::MutableArrayRef<Elements> vectors);
  void emitMap(tile::ComputeOp compute, llvm::MutableArrayRef<Elements> vectors);
  void storeResults(tile::ComputeOp compute, llvm::MutableArrayRef<Elements> vectors);
  void emitInnerReductions(tile::BlocksAttr node);
  void emitReductionStep(llvm::ArrayRef<tile::ComputeOp> computes);
  bool canShareValues(unsigned lanes);
  void shareValues(mlir::Value column, unsigned lanes);
  LanePoints getPoints(tile::ComputeOp compute, const Elements &elements);
  void setInputs(BodyVectorizer &body, tile::ComputeOp compute, const Elements &elements);
  void store(tile::ComputeOp compute, mlir::Value result, mlir::Value value, const Elements &elements);
  void keep(mlir::Value result, mlir::Value value, const Elements &elements);
  mlir::Value getKeptPlace(const Elements &elements);
  mlir::Value loadKept(mlir::Value result, const Elements &elements);

  // Blocks of rows and columns of results.
  void forResultBlocks(llvm::function_ref<void()> body);
  void forResults(tile::BlocksAttr node, llvm::function_ref<void()> body);
  void setResults();
  void placeMatrix();
  void placeColumns(mlir::Value isNew);
  void shareLoads(BodyVectorizer &body, const Elements &elements, Loaded &loaded);
  void copyWithBorder();
  mlir::Value loadColumn(const Elements &elements);
  mlir::Value loadCopied(const Elements &elements);
  mlir::Value loadSteps(mlir::Value memory, mlir::Value at, const Elements &elements);
  bool dependsOnLoop(unsigned input, unsigned loop);

  // Squares of rows and columns.
  /// The first row and column of a square. For a partial one, also its rows and columns; else null.
  struct Square {
    mlir::Value row, column;
    mlir::Value rowsLeft, columnsLeft;
  };
  void emitSquares();
  void emitSquare();
  void emitSquare(const Square &square);
  void emitTransposed(const Square &square);
  llvm::SmallVector<mlir::Value> transposeOperand(tile::ComputeOp compute, unsigned input, const Square &square);
  void emitInterleaved(const Square &square);
  void storeInterleaved(mlir::Value memory, graph::TensorType type, llvm::ArrayRef<mlir::Value> columns,
                        const Square &square);
  mlir::Value isBelow(int64_t number, mlir::Value left);

  tile::RowPasses passes;
  tile::RowGrid grid;
  std::optional<tile::RowBlocks> blocks;
  std::optional<tile::RowsAcross> across;
  tile::TranspositionTilingAttr squares;
  AxisRanges ranges;
  /// The current row, or those of a block, row-major in so many columns; before it is entered, the first one of its
  /// matrix.
  llvm::SmallVector<Row> rows;
  int64_t columnsOfBlock = 1;
  /// The pass that is entered, and the elements that are computed side by side.
  std::optional<Pass> pass;
  llvm::SmallVector<Elements> vectors;
  /// Positions of reductions within these elements.
  Positions reduced;
  /// The outer points of the current block of results.
  llvm::SmallVector<mlir::Value> matrix;
  /// Values of whole rows that are together.
  llvm::DenseMap<mlir::Value, mlir::Value> ofRows;
  /// The copy of the packed operand, or of that with a border; the columns to read: of the copy or in place, and
  /// elements from one to the next.
  mlir::Value copy, columns, pitch;
  /// Where the current row of an operand that is contiguous across rows begins in its copy.
  mlir::Value placeOfRow;
  /// The memory of values that later passes read, and of such a copy.
  llvm::DenseMap<mlir::Value, mlir::Value> scratch;
  /// Values that the columns of a row share, and what holds in the current segment of columns.
  llvm::DenseMap<mlir::Operation *, SharedValues> shared;
  llvm::DenseMap<mlir::Operation *, tile::ColumnFacts> facts;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_ROWEMITTER_H
