#ifndef FREESTONE_COMPILER_PLAN_CLASSIFY_H
#define FREESTONE_COMPILER_PLAN_CLASSIFY_H

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// The kind of a compute, read off its loops, from the easiest to the hardest to fuse.
enum class ProgramClass {
  /// Every operand is read at the loops themselves; includes scalars and constants.
  elementwise,
  /// Elementwise, but some operand is read at a subset of the loops, in order.
  broadcast,
  /// Operands are read through any map; there is no reduction.
  injective,
  /// Has reduction loops.
  reduction,
  /// A sum of products over the common loops of two operands.
  contraction,
  /// A contraction with one operand read through a moving window.
  convolution,
  /// Has data-dependent reads.
  opaque,
};
llvm::StringRef stringify(ProgramClass programClass);

/// Accumulation in the body of a contraction.
enum class Accumulate {
  /// acc + a * b in the type of the accumulator.
  multiplyAdd,
  /// acc + widen(a) * widen(b): operands are narrower than the accumulator.
  widenMultiplyAdd,
};

/// The loops of a contraction by their role, each list in loop order.
struct ContractionDims {
  /// The inputs that are the left and the right factor. The right factor is the one whose free loops come last: its
  /// elements are contiguous in the result, so it is the vector operand.
  unsigned lhs, rhs;
  /// Loops of both operands, and loops of the right operand alone that enclose those of the left.
  llvm::SmallVector<unsigned> batch;
  llvm::SmallVector<unsigned> m;
  llvm::SmallVector<unsigned> n;
  llvm::SmallVector<unsigned> k;
  Accumulate accumulate;
};

/// The roles of the loops of a sum of products; nothing for other computes. Windows are allowed.
std::optional<ContractionDims> getContractionDims(ComputeOp op);

/// `bounds` are those of the sizes; by default sizes are not negative.
ProgramClass classify(ComputeOp op, const sym::Bounds &bounds);
ProgramClass classify(ComputeOp op);

/// Whether there are no reductions and no data-dependent reads.
bool isMap(ComputeOp op);

/// Whether the body yields its one operand unchanged: the compute only moves elements.
bool isCopy(ComputeOp op);

/// Whether the body narrows its one operand, a float: the compute does nothing else.
bool isNarrowing(ComputeOp op);

/// Whether the operand is read at the parallel loops in order, one coordinate each.
bool isReadAtParallelLoops(ComputeOp op, unsigned input);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CLASSIFY_H
