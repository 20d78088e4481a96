#ifndef FREESTONE_COMPILER_CODEGEN_CPU_DOTPRODUCTKERNELS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_DOTPRODUCTKERNELS_H

#include "compiler/plan/DotProductLayout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace freestone::codegen {

// The functions shared by all contractions with dot products of these factors. On tiles:
//   void freestone_dot_products_F(i64 rows, i64 groups, const void *A, i64 stripBytes, const void *B, T *C,
//                                 i64 accumulate, const void *ahead, i64 pitch, const void *otherB, T *otherC,
//                                 const void *otherAhead)
// adds to (accumulate != 0) or sets `rows` consecutive rows of 32 sums (f32 or i32); rows up to the next multiple of 32
// may be written too, with unspecified values. A strip of A is 32 rows of 16 words for every group; B is 16 rows for
// every group, of words for 32 columns. Where elements have several parts, a group has so many times these rows, and
// the products of parts are summed; meanwhile rows of 128 bytes, `pitch` bytes apart, are prefetched into L2 from
// `ahead` on, which need not be mapped: 8 for each group of each of the first four strips. With a pitch of 0, the first
// strip prefetches the groups of B into L1, and behind them the one at `ahead`. At most 16 rows of several parts may
// have a second panel, `otherB`, which is null else: its sums are at `otherC`, and both panels are prefetched so, the
// second with the group at `otherAhead` behind it. All of B and C are aligned to 64 bytes.
//
// On vectors, with one signed and one unsigned factor of integers:
//   void freestone_dot_products_F(i64 rows, i64 words, const void *A, i64 stripBytes, const void *B, T *C,
//                                 i64 accumulate)
// does the same, and leaves the rest of the last group unread.
//   void freestone_dot_products_F_R(…, R *result, i64 pitch, i64 columns, const T *excess)
// writes `columns` elements of rows `pitch` bytes apart, and nothing to C, where `result` is not null: sums less those
// of each column at `excess`, which may be null.
// Behind these names:
//   …_in_place(i64 rows, i64 words, const void *A, i64 pitch, const void *B, T *C, i64 accumulate, i64 mask, …)
// reads rows of A that are `pitch` bytes apart, whose words follow each other, of the last of them those bits of `mask`
// alone if they are bf16;
//   …_flipped(…)
// the same, and flips the sign bits of their bytes;
//   …_narrow(…)
// sums and writes the first 16 columns alone.

/// How rows of A are read.
enum class RowsOfDotProducts { packed, inPlace, flipped };

inline RowsOfDotProducts getRowsInPlace(const tile::DotProductLayout &layout) {
  return layout.flipsRows() ? RowsOfDotProducts::flipped : RowsOfDotProducts::inPlace;
}

/// One of these functions.
struct DotProductKernel {
  tile::DotProductFactors factors;
  tile::DotProductUnit unit;
  /// R; null where sums are written to C.
  mlir::Type result;
  RowsOfDotProducts rows = RowsOfDotProducts::packed;

  bool operator==(const DotProductKernel &) const = default;
};

/// What R adds to a function's name; nothing if it is null.
std::string getResultSuffix(mlir::Type result);

/// The declaration of the function, added to the module once.
mlir::func::FuncOp declareDotProducts(mlir::ModuleOp module, const DotProductKernel &kernel, bool isNarrow);
/// Appends to `module` a nested module with its definition, and with that of narrow panels.
void emitDotProductKernel(mlir::ModuleOp module, const DotProductKernel &kernel, bool hasNarrow);

/// `then` if a condition holds, `otherwise` if it does not, unless there is none.
void emitIf(mlir::OpBuilder &builder, mlir::Location location, mlir::Value condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise = {});

/// 16 words of what flipped rows have for zeros.
mlir::Value getFlippedZeros(mlir::OpBuilder &builder, mlir::Location location);

/// Writes a vector of sums, less `excess`, which may be null, as elements of type `result`; those of a mask, which may
/// be null as well.
void storeDotProducts(mlir::OpBuilder &builder, mlir::Location location, mlir::Type result, mlir::Value sums,
                      mlir::Value excess, mlir::Value address, mlir::Value mask);

/// On vectors: sums plus the dot products of words, both vectors of 16.
mlir::Value addDotProducts(mlir::OpBuilder &builder, mlir::Location location, const tile::DotProductFactors &factors,
                           mlir::Value sums, mlir::Value lhs, mlir::Value rhs);

/// void freestone_dot_products_enter(), void freestone_dot_products_leave()
/// enclose all calls of a thread on tiles: they acquire and release the tiles of AMX.
enum class TileFunction { enter, leave };

/// The nested module of these functions; its object is the one that requires AMX.
inline constexpr llvm::StringLiteral tileModuleName = "dot_products_tiles";

mlir::func::FuncOp declareTileFunction(mlir::ModuleOp module, TileFunction function);
void emitTileFunctions(mlir::ModuleOp module);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_DOTPRODUCTKERNELS_H
