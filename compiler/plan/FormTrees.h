#ifndef FREESTONE_COMPILER_PLAN_FORMTREES_H
#define FREESTONE_COMPILER_PLAN_FORMTREES_H

#include "compiler/plan/ChannelVectors.h"
#include "compiler/plan/ConvolutionTiles.h"
#include "compiler/plan/RowForm.h"
#include "compiler/plan/TranspositionTiles.h"
#include "compiler/plan/WeightGradientTiles.h"
#include "compiler/plan/WindowTiles.h"

namespace freestone::tile {

// The trees of tiles that forms stand for: what is special about a form is in its tiles, and in its micro-kernels.

/// The axes of a convolution: loops that both operands have, merged; channels out; rows and pixels of the picture;
/// channels in, which are summed with all of their taps; pictures, where several may go together.
struct ConvolutionAxis {
  static constexpr unsigned outer = 0, columns = 1, rows = 2, pixels = 3, channels = 4, pictures = 5;
};

/// Blocks of outer points, if there are any, of pictures that go together, of columns, of rows, and of pixels: all
/// dealt
///   blocks of channels: the packed pictures, and blocks of columns, panel by panel: the product, and what is evaluated
///     of its sums.
mlir::ArrayAttr getTree(const ConvolutionForm &form, const ConvolutionTiles &tiles, size_t computes);

/// The axes of a weight gradient: batch loops, merged; channels in; panels of channels out; images, or planes of
/// volumes, and rows of positions, over which it sums; taps of rows and of pixels; channels out of a panel.
struct WeightGradientAxis {
  static constexpr unsigned outer = 0, channels = 1, panels = 2, images = 3, rows = 4, rowTaps = 5, pixelTaps = 6,
                            columns = 7;
};

/// Blocks of outer points, if there are any, of channels, and of panels: all dealt
///   blocks of images: blocks of rows: the packed picture, and panel by panel: the packed output gradient, and the
///     product.
///   panel by panel: single channels, taps of rows, and of pixels: vectors of channels out: what is evaluated of all
///     sums.
mlir::ArrayAttr getTree(const WeightGradientForm &form, const WeightGradientTiles &tiles, size_t computes);

/// The axes of windows in registers: loops without vectors, merged; channels out, merged; rows and pixels of results;
/// taps, merged.
struct WindowAxis {
  static constexpr unsigned outer = 0, channels = 1, rows = 2, pixels = 3, taps = 4;
};

/// Blocks of outer points, if there are any, of rows, and of pixels: all dealt
///   the packed picture, and blocks of channels: blocks of rows: vectors of pixels:
///     single taps, or all in one block: the windows; and what is evaluated of their sums.
mlir::ArrayAttr getTree(const WindowForm &form, const WindowTiles &tiles, size_t computes);

/// The axes of windows with vectors along channels: loops without channels of lanes, merged; channels of lanes; results
/// of a channel.
struct ChannelVectorAxis {
  static constexpr unsigned outer = 0, channels = 1, results = 2;
};

/// Blocks of outer points, if there are any, and, where each channel of the picture has windows of its own, of
/// channels, as many together as there are lanes: all dealt
///   the packed picture, and packed weights: blocks of results: all computes, with vectors along channels.
/// Where channels share what windows see, the picture is packed before blocks of channels.
mlir::ArrayAttr getTree(WindowForm &form, const ChannelVectors &vectors, int64_t lanes, size_t computes);

/// The axes of transpositions: loops that are neither rows nor columns, merged; rows, along which operands are
/// contiguous; columns, along which results are.
struct TranspositionAxis {
  static constexpr unsigned outer = 0, rows = 1, columns = 2;
};

/// Blocks of outer points, if there are any, of rows, and of columns: all dealt
///   blocks of rows: blocks of columns: all computes of a square, whose operands or results are transposed in
///   registers.
mlir::ArrayAttr getTree(const TranspositionTiles &tiles, TranspositionTilingAttr tiling, size_t computes);

/// The axes of computes that go row by row: rows, whose loops are merged, or blocks of results; the elements of a row,
/// of which loops are merged up to the innermost one that is an axis itself; rows and columns of a block of results;
/// from `loops` on, single loops of computes.
struct RowAxis {
  static constexpr unsigned rows = 0, elements = 1, resultRows = 2, resultColumns = 3, loops = 4;
};

/// Blocks of rows, if there are several, and of elements, where tiles are parts of rows: all dealt
///   rows, as many as go together: the packed copy of what is contiguous across them, if there is any, and, pass by
///   pass, what is evaluated of whole rows, with vectors along the rows, and
///     loops over elements that are not merged: vectors of elements: what is evaluated of them, within loops over its
///     own reductions, if it has some. With `ahead`, what the first pass reads of the rows that follow is prefetched.
/// Of blocks of results, it is the packed copy of an operand's columns, or of the picture with its border, and blocks
/// of rows: blocks of columns: the passes.
mlir::ArrayAttr getTree(const RowForm &form, llvm::ArrayRef<ComputeOp> computes);

/// The tree of a program whose tiling is one of these forms; of loops that are written out, these at each tile, axis 0;
/// null of others.
/// That of windows has vectors along pixels.
mlir::ArrayAttr getFormTree(ProgramOp program);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_FORMTREES_H
