#ifndef FREESTONE_COMPILER_PLAN_CLASSIFY_H
#define FREESTONE_COMPILER_PLAN_CLASSIFY_H

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// What a compute is, read off its loops. In the order of how freely it may join others.
enum class ProgramClass {
  /// Every operand is read at the loops themselves (scalars and constants too).
  elementwise,
  /// Like elementwise, but some operand at a part of the loops, in order.
  broadcast,
  /// Operands are read through any map; nothing reduces.
  injective,
  /// Loops reduce.
  reduction,
  /// A sum of products over the common loops of two operands.
  contraction,
  /// A contraction of which one operand is read through a moving window.
  convolution,
  /// Reads at indices that depend on data.
  opaque,
};
llvm::StringRef stringify(ProgramClass programClass);

/// How the body of a contraction accumulates.
enum class Accumulate {
  /// acc + a * b in the type of the accumulator.
  multiplyAdd,
  /// acc + widen(a) * widen(b): operands are narrower than the accumulator.
  widenMultiplyAdd,
};

/// The loops of a contraction by their part in it. Each list is in loop order.
struct ContractionDims {
  /// Which input is multiplied from which side. The right one is that whose free loops come last: its elements are
  /// neighbours in the result, so it is the vector operand.
  unsigned lhs, rhs;
  /// Of both operands; and of the right one alone where they enclose the loops of the left one.
  llvm::SmallVector<unsigned> batch;
  llvm::SmallVector<unsigned> m;
  llvm::SmallVector<unsigned> n;
  llvm::SmallVector<unsigned> k;
  Accumulate accumulate;
};

/// What a sum of products of rows and columns is made of, or nothing where the compute is none. Windows are allowed.
std::optional<ContractionDims> getContractionDims(ComputeOp op);

/// `bounds` are those of the sizes (all not negative where nothing more is known).
ProgramClass classify(ComputeOp op, const sym::Bounds &bounds);
ProgramClass classify(ComputeOp op);

/// Whether nothing reduces and nothing is read at data-dependent indices.
bool isMap(ComputeOp op);

/// Whether the body yields its one operand as it is: the compute only moves elements.
bool isCopy(ComputeOp op);

/// Whether the operand is read at the parallel loops in order, one coordinate each.
bool isReadAtParallelLoops(ComputeOp op, unsigned input);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CLASSIFY_H
