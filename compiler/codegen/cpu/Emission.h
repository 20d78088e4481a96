#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMISSION_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMISSION_H

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace freestone::codegen {

/// Bytes that a cache fetches at once.
inline constexpr int32_t lineBytes = 64;

using mlir::LogicalResult;

/// A symbol of index expressions with its value in the current code: the number of a row, of a panel, of an element of
/// a loop. The value is an `index`, or a vector of them.
struct Position {
  sym::Expr symbol;
  mlir::Value value;
};

/// Known positions, outer loops first, so that index arithmetic is hoisted as far as possible.
using Positions = llvm::SmallVector<Position>;

/// The function of a program during its emission:
///   void p(void **buffers, const int64_t *sizes, int64_t begin, int64_t end, char *scratch)
/// Emitters insert at `builder`, within the body of the function. Sizes are computed once, at its entry.
class Emission {
public:
  /// Adds the function to the module at the builder's insertion point and opens it. The caller closes it with `finish`,
  /// which returns it.
  Emission(mlir::OpBuilder builder, tile::ProgramOp program, llvm::StringRef name);
  mlir::func::FuncOp finish();

  mlir::OpBuilder builder;
  mlir::Location location;
  tile::ProgramOp program;
  /// The tiles to compute, as `index`.
  mlir::Value begin, end;
  /// Whether they go backwards, of programs that alternate: these are called with the end before the beginning then.
  mlir::Value isBackwards;

  /// A size over the program's symbols, as `index`.
  mlir::Value getSize(sym::Expr size);
  /// An index over the program's symbols and the given positions: `index`, or a vector if a position is one.
  mlir::Value getIndex(sym::Expr index, llvm::ArrayRef<Position> positions);
  /// A symbol for a position, distinct from all sizes.
  sym::Expr getPositionSymbol(llvm::StringRef name);
  mlir::Value getConstant(int64_t value);

  /// The flat memory (`memref<?xT>`, T the storage type) of an argument or result of the program, or the memory set by
  /// `setBuffer`.
  mlir::Value getBuffer(mlir::Value tensor) { return buffers.lookup(tensor); }
  void setBuffer(mlir::Value tensor, mlir::Value memory) { buffers[tensor] = memory; }
  /// The memory of result number `result` of the program.
  mlir::Value getResultBuffer(unsigned result) { return resultBuffers[result]; }
  /// The next bytes of this worker's scratch, aligned to 64, as `memref<?xT>`. The plan's `scratch` must cover all
  /// requests.
  mlir::Value takeScratch(mlir::Type elementType, sym::Expr elements);
  /// `memref<?xT>` over a bare pointer.
  mlir::Value getMemory(mlir::Value pointer, mlir::Type elementType, mlir::Value elements);
  /// The bare pointer to an element of `memref<?xT>`.
  mlir::Value getPointer(mlir::Value memory, mlir::Value index);

  /// `for (tile = begin; tile < end; ++tile) body(tile)`; continues after the loop.
  void forTiles(llvm::function_ref<void(mlir::Value)> body);
  /// Runs of neighbouring tiles, whose number the body returns: `for (tile = begin; tile < end;) tile += body(tile)`.
  void forTileRuns(llvm::function_ref<mlir::Value(mlir::Value)> body);
  /// `for (i = from; i < to; i += step) body(i)`.
  void forRange(mlir::Value from, mlir::Value to, int64_t step, llvm::function_ref<void(mlir::Value)> body) {
    forRange(from, to, getConstant(step), body);
  }
  void forRange(mlir::Value from, mlir::Value to, mlir::Value step, llvm::function_ref<void(mlir::Value)> body);
  /// `for (i = from; i < to; ++i) body(i, its digits in the extents)`, for from < to: digits are counted on, without
  /// divisions.
  void forPoints(mlir::Value from, mlir::Value to, llvm::ArrayRef<sym::Expr> extents,
                 llvm::function_ref<void(mlir::Value, llvm::ArrayRef<mlir::Value>)> body);
  /// The same of runs along the last extent, whose length the body returns.
  void forPointRuns(mlir::Value from, mlir::Value to, llvm::ArrayRef<sym::Expr> extents,
                    llvm::function_ref<mlir::Value(mlir::Value, llvm::ArrayRef<mlir::Value>)> body);
  /// The digits of a row-major number in the extents.
  llvm::SmallVector<mlir::Value> unravel(mlir::Value number, llvm::ArrayRef<sym::Expr> extents);
  /// vector<lanes x i1> whose first `active` (at least 0) lanes are set.
  mlir::Value getTailMask(unsigned lanes, mlir::Value active);
  /// vector<lanes x i1> of neighbouring places from `first` on, which may be negative: those within [0, size) are set.
  mlir::Value getRangeMask(unsigned lanes, mlir::Value first, mlir::Value size);

  /// Reports the site of a check unless `holds` (an i1). Checks are numbered in the order of the program's text.
  void check(tile::CheckOp check, mlir::Value holds);

  /// `arith` on `index` values.
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value subtract(mlir::Value lhs, mlir::Value rhs);
  mlir::Value multiply(mlir::Value lhs, mlir::Value rhs);
  mlir::Value minimum(mlir::Value lhs, mlir::Value rhs);
  mlir::Value maximum(mlir::Value lhs, mlir::Value rhs);
  /// Of non-negative numbers, by a positive one.
  mlir::Value divide(mlir::Value lhs, mlir::Value rhs);
  mlir::Value ceilDivide(mlir::Value lhs, mlir::Value rhs);

private:
  mlir::Value divideLanes(mlir::Value dividend, mlir::Value divisor, bool roundUp);
  mlir::Value getAtom(sym::Expr atom, llvm::ArrayRef<Position> positions);
  mlir::Value loadWord(mlir::Value pointer, int64_t index, mlir::Type type);
  llvm::SmallVector<mlir::Value> countOn(llvm::SmallVector<mlir::Value> digits, mlir::Value count,
                                         llvm::ArrayRef<sym::Expr> extents);

  mlir::func::FuncOp function;
  mlir::Value sizesPointer, scratchPointer;
  /// Insertion point for sizes: the last operation of the entry's preamble.
  mlir::Operation *preamble = nullptr;
  llvm::SmallVector<mlir::Value> symbolValues;
  llvm::DenseMap<sym::Expr, mlir::Value> sizes;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::SmallVector<mlir::Value> resultBuffers;
  llvm::SmallVector<tile::CheckOp> checks;
  sym::Expr scratchTaken;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMISSION_H
