#ifndef FREESTONE_COMPILER_TILE_CUTCONTRACTION_H
#define FREESTONE_COMPILER_TILE_CUTCONTRACTION_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/tile/Classify.h"

namespace freestone::tile {

/// A contraction as the emitter sees it: for every point of `outer`, C[m, n] = sum over k of A[m, k] * B[k, n]. Each of
/// m, n, k counts several loops as one, row-major. The vectors lie along n.
struct ContractionForm {
  ComputeOp compute;
  /// The factors of the product, values of the body; `lhs` depends on outer, m and k, `rhs` on outer, n and k.
  mlir::Value lhs, rhs;
  llvm::SmallVector<unsigned> outer, m, n, k;
  /// What products are accumulated in: f32, f64, i32 or i64.
  mlir::Type elementType;

  /// Nothing where the compute is no contraction or does not begin at zero.
  static std::optional<ContractionForm> get(ComputeOp compute);

  /// The input that a factor is, as it is or widened.
  std::optional<unsigned> getInput(mlir::Value factor);
  sym::Expr getExtent(llvm::ArrayRef<unsigned> loops);
  llvm::SmallVector<sym::Expr> getExtents(llvm::ArrayRef<unsigned> loops);
  /// Where each of the loops stands when they are counted as one by `number`.
  llvm::SmallVector<sym::Expr> getDigits(llvm::ArrayRef<unsigned> loops, sym::Expr number);
  /// The input that is read as panels of the vector operand, packed before: its layout has the panels' width along n.
  /// Else nothing.
  std::optional<unsigned> getPackedInput(const DeviceDescription &device);
  /// Whether an input is stored as panels along a loop, one step of k after the other.
  bool isPackedAlong(unsigned input, unsigned loop, const DeviceDescription &device);
  /// The vector operand as a window that moves over rows of memory (a convolution of unit stride): how many steps of
  /// the inner loops of k follow one of the outermost. Columns then are neighbours in memory up to the end of a row,
  /// and only the inner loops of k lead outside of the operand. Nothing where it is none.
  std::optional<int64_t> getWindowTaps();
};

/// The largest blocks of a contraction that are computed without a look at its sizes, by the capacities of a device.
struct ContractionBlocks {
  /// Rows of A in a tile (its depth of them in L2), panels of B in a tile, steps of k at a time (a panel of them in
  /// L1).
  int64_t rows, panels, depth;

  static ContractionBlocks get(const DeviceDescription &device, unsigned elementBytes);
};

/// How a contraction is cut. Tiles are outer loops times blocks of rows times blocks of columns, row-major; a worker
/// computes neighbours one after the other, so that what is packed for one tile can serve the next ones:
///   rows of A all tiles of a block of rows, panels of B all blocks of rows,
/// where k has at most `keptDepths` blocks and scratch holds them. Blocks of one extent are of about equal size; what
/// that is, the emitted code computes: as expressions, such sizes grow beyond use.
struct ContractionTiling {
  /// The most rows, columns and steps of k of a block, and what their numbers are multiples of. A step of a window is
  /// as many steps of k as it has taps.
  int64_t mostRows, rowUnit, mostDepth, depthUnit, taps;
  sym::Expr mostColumns;
  int64_t columnUnit;
  /// Of at most so many blocks of k, operands stay packed; where that is 0, they are packed again for every tile.
  int64_t keptDepths;
  /// Of k: at least one, so that an empty sum is written too.
  sym::Expr rowBlocks, columnBlocks, depthBlocks;
  sym::Expr tiles;
  /// Elements of scratch for packed rows of A, packed panels of B and sums.
  sym::Expr packedRows, packedColumns, sums;

  static ContractionTiling get(ContractionForm &form, const DeviceDescription &device, bool keepPacked);
};

/// Where the loops of `consumer` stand when it is computed at the element of `producer` at `indices`. Nothing unless it
/// reads that element, only there, and every one of its loops is a coordinate of it.
std::optional<llvm::SmallVector<sym::Expr>> getLoopsAt(ComputeOp consumer, mlir::Value producer,
                                                       llvm::ArrayRef<sym::Expr> indices);

/// Whether all of `later` can be computed on the elements of `first` as they come.
bool areEpilogues(ComputeOp first, llvm::ArrayRef<ComputeOp> later);

/// The contraction that a program computes first, if all that follows can be computed on its elements as they come.
std::optional<ContractionForm> getContractionWithEpilogue(ProgramOp program);

/// Whether a program is worth a micro-kernel: rows share packed columns, or its weights are packed already.
bool isMicroKernelContraction(ContractionForm &form, const DeviceDescription &device);

/// Bytes that `Emission::takeScratch` takes for this.
sym::Expr getScratchBytes(sym::Expr elements, unsigned elementBytes);

/// A plan of so many tiles, of which nothing is said about what they touch.
mlir::DictionaryAttr getTiledPlan(ProgramOp program, llvm::StringRef emitter, sym::Expr tiles, sym::Expr scratch);

/// The plan of a program that is a contraction with its epilogue.
mlir::DictionaryAttr cutContraction(ProgramOp program, ContractionForm &form, const DeviceDescription &device,
                                    bool keepPacked);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_CUTCONTRACTION_H
