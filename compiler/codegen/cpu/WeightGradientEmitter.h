#ifndef FREESTONE_COMPILER_CODEGEN_CPU_WEIGHTGRADIENTEMITTER_H
#define FREESTONE_COMPILER_CODEGEN_CPU_WEIGHTGRADIENTEMITTER_H

#include "compiler/codegen/cpu/TreeWalker.h"
#include "compiler/plan/FormTrees.h"

namespace freestone::codegen {

/// The nodes of a weight gradient's tree (`plan/FormTrees.h`): the picture's part and panels of the output gradient are
/// copied, or transformed in squares, and multiplied; sums are stored at the end. In three files: panels, copied
/// pictures, transformed sums.
class WeightGradientEmitter : TreeWalker {
public:
  WeightGradientEmitter(Emission &emission, tile::WeightGradientForm form, tile::WeightGradientTiles tiles);
  void emit();

private:
  /// What is summed at a time: some images (planes, of volumes), and rows of output positions; whether (i64) it is
  /// added to sums or sets them.
  struct Part {
    mlir::Value firstImage, images, firstRow, rows, accumulates;
    /// Where the next part begins; behind the last one, that one itself.
    mlir::Value nextImage, nextRow;
  };

  /// Rows of the picture: the first element, the pixels of a row that are in bounds, and strides.
  struct CopiedRows {
    mlir::Value source, rows, begin, end, rowStride, channelStride;
  };

  void emitOffsets();
  void beginTile() override;
  Division divide(tile::BlocksAttr blocks) override;
  void emitBlocks(tile::BlocksAttr blocks) override;
  void emitPacked(tile::PackedAttr node, unsigned depth) override;
  void emitMultiply(tile::MultiplyAttr node) override;
  void emitVectors(tile::VectorsAttr node) override;
  void emitEvaluate(tile::EvaluateAttr node) override;
  Part getPart();
  void copyPart(const Part &part);
  void clearSums(mlir::Value panels);
  void setPanel(mlir::Value number);
  void copyPicture(mlir::Value image, mlir::Value firstRow, mlir::Value rows);
  void copyPlaneRow(mlir::Value source, mlir::Value target, mlir::Value begin, mlir::Value end, mlir::Value channel);
  void copyChannels(const Part &part);
  void copyRuns(const CopiedRows &copied);
  void copyRowsOfChannels(const CopiedRows &copied, const Positions &first);
  void packGradient(mlir::Value image, mlir::Value firstRow, mlir::Value rows);
  void packRun(mlir::Value source, mlir::Value target, mlir::Value length, mlir::Value valid);
  void multiplyTaps(const Part &part);
  // Where sums are transformed.
  void emitSquareOffsets();
  void transformPicture(const Part &part);
  void transformGradient(const Part &part);
  void multiplySquares(const Part &part);
  void transformSums();
  mlir::Value countRows(const Part &part);
  mlir::Value countSquares(mlir::Value images, const Part &part);
  llvm::SmallVector<sym::Expr> getIndices(unsigned input);
  Positions getPositions(mlir::Value image, mlir::Value row, mlir::Value column);
  mlir::Value getLinear(unsigned input, mlir::Value image, mlir::Value row);
  mlir::Value getBounds(mlir::Value pixel, mlir::Value begin, mlir::Value end);
  mlir::Value isInside(sym::Expr index, mlir::Value offset, unsigned dim, const Positions &positions);
  mlir::Value getAhead(unsigned input);
  llvm::SmallVector<mlir::Value, 3> getGroups(unsigned input);
  llvm::SmallVector<mlir::Value> loadSquare(unsigned input, mlir::Value from, mlir::Value count, mlir::Value stride,
                                            mlir::Value mask);

  tile::WeightGradientForm form;
  tile::WeightGradientTiles tiles;
  tile::MicroKernelAttr kernelShape;
  /// Whether the picture's channels are copied apart.
  bool areApart;
  int64_t width, lanes;
  mlir::VectorType vectorType;
  /// Symbols of the loops that vary within a tile, at the first tap.
  sym::Expr imageSymbol, depthSymbol, rowSymbol, columnSymbol, channelSymbol, rowTapSymbol, pixelTapSymbol;
  llvm::SmallVector<sym::Expr> loops;
  Positions outer;
  mlir::func::FuncOp kernel, pictureKernel, gradientKernel, sumsKernel;
  mlir::Value planes, offsets, panel, sums, transformedPicture, transformedGradient;
  AxisRanges ranges;
  /// Of the current tile: the first panel, and the number of panels; the first input channel, and the number of these.
  mlir::Value firstPanel, panels, firstChannel, channels;
  /// What is summed at the current node.
  Part part;
  /// Whether the next part is prefetched, null if it never is; elements from what is transposed now to the same there.
  mlir::Value bringsNext, ahead;
  /// The output channels of the current panel, and the place of its sums.
  mlir::Value firstColumn, columns, firstSum;
  /// Of a channel and its taps: the place of its sums, and the current vector of output channels.
  struct {
    mlir::Value sums, column, mask;
  } evaluated;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_WEIGHTGRADIENTEMITTER_H
