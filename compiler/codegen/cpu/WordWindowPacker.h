#ifndef FREESTONE_COMPILER_CODEGEN_CPU_WORDWINDOWPACKER_H
#define FREESTONE_COMPILER_CODEGEN_CPU_WORDWINDOWPACKER_H

#include "compiler/codegen/cpu/PackDotProducts.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace freestone::codegen {

/// The rows that become words.
struct WordRows {
  /// Positions of a row: columns of a panel, or steps of k of a group.
  int64_t lanes;
  int64_t stepsOfWord;
  /// Of a word, to which elements of memory are widened.
  mlir::Type elementType;
  /// Whether masked loads and stores take a branch for each lane.
  bool areMasksSlow;
};

/// Lanes [first, last) of a vector of positions within a row of memory.
struct PositionRun {
  mlir::Value first, last;
  /// The positions of their loops at the run's first one.
  Positions at;
  /// The memory index of the vector's first lane, if it were in the run's row, at the first step.
  mlir::Value base;
};

/// The lanes [first, last) of a run that a tap of the last loop finds in bounds; the bits of their mask where a
/// register has them.
struct LoadedLanes {
  mlir::Value first, last, bits;
};

/// Copies rows of positions, one for each step: of k where positions are columns, else for each column.
class WordWindowPacker {
public:
  WordWindowPacker(Emission &emission, tile::ContractionForm &form, const WordRows &rows,
                   const ContractionPoints &points, const PackedBlock &block, mlir::Value memory);

  /// Packs the columns of a panel from column `first` of the block on, `count` of them, in so many rows of words.
  void packPanel(mlir::Value first, mlir::Value count, mlir::Value words, mlir::Value start);

private:
  void packRuns(mlir::Value number, mlir::Value count, mlir::Value start);
  void packTaps(const PositionRun &run, mlir::Value start);
  void packTap(const PositionRun &run, const LoadedLanes *loaded, mlir::Value lastTap, mlir::Value otherTaps,
               mlir::Value start);
  LoadedLanes getLoaded(const PositionRun &run, const Positions &taps);
  bool movesWithLastTap();
  mlir::Value isInside(const PositionRun &run, const Positions &taps);
  bool isMoving(sym::Expr index) { return !tile::getStride(index, positionSymbols.back())->isConstant(0); }
  bool hasMaskRegister(int64_t elements) const {
    return !areMasksSlow && llvm::is_contained({8, 16, 32, 64}, elements);
  }
  mlir::Value getMaskBits(int64_t elements, mlir::Value begin, mlir::Value end);
  mlir::Value asMask(int64_t elements, mlir::Value bits);
  mlir::Value getMask(int64_t elements, mlir::Value begin, mlir::Value end);
  std::pair<mlir::Value, mlir::Value> getLoadedElements(mlir::Value first, mlir::Value last);
  mlir::Value loadRow(mlir::Value source, mlir::Value at, mlir::Value mask);
  void storeRow(mlir::Value values, mlir::Value at, mlir::Value mask);
  void clearRows(mlir::Value first, mlir::Value end, mlir::Value start);
  void joinWords(mlir::Value words, mlir::Value start);
  void transposeGroup(mlir::Value start);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::CmpIOp::create(builder, location, predicate, lhs, rhs);
  }
  mlir::Value getRow(mlir::Value start, mlir::Value row) {
    return emission.add(start, emission.multiply(row, emission.getConstant(lanes)));
  }
  mlir::Value load(mlir::Value at, mlir::VectorType as) {
    return mlir::vector::BitCastOp::create(builder, location, as,
                                           mlir::vector::LoadOp::create(builder, location, rowType, memory, at));
  }
  void store(mlir::Value words, mlir::Value at) {
    auto type = mlir::VectorType::get({lanes / 2 * stepsOfWord}, elementType);
    mlir::vector::StoreOp::create(builder, location, mlir::vector::BitCastOp::create(builder, location, type, words),
                                  memory, at);
  }

  Emission &emission;
  mlir::OpBuilder &builder;
  mlir::Location location;
  tile::ContractionForm &form;
  const ContractionPoints &points;
  const PackedBlock &block;
  mlir::Value memory;
  tile::WordWindow window;
  graph::TensorType type;
  /// Strides of loops in memory.
  tile::LinearIndex linear;
  int64_t lanes, stepsOfWord;
  mlir::Type elementType, storedType;
  mlir::VectorType rowType;
  bool areMasksSlow;
  llvm::ArrayRef<unsigned> positions, steps;
  /// Symbols of these loops, and the coordinates of the operand over them.
  llvm::SmallVector<sym::Expr> positionSymbols, stepSymbols, loops, indices;
  /// The steps that are packed, and the first one.
  mlir::Value firstStep, stepCount;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_WORDWINDOWPACKER_H
