#ifndef FREESTONE_COMPILER_CODEGEN_CPU_CONVOLUTIONEMITTER_H
#define FREESTONE_COMPILER_CODEGEN_CPU_CONVOLUTIONEMITTER_H

#include "compiler/codegen/cpu/CopyPicture.h"
#include "compiler/codegen/cpu/Epilogue.h"
#include "compiler/codegen/cpu/TreeWalker.h"
#include "compiler/plan/FormTrees.h"

namespace freestone::codegen {

/// The nodes of a convolution's tree (`plan/FormTrees.h`): the picture's part is copied or transformed, panels are
/// summed, and squares of channels and pixels are stored. In five files: copies and panels, pictures that go together,
/// skipped taps, transformed filters, results.
class ConvolutionEmitter : TreeWalker {
public:
  ConvolutionEmitter(Emission &emission, tile::ConvolutionForm form, tile::ConvolutionTiles tiles);
  void emit();

private:
  /// Neighbouring taps of an axis, and whether they are all.
  struct TapRange {
    mlir::Value first, count, isAll;
  };

  /// What the micro-kernel is told of a row of pixels and a panel, whatever its steps of k: the blocks' height, the
  /// panel's columns, the addresses of windows, weights and sums, and the block of channels.
  struct PanelRow {
    mlir::Value height, columns, windows, weights, sums, block;
  };

  /// The first channel and pixel of a square of results.
  struct SquarePlace {
    mlir::Value channel, row, pixel;
  };

  void emitOffsets();
  Division divide(tile::BlocksAttr blocks) override;
  void emitBlocks(tile::BlocksAttr blocks) override;
  void emitPacked(tile::PackedAttr node, unsigned depth) override;
  void emitMultiply(tile::MultiplyAttr node) override;
  void emitEvaluate(tile::EvaluateAttr node) override;
  void emitCopy(const AxisRange &channels);
  void copyPlanes(const AxisRange &channels);
  PictureBox::Ahead getRowsAhead(const AxisRange &channels, mlir::Value ofChannel);
  // Where pictures go together.
  void enterPicture(mlir::Value number);
  void forPictures(llvm::function_ref<void()> body);
  void listPictures();
  void interleavePictures(const AxisRange &channels);
  mlir::Value getDimStride(unsigned dim);
  /// Whether each tile has one picture, at the sizes of the run.
  mlir::Value isAlone() {
    return compare(mlir::arith::CmpIPredicate::eq, emission.getSize(tiles.pictureStep), emission.getConstant(1));
  }
  mlir::Value getWindows(mlir::Value row, const AxisRange &channels);
  void emitPanel(mlir::Value column, const AxisRange &channels);
  mlir::Value getWeights(mlir::Value column, mlir::Value channel);
  /// The channels out of the panel from a column on.
  mlir::Value countColumns(mlir::Value column) {
    mlir::Value left = emission.subtract(emission.add(columns.first, columns.count), column);
    return emission.minimum(emission.getConstant(width), left);
  }
  // Where taps may be skipped.
  mlir::Value getCoordinate(unsigned dim, mlir::Value row, mlir::Value pixel);
  TapRange getTaps(const tile::TapAxis &axis, mlir::Value first, mlir::Value last);
  TapRange getRowTaps(mlir::Value row);
  void beginTile() override;
  void boundTaps();
  void clearList();
  void listSteps(const AxisRange &channels);
  void boundCopy(PictureBox &box);
  void multiplyListed(const PanelRow &at, const TapRange &rowTaps, mlir::Value channels);
  // Where filters are transformed.
  void transformPicture(const AxisRange &channels);
  void multiplyTransformed(mlir::Value column, const AxisRange &channels);
  void transformProducts(mlir::Value column);
  mlir::Value getProducts(mlir::Value column, mlir::Value value);
  mlir::Value countSquares(const AxisRange &span);
  // After the last channels.
  void poolPanel(mlir::Value column, mlir::Value count);
  void emitPanelEpilogue(mlir::Value column);
  llvm::SmallVector<mlir::Value> loadSquare(mlir::Value from);
  void storeWholeSquare(llvm::ArrayRef<mlir::Value> values, const SquarePlace &place);
  void storePartOfSquare(llvm::ArrayRef<mlir::Value> values, const SquarePlace &place, mlir::Value channels,
                         mlir::Value pixelsLeft);
  EpilogueArguments getEpilogue(mlir::Value value, const SquarePlace &place, mlir::Value mask, mlir::Value ahead);
  tile::ComputeOp getStored();
  mlir::Value getPanelSums(mlir::Value column, mlir::Value row);
  mlir::Value getPixelSums(mlir::Value rowSums, mlir::Value pixel);
  mlir::Value getLinear(unsigned input, mlir::Value column, mlir::Value row, mlir::Value pixel, mlir::Value channel);
  llvm::SmallVector<sym::Expr> getIndices(unsigned input);
  Positions getPositions(mlir::Value column, mlir::Value row, mlir::Value pixel, mlir::Value channel);
  AxisRange getPooled(const AxisRange &span, int64_t size) {
    mlir::Value divisor = emission.getConstant(size);
    return {emission.divide(span.first, divisor), emission.divide(span.count, divisor)};
  }

  tile::ConvolutionForm form;
  tile::ContractionForm &contraction;
  tile::ConvolutionTiles tiles;
  tile::MicroKernelAttr kernelShape;
  int64_t width, lanes;
  /// Symbols of the loops that vary within a tile, and the positions of all loops in these symbols, at the first tap.
  sym::Expr columnSymbol, rowSymbol, pixelSymbol, channelSymbol;
  llvm::SmallVector<sym::Expr> loops;
  /// Of the outer loops, at the current picture; of those among them whose pictures go one by one.
  Positions outer, others;
  mlir::func::FuncOp kernel;
  mlir::Value planes, offsets, sums, square;
  /// Where taps may be skipped; the axes are nothing elsewhere.
  std::optional<tile::TapAxes> tapAxes;
  mlir::func::FuncOp listedKernel;
  mlir::Value listedSteps;
  /// Of transformed filters: null for others.
  mlir::func::FuncOp pictureKernel, productKernel;
  mlir::Value transformed, products;
  /// Whether the picture is read in place; null: never.
  mlir::Value isInPlace;
  AxisRanges ranges;
  /// Ranges of the current tile, and the first column of the current panel.
  AxisRange columns, rows, pixels;
  mlir::Value column;
  /// The channels ahead of which operands are prefetched.
  int64_t ahead;
  /// Pictures of the current tile, and the current one among them; null where they go one by one.
  AxisRange pictures;
  mlir::Value picture, begins;
  /// Rows of the micro-kernel that a row of pixels is: those of all pictures of a whole tile.
  mlir::Value positions;
  /// Its taps, whether rows away from the picture's edge sum all taps, whether all rows do; the first one that does.
  TapRange pixelTaps, depthTaps;
  mlir::Value hasAllInRows, hasAll, firstWhole;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_CONVOLUTIONEMITTER_H
