#ifndef FREESTONE_COMPILER_CODEGEN_CPU_MICROKERNELS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_MICROKERNELS_H

#include "compiler/codegen/cpu/Emission.h"
#include "compiler/plan/ContractionForm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace freestone::codegen {

/// Additions that a core begins before the result of the first: with fewer accumulators, unrolled steps have their own.
inline constexpr int64_t latencyOfAdd = 8;

/// The functions shared by all programs of an element type and a shape of micro-kernels. Rows are computed in blocks of
/// `height` rows, the last block in as many as are left. Rows of B are a panel's width apart unless they are streamed,
/// and all readable. Where the shape has `last_vectors`, columns that fit these are computed in blocks of these alone.
enum class KernelKind {
  /// void freestone_contract_T(i64 rows, i64 height, i64 columns, i64 depth, const T *A, const T *B, T *C, i64 ldc,
  ///                           i64 accumulate, const void *ahead, i64 pitch, void *brought, i64 broughtPitch)
  /// adds to (accumulate != 0) or sets C[rows, columns] = A[rows, depth] * B[depth, columns]. Rows of C are `ldc`
  /// elements apart; no other elements of C are touched. A is packed (`packRows`): a block of h rows has h elements for
  /// every step of k. Meanwhile `depth` rows of the panel's bytes, `pitch` bytes apart, are prefetched into L2 from
  /// `ahead` on, which need not be mapped. Each block prefetches its rows of `brought`, which are `broughtPitch` bytes
  /// apart, to be written: C where it is added to, or where it will go; none of pitch 0.
  contract,
  /// void freestone_stream_T(…)
  /// does the same for panels of `columns` = width that are read in place: rows of B are `pitch` bytes apart as well.
  /// Every block prefetches all of `ahead`, so that few rows wait for memory once.
  stream,
  /// void freestone_unpacked_T(…)
  /// does what `contract` does with rows of A that lie along k, `pitch` bytes apart; nothing is prefetched from `ahead`.
  /// Columns that fit the last vectors are computed in blocks of up to `getUnpackedRows` rows.
  unpacked,
  /// void freestone_update_T(i64 rows, i64 columns, i64 depth, const T *A, const T *B, i64 pitch, T *C, i64 ldc,
  ///                         i64 accumulate, i64 held, i64 far)
  /// does what `contract` does for at most `mostUpdatedRows` rows and any number of columns, with rows of B `pitch` bytes
  /// apart: some of these at a time are added to all of C, which should fit L1, so that B streams by in the order of
  /// memory. Columns that fit `held` vectors, at most `heldVectors`, have their sums in registers; 0: they do not. Of a B
  /// that is `far`, not 0, rows that share a set of L1 are prefetched. A has `rows` elements for every step of k. No other
  /// elements are read or written.
  update,
  /// void freestone_inner_T(i64 rows, i64 columns, i64 depth, const T *A, i64 rowPitch, const T *B, i64 columnPitch,
  ///                        i64 groupPitch, T *C, i64 ldc, i64 accumulate)
  /// does what `contract` does with vectors along k: rows of A lie along it, columns of B do so in groups of as many
  /// steps as a panel has columns. Pitches are in bytes: from row to row, column to column, and group to group. No other
  /// elements are read or written.
  inner,
  /// void freestone_pairs_T(…)
  /// does what `contract` does for pair products: T is i32, and every element of A and B is a word of two steps of k,
  /// 16 bits each.
  pairs,
  /// void freestone_window_T(i64 rows, i64 height, i64 columns, i64 depth, const T *A, const i64 *offsets, const T *B,
  ///                         T *C, i64 accumulate, const void *ahead, i64 blocks)
  /// does what `contract` does with `A[row + offsets[step]]` as A[row, step]. Rows of C are the panel width apart, and
  /// whole vectors are written. `ahead` is a packed panel; the blocks of rows before this call have prefetched their
  /// parts of it, `getPanelLines` of them all of it.
  window,
  /// void freestone_down_T(…)
  /// does the same for an A that is an intermediate in scratch, its steps down the panels. Nothing is prefetched, and
  /// `height` is even: with an odd number of rows, A is read and C written for one row more.
  down,
  /// void freestone_across_T(…)
  /// does the same with `A[row * width + offsets[step]]`: rows of A are rows of a panel, steps run across it.
  across,
  /// void freestone_apart_T(i64 rows, i64 height, i64 columns, i64 depth, const T *A, const i64 *offsets, const T *B,
  ///                        T *C, i64 accumulate, const void *ahead, i64 pitch, i64 groups,
  ///                        const void *aheadOfB, i64 pitchOfB, i64 groupsOfB)
  /// does what `window` does with `A[row * channelPitch + offsets[step]]`: rows of A are the copied channels of a
  /// weight gradient (`WeightGradientTiles::channelPitch`). The first blocks prefetch what is copied and packed next,
  /// `depth` elements of a group of `getGroupAhead` rows each: of `groupsOfB` groups, whose rows are `pitchOfB` bytes
  /// apart, then of `groups`, whose rows are `pitch` bytes apart.
  apart,
  /// void freestone_listed_T(…)
  /// does what `window` does with `A[row + offsets[2 * step]]` and the row of B at `B[offsets[2 * step + 1]]`: any
  /// steps
  /// in any order. The rows of B some steps ahead are prefetched, whose offsets must be readable
  /// (`ConvolutionTiles::listedAhead`); `ahead` is not.
  listed,
};
/// Whether A is an intermediate in scratch: blocks have even heights, and prefetch nothing.
inline bool readsScratch(KernelKind kind) { return kind == KernelKind::down || kind == KernelKind::across; }
/// Whether rows of A are not packed: steps have offsets.
inline bool readsInPlace(KernelKind kind) {
  return kind == KernelKind::window || kind == KernelKind::apart || kind == KernelKind::listed || readsScratch(kind);
}
/// Whether steps of B have offsets as well.
inline bool listsSteps(KernelKind kind) { return kind == KernelKind::listed; }
/// Whether panels of B are not packed: rows are `pitch` bytes apart.
inline bool streams(KernelKind kind) { return kind == KernelKind::stream; }
/// Whether a block of rows of A is packed: it has an element of each row for every step of k.
inline bool packsRows(KernelKind kind) { return !readsInPlace(kind) && kind != KernelKind::unpacked; }
/// Whether the first blocks prefetch the next panel, and the others don't.
inline bool hasPrefetchingBlocks(KernelKind kind) {
  return !readsScratch(kind) && !streams(kind) && !listsSteps(kind) && kind != KernelKind::unpacked;
}
/// The rows of a block of `unpacked` with so many vectors: their sums hide the latency of additions.
inline int64_t getUnpackedRows(tile::MicroKernelAttr shape, int64_t vectors) {
  constexpr int64_t most = 14;
  return std::max(shape.getRows(), std::min(most, shape.getRows() * shape.getVectors() / vectors));
}
/// The rows of memory of which a block of a weight gradient prefetches as many elements as it has steps, a line a step.
inline int64_t getGroupAhead(mlir::Type elementType) { return lineBytes * 8 / elementType.getIntOrFloatBitWidth(); }
/// The lines of a panel's row: one block prefetches one of them, of all steps of k.
int64_t getPanelLines(mlir::Type elementType, tile::MicroKernelAttr shape);
/// The kind for a contraction whose packed words have so many steps of k, or for the gradient of weights.
inline KernelKind getKernelKind(int64_t wordSteps) {
  return wordSteps > 1 ? KernelKind::pairs : KernelKind::contract;
}
inline KernelKind getGradientKernel(bool areApart) { return areApart ? KernelKind::apart : KernelKind::window; }
/// The height of blocks, a multiple of `unit` and at most `most`, that divides rows (both `index`) most evenly.
mlir::Value getBlockHeight(Emission &emission, mlir::Value rows, int64_t most, int64_t unit = 1);
std::string getKernelName(KernelKind kind, mlir::Type elementType, tile::MicroKernelAttr shape);

/// The function's declaration, added to the module once.
mlir::func::FuncOp declareKernel(mlir::ModuleOp module, KernelKind kind, mlir::Type elementType,
                                 tile::MicroKernelAttr shape);

/// Appends to `module` a nested module with the definition.
void emitMicroKernels(mlir::ModuleOp module, KernelKind kind, mlir::Type elementType, tile::MicroKernelAttr shape);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_MICROKERNELS_H
