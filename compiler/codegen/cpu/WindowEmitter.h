#ifndef FREESTONE_COMPILER_CODEGEN_CPU_WINDOWEMITTER_H
#define FREESTONE_COMPILER_CODEGEN_CPU_WINDOWEMITTER_H

#include "compiler/codegen/cpu/TreeWalker.h"
#include "compiler/codegen/cpu/VectorizeBody.h"
#include "compiler/plan/FormTrees.h"

namespace freestone::codegen {

/// The nodes of a tree of windows (`plan/FormTrees.h`): the picture is copied or read in place, and blocks of channels
/// and rows are computed in registers.
class WindowEmitter : TreeWalker {
public:
  WindowEmitter(Emission &emission, tile::WindowForm form, tile::WindowTiles tiles);
  void emit();

private:
  /// The taps of one column of a window: their distance from the first tap in every dimension of the picture but that
  /// of rows, and, of each, its distance in rows and its place in every loop over taps.
  struct TapColumn {
    llvm::SmallVector<int64_t> distances;
    llvm::SmallVector<std::pair<int64_t, llvm::SmallVector<int64_t>>> taps;
  };

  void emitOffsets();
  void beginTile() override;
  mlir::Value getOffsetInCopy(llvm::ArrayRef<mlir::Value> taps);
  void emitBlocks(tile::BlocksAttr blocks) override;
  void emitPacked(tile::PackedAttr node, unsigned depth) override;
  void emitVectors(tile::VectorsAttr node) override;
  void emitEvaluate(tile::EvaluateAttr node) override;
  void reduceTaps(tile::BlocksAttr taps);
  llvm::SmallVector<mlir::Value> reduceTap(mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> reduceUnrolled(llvm::SmallVector<mlir::Value> sums);
  void emitResults();
  void storeBlock(bool brings);
  void bringNext(const LanePoints &at);
  llvm::SmallVector<TapColumn> getTapColumns();
  llvm::SmallVector<mlir::Value> findRowsOfCopy();
  llvm::SmallVector<mlir::Value> findRowsInPlace();
  mlir::Value loadCopied(const TapColumn &column, int64_t row, int64_t vector);
  mlir::Value loadInPlace(const TapColumn &column, int64_t row, int64_t vector);
  mlir::Value maskBorder(mlir::Value values, int64_t distance);
  mlir::Value accumulateElement(mlir::Value values, llvm::ArrayRef<mlir::Value> shared, mlir::Value sum);
  mlir::Value loadShared(unsigned input, mlir::Value start, llvm::ArrayRef<int64_t> digits);
  mlir::Value loadShared(unsigned input, mlir::Value start, mlir::Value tap);
  Positions getPositions(mlir::Value channel, mlir::Value row, mlir::Value pixel);
  LanePoints getPoints(Positions positions, mlir::Value mask) {
    return {loops, std::move(positions), pixelSymbol, static_cast<unsigned>(lanes), mask};
  }

  tile::WindowForm form;
  tile::ComputeOp compute;
  tile::WindowTiles tiles;
  int64_t lanes;
  mlir::Type sumType;
  /// Symbols of the loops that vary within a tile, and all loops' positions at the first tap, as expressions of them.
  sym::Expr channelSymbol, rowSymbol, pixelSymbol;
  llvm::SmallVector<sym::Expr> loops;
  Positions outer;
  mlir::Value copy, offsets, sums;
  /// Whether the next tile's memory is prefetched; null if it never is.
  mlir::Value bringsNext;
  AxisRanges ranges;
  /// Ranges of the current tile.
  AxisRange rows, pixels;
  /// The current block: so many channels and rows at most, the first of its rows and pixels in the tile, its vectors of
  /// pixels and the mask of a last one; where each channel's other operands begin, and each of its rows in the copy, or
  /// each row of the picture in memory, at the tile's first pixel; the tap, null if all are written out.
  struct {
    int64_t channels, rows;
    mlir::Value row, pixel;
    unsigned vectors;
    mlir::Value mask;
    llvm::SmallVector<llvm::SmallVector<mlir::Value>> starts;
    llvm::SmallVector<mlir::Value> pictureRows;
    mlir::Value tap;
  } block;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_WINDOWEMITTER_H
