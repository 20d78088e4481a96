#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMISSION_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMISSION_H

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace freestone::codegen {

using mlir::LogicalResult;

/// A symbol of index expressions that the code at hand gives a value: the number of a row, of a panel, of an element of
/// a loop. The value is an `index`, or a vector of them.
struct Position {
  sym::Expr symbol;
  mlir::Value value;
};

/// Known positions, those of outer loops first, so that what outer loops decide is computed there.
using Positions = llvm::SmallVector<Position>;

/// The function that a program becomes, while it is emitted:
///   void p(void **buffers, const int64_t *sizes, int64_t begin, int64_t end, char *scratch)
/// Emitters insert at `builder`, which stands in the body of the function. Sizes are computed once, at its entry.
class Emission {
public:
  /// Adds the function to the module at which the builder stands and opens it. The caller closes it with `finish`.
  Emission(mlir::OpBuilder builder, tile::ProgramOp program);
  void finish();

  mlir::OpBuilder builder;
  mlir::Location location;
  tile::ProgramOp program;
  /// The tiles to compute, as `index`.
  mlir::Value begin, end;

  /// A size over the program's symbols, as `index`.
  mlir::Value getSize(sym::Expr size);
  /// An index over the program's symbols and the given positions: `index`, or a vector of them where a position is one.
  mlir::Value getIndex(sym::Expr index, llvm::ArrayRef<Position> positions);
  /// A symbol that no size has, to stand for a position.
  sym::Expr getPositionSymbol(llvm::StringRef name);
  mlir::Value getConstant(int64_t value);

  /// The flat memory (`memref<?xT>`, T the storage type) of an argument or result of the program, or what `setBuffer`
  /// gave.
  mlir::Value getBuffer(mlir::Value tensor) { return buffers.lookup(tensor); }
  void setBuffer(mlir::Value tensor, mlir::Value memory) { buffers[tensor] = memory; }
  /// The memory of result number `result` of the program.
  mlir::Value getResultBuffer(unsigned result) { return resultBuffers[result]; }
  /// The next bytes of this worker's scratch, aligned to 64, as `memref<?xT>`. The plan's `scratch` must hold all that
  /// is taken.
  mlir::Value takeScratch(mlir::Type elementType, sym::Expr elements);
  /// `memref<?xT>` over bare memory.
  mlir::Value getMemory(mlir::Value pointer, mlir::Type elementType, mlir::Value elements);
  /// The bare pointer to an element of `memref<?xT>`.
  mlir::Value getPointer(mlir::Value memory, mlir::Value index);

  /// `for (tile = begin; tile < end; ++tile) body(tile)`, leaving the builder behind the loop.
  void forTiles(llvm::function_ref<void(mlir::Value)> body);
  /// `for (i = from; i < to; i += step) body(i)`.
  void forRange(mlir::Value from, mlir::Value to, int64_t step, llvm::function_ref<void(mlir::Value)> body);
  /// The digits of a row-major number.
  llvm::SmallVector<mlir::Value> unravel(mlir::Value number, llvm::ArrayRef<sym::Expr> extents);
  /// vector<lanes x i1> whose first `active` (at least 0) lanes are set.
  mlir::Value getTailMask(unsigned lanes, mlir::Value active);

  /// Reports the site of a check unless it holds; `holds` is an i1. The n-th check of the program, in the order of its
  /// text.
  void check(tile::CheckOp check, mlir::Value holds);

  /// `arith` on `index` values.
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value subtract(mlir::Value lhs, mlir::Value rhs);
  mlir::Value multiply(mlir::Value lhs, mlir::Value rhs);
  mlir::Value minimum(mlir::Value lhs, mlir::Value rhs);
  mlir::Value maximum(mlir::Value lhs, mlir::Value rhs);
  /// Of numbers that are not negative, by a positive one.
  mlir::Value divide(mlir::Value lhs, mlir::Value rhs);
  mlir::Value ceilDivide(mlir::Value lhs, mlir::Value rhs);

private:
  mlir::Value divideLanes(mlir::Value dividend, mlir::Value divisor, bool roundUp);
  mlir::Value getAtom(sym::Expr atom, llvm::ArrayRef<Position> positions);
  mlir::Value loadWord(mlir::Value pointer, int64_t index, mlir::Type type);

  mlir::func::FuncOp function;
  mlir::Value sizesPointer, scratchPointer;
  /// Where sizes are computed: the last operation of the entry's preamble.
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
