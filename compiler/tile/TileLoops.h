#ifndef FREESTONE_COMPILER_TILE_TILELOOPS_H
#define FREESTONE_COMPILER_TILE_TILELOOPS_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Elements of a tile: a sixty-fourth of L2 in f32, so that workers get equal shares and a tile's start-up cost is
/// small.
int64_t getTileElements(const DeviceDescription &device);

/// Elements of a tile of these computes: the above, halved until a tile takes a few microseconds at most, so that workers
/// share few elements that take long each, such as those of gates.
int64_t getTileElements(llvm::ArrayRef<ComputeOp> computes, const DeviceDescription &device);

/// The fewest elements of these computes that are worth a tile: whole vectors that take about as long as a hand-over to
/// another worker.
int64_t getLeastElements(llvm::ArrayRef<ComputeOp> computes, const DeviceDescription &device);

/// Lanes for elements of 32 bits, the widest common type.
int64_t getCommonLanes(const DeviceDescription &device);

/// Whether the innermost reduction loop is contiguous in some operand.
bool reducesAlongMemory(ComputeOp compute);

/// What the tiling of loops may choose.
struct LoopTilings {
  /// Several vectors side by side, to hide the latency of sums and of long chains of operations.
  bool sideBySide;
  /// Maps that transpose in registers.
  bool transpositions;
  /// Vectors of maps that hold as many elements as fill a register in the width that these have in memory.
  bool narrowLanes;
  /// Segments of columns within which no operand of a map begins or ends.
  bool segments;
  /// Rows whose operand is contiguous across them are copied, transposed in registers.
  bool rowsAcross;
  /// Tiles of parts of rows, where a map has few elements that take long each.
  bool partsOfRows;
  /// Short rows go together, several at a time.
  bool rowsTogether;
  /// Rows that follow are prefetched.
  bool prefetchRows;
};

/// The tiling of a program other than a contraction: rows for reductions along rows in memory, map for computes with
/// equal parallel loops, transposition for maps whose operands are contiguous along another loop than
/// their results, explicit for a `tile.opaque`. Fails, with a reason in `why`, for other forms.
///
/// A tile of rows or a map is a range of consecutive elements that fits a share of the cache, so that the tiles of
/// consecutive programs cover the same elements.
mlir::FailureOr<mlir::Attribute> tileLoops(ProgramOp program, const DeviceDescription &device, LoopTilings allowed,
                                           std::string &why);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILELOOPS_H
