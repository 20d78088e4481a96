#include "compiler/codegen/cpu/EmitConvolution.h"

#include "compiler/codegen/cpu/CopyPicture.h"
#include "compiler/codegen/cpu/Epilogue.h"
#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/Pack.h"
#include "compiler/plan/ConvolutionTiles.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

/// The range of a loop in a tile.
struct Span {
  Value first, count;
};

/// The first channel and pixel of a square of results.
struct SquarePlace {
  Value channel, row, pixel;
};

class ConvolutionEmitter {
public:
  ConvolutionEmitter(Emission &emission, tile::ConvolutionForm form, tile::ConvolutionTilingAttr tiling);
  void emit();

private:
  void emitOffsets();
  void emitTile(Value tile);
  void emitCopy(const Span &channels);
  void copyPlanes(const Span &channels);
  Value getWindows(Value row, const Span &channels);
  void emitPanel(Value column, Value block, const Span &channels);
  Value getWeights(Value column, Value channel);
  void poolPanel(Value column, Value count);
  void emitPanelEpilogue(Value column);
  SmallVector<Value> loadSquare(Value from);
  void storeWholeSquare(ArrayRef<Value> values, const SquarePlace &place);
  void storePartOfSquare(ArrayRef<Value> values, const SquarePlace &place, Value channels, Value pixelsLeft);
  void storePixels(Value value, const SquarePlace &place, Value mask, Value ahead);
  Value getPanelSums(Value column, Value row);
  Value getLinear(unsigned input, Value column, Value row, Value pixel, Value channel);
  SmallVector<Expr> getIndices(unsigned input);
  Positions getPositions(Value column, Value row, Value pixel, Value channel);
  Span getRange(Value block, Expr step, Expr total);
  Span getPooled(const Span &span, int64_t size) {
    Value divisor = emission.getConstant(size);
    return {emission.divide(span.first, divisor), emission.divide(span.count, divisor)};
  }
  Value toWord(Value index) {
    return arith::IndexCastOp::create(emission.builder, emission.location, emission.builder.getI64Type(), index);
  }

  Emission &emission;
  OpBuilder &builder;
  Location location;
  tile::ConvolutionForm form;
  tile::ContractionForm &contraction;
  tile::ConvolutionTiles tiles;
  tile::MicroKernelAttr kernelShape;
  int64_t width, lanes;
  /// Symbols of the loops that vary within a tile, and the positions of all loops in these symbols, at the first tap.
  Expr columnSymbol, rowSymbol, pixelSymbol, channelSymbol;
  SmallVector<Expr> loops;
  Positions outer;
  func::FuncOp kernel;
  Value planes, offsets, sums, square;
  /// Whether the picture is read in place; null: never.
  Value isInPlace;
  /// Ranges of the current tile.
  Span columns, rows, pixels;
};

} // namespace

ConvolutionEmitter::ConvolutionEmitter(Emission &emission, tile::ConvolutionForm convolution,
                                       tile::ConvolutionTilingAttr tiling)
    : emission(emission), builder(emission.builder), location(emission.location), form(std::move(convolution)),
      contraction(form.contraction), tiles(tile::ConvolutionTiles::get(form, tiling)), kernelShape(tiling.getKernel()),
      width(kernelShape.getWidth()), lanes(kernelShape.getLanes()), columnSymbol(emission.getPositionSymbol("column")),
      rowSymbol(emission.getPositionSymbol("row")), pixelSymbol(emission.getPositionSymbol("pixel")),
      channelSymbol(emission.getPositionSymbol("channel")),
      loops(contraction.compute.getNumLoops(), Expr::constant(builder.getContext(), 0)) {
  loops[contraction.m.front()] = columnSymbol;
  loops[form.pixelLoop] = pixelSymbol;
  loops[contraction.k.front()] = channelSymbol;
  if (form.rowLoop)
    loops[*form.rowLoop] = rowSymbol;
  for (auto [number, loop] : llvm::enumerate(contraction.outer)) {
    outer.push_back({emission.getPositionSymbol("o" + std::to_string(number)), Value()});
    loops[loop] = outer.back().symbol;
  }
}

void ConvolutionEmitter::emit() {
  kernel = declareKernel(builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>(), KernelKind::window,
                         contraction.elementType, kernelShape);
  // The same sizes as in the plan's `scratch`.
  planes = emission.takeScratch(contraction.elementType, tiles.planes);
  offsets = emission.takeScratch(builder.getI64Type(), tiles.offsets);
  sums = emission.takeScratch(contraction.elementType, tiles.sums);
  square = emission.takeScratch(contraction.elementType, tiles.square);
  if (tiles.pictureStride)
    isInPlace = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sle,
                                      emission.getSize(tiles.pictureStride * tiles.channelStep),
                                      emission.getConstant(tiles.tiling.getInPlace()));
  emitOffsets();
  emission.forTiles([&](Value tile) { emitTile(tile); });
}

/// Offsets from a row's first pixel in the planes for all steps of k: equal for all tiles.
void ConvolutionEmitter::emitOffsets() {
  SmallVector<Expr> extents = contraction.getExtents(form.getTapLoops());
  Value zero = emission.getConstant(0), taps = emission.getConstant(form.taps);
  Value rowPitch = emission.getSize(tiles.rowPitch), planeStride = emission.getSize(tiles.planeStride);
  if (isInPlace)
    planeStride =
        arith::SelectOp::create(builder, location, isInPlace, emission.getSize(tiles.pictureStride), planeStride);
  Value stride = emission.getConstant(form.pixelStride);
  emission.forRange(zero, taps, 1, [&](Value tap) {
    Value row = zero, pixel = zero;
    for (auto [loop, digit] : llvm::zip_equal(form.getTapLoops(), emission.unravel(tap, extents))) {
      auto [rowStep, pixelStep] = form.getTapSteps(loop);
      row = emission.add(row, emission.multiply(digit, emission.getConstant(rowStep)));
      pixel = emission.add(pixel, emission.multiply(digit, emission.getConstant(pixelStep)));
    }
    Value place = emission.divide(pixel, stride);
    Value run = emission.subtract(pixel, emission.multiply(place, stride));
    Value offset = emission.add(emission.multiply(row, rowPitch),
                                emission.add(emission.multiply(run, emission.getSize(tiles.run)), place));
    emission.forRange(zero, emission.getSize(tiles.channelStep), 1, [&](Value channel) {
      Value value = emission.add(offset, emission.multiply(channel, planeStride));
      Value at = emission.add(emission.multiply(channel, taps), tap);
      memref::StoreOp::create(builder, location, toWord(value), offsets, ValueRange{at});
    });
  });
}

/// The last blocks of an extent may be empty.
Span ConvolutionEmitter::getRange(Value block, Expr step, Expr total) {
  Value size = emission.getSize(step), first = emission.multiply(block, size);
  Value left = emission.subtract(emission.getSize(total), first);
  return {first, emission.maximum(emission.getConstant(0), emission.minimum(size, left))};
}

void ConvolutionEmitter::emitTile(Value tile) {
  SmallVector<Expr> grid = contraction.getExtents(contraction.outer);
  llvm::append_values(grid, tiles.columnBlocks, tiles.rowBlocks, tiles.pixelBlocks);
  SmallVector<Value> digits = emission.unravel(tile, grid);
  for (auto [position, digit] : llvm::zip(outer, digits))
    position.value = digit;
  ArrayRef<Value> blocks = ArrayRef(digits).take_back(3);
  columns = getRange(blocks[0], tiles.columnStep, contraction.getExtent(contraction.m));
  rows = getRange(blocks[1], tiles.rowStep, form.getRows());
  pixels = getRange(blocks[2], tiles.pixelStep, form.getPixels());

  Value zero = emission.getConstant(0), channelBlocks = emission.getSize(tiles.channelBlocks);
  emission.forRange(zero, channelBlocks, 1, [&](Value block) {
    Span channels = getRange(block, tiles.channelStep, contraction.getExtent(contraction.k.front()));
    emitCopy(channels);
    emission.forRange(zero, columns.count, width, [&](Value distance) {
      Value column = emission.add(columns.first, distance);
      emitPanel(column, block, channels);
      Value isLast = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq,
                                           emission.add(block, emission.getConstant(1)), channelBlocks);
      auto branch = scf::IfOp::create(builder, location, isLast, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      emitPanelEpilogue(column);
    });
  });
}

SmallVector<Expr> ConvolutionEmitter::getIndices(unsigned input) {
  return tile::getIndices(contraction.compute, input, loops);
}

Positions ConvolutionEmitter::getPositions(Value column, Value row, Value pixel, Value channel) {
  Positions positions = outer;
  positions.push_back({columnSymbol, column});
  positions.push_back({rowSymbol, row});
  positions.push_back({pixelSymbol, pixel});
  positions.push_back({channelSymbol, channel});
  return positions;
}

/// The memory index of an operand at the first tap.
Value ConvolutionEmitter::getLinear(unsigned input, Value column, Value row, Value pixel, Value channel) {
  Expr linear = tile::getLinearIndex(contraction.compute.getInputType(input), getIndices(input));
  return emission.getIndex(linear, getPositions(column, row, pixel, channel));
}

void ConvolutionEmitter::emitCopy(const Span &channels) {
  if (!isInPlace)
    return copyPlanes(channels);
  auto branch = scf::IfOp::create(builder, location, isInPlace, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  copyPlanes(channels);
}

/// Copies the part of some channels that the tile's windows cover; out of bounds the picture has its fill.
void ConvolutionEmitter::copyPlanes(const Span &channels) {
  tile::ComputeOp compute = contraction.compute;
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  PictureBox box;
  box.memory = emission.getBuffer(compute.getInputs()[form.picture]);
  box.type = compute.getInputType(form.picture);
  box.fill = compute.getFill(form.picture);
  Positions first = getPositions(columns.first, rows.first, pixels.first, channels.first);
  for (Expr index : getIndices(form.picture))
    box.first.push_back(emission.getIndex(index, first));
  box.counts.resize(form.pixelDim, one);
  box.strides.resize(form.pixelDim, zero);
  box.counts[form.channelDim] = channels.count;
  box.strides[form.channelDim] = emission.getSize(tiles.planeStride);
  if (form.rowDim) {
    Value last = emission.multiply(emission.subtract(rows.count, one), emission.getConstant(tiles.copiedStride));
    box.counts[*form.rowDim] = emission.add(last, emission.getConstant(form.rowSpan));
    box.strides[*form.rowDim] = emission.getSize(tiles.rowPitch);
    box.rowDim = form.rowDim;
    box.rowStep = form.rowStride / tiles.copiedStride;
  }
  box.stride = form.pixelStride;
  box.lanes = lanes;
  box.vectors = emission.divide(emission.getSize(tiles.run), emission.getConstant(lanes));
  copyPicture(emission, box, planes);
}

/// The beginning of a panel's accumulators for a row of pixels.
Value ConvolutionEmitter::getPanelSums(Value column, Value row) {
  Value pitch = emission.getSize(tiles.pixelStep);
  Value panel =
      emission.multiply(emission.subtract(column, columns.first), emission.getSize(tiles.rowStep * tiles.pixelStep));
  return emission.add(panel, emission.multiply(emission.multiply(row, pitch), emission.getConstant(width)));
}

/// The address of a row's first pixel at the first step of k: in the copy, or in the picture.
Value ConvolutionEmitter::getWindows(Value row, const Span &channels) {
  Value rowPitch = emission.multiply(emission.getSize(tiles.rowPitch), emission.getConstant(tiles.copiedStride));
  Value copied = emission.getPointer(planes, emission.multiply(row, rowPitch));
  if (!isInPlace)
    return copied;
  Value picture = emission.getPointer(emission.getBuffer(contraction.compute.getInputs()[form.picture]),
                                      getLinear(form.picture, columns.first, rows.first, pixels.first, channels.first));
  return arith::SelectOp::create(builder, location, isInPlace, picture, copied);
}

/// The address of a panel of weights from a channel on.
Value ConvolutionEmitter::getWeights(Value column, Value channel) {
  return emission.getPointer(emission.getBuffer(contraction.compute.getInputs()[form.weights]),
                             getLinear(form.weights, column, rows.first, pixels.first, channel));
}

void ConvolutionEmitter::emitPanel(Value column, Value block, const Span &channels) {
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  // The panel that the worker reads next, which is prefetched: that of the next columns, else of the next channels.
  // Past the last one, it need not be mapped.
  Value nextColumn = emission.add(column, emission.getConstant(width));
  Value isInside = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, nextColumn,
                                         emission.add(columns.first, columns.count));
  Value isLast = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, emission.add(block, one),
                                       emission.getSize(tiles.channelBlocks));
  auto select = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(builder, location, condition, yes, no);
  };
  Value aheadColumn = select(isInside, nextColumn, select(isLast, nextColumn, columns.first));
  Value aheadChannel =
      select(isInside, channels.first, select(isLast, zero, emission.add(channels.first, channels.count)));
  Value ahead = getWeights(aheadColumn, aheadChannel), weights = getWeights(column, channels.first);
  Value depth = toWord(emission.multiply(channels.count, emission.getConstant(form.taps)));
  Value height = getBlockHeight(emission, pixels.count, kernelShape.getRows());
  Value blocks = emission.ceilDivide(pixels.count, height);
  emission.forRange(zero, rows.count, 1, [&](Value row) {
    func::CallOp::create(builder, location, kernel,
                         ValueRange{toWord(pixels.count), toWord(height), depth, getWindows(row, channels),
                                    emission.getPointer(offsets, zero), weights,
                                    emission.getPointer(sums, getPanelSums(column, row)), toWord(block), ahead,
                                    toWord(emission.multiply(row, blocks))});
  });
}

/// Reduces each rectangle of pixels to one, and moves it to its position among the pooled pixels: the accumulators of
/// later pixels come after it.
void ConvolutionEmitter::poolPanel(Value column, Value count) {
  tile::Pooling &pooling = *form.pooling;
  Value zero = emission.getConstant(0);
  auto vectorType = VectorType::get({lanes}, contraction.elementType);
  LanePoints points{SmallVector<Expr>(ArrayRef(loops).take_front(pooling.compute.getNumParallel())),
                    {},
                    columnSymbol,
                    static_cast<unsigned>(lanes),
                    Value()};
  points.loops.resize(pooling.compute.getNumLoops(), Expr::constant(builder.getContext(), 0));
  Span pooledRows = getPooled(rows, pooling.rows), pooledPixels = getPooled(pixels, pooling.pixels);
  emission.forRange(zero, count, lanes, [&](Value part) {
    points.mask = emission.getTailMask(lanes, emission.subtract(count, part));
    auto getPlace = [&](Value row, Value pixel) {
      Value distance = emission.multiply(pixel, emission.getConstant(width));
      return emission.add(emission.add(getPanelSums(column, row), distance), part);
    };
    emission.forRange(zero, pooledRows.count, 1, [&](Value row) {
      emission.forRange(zero, pooledPixels.count, 1, [&](Value pixel) {
        points.positions = getPositions(emission.add(column, part), emission.add(pooledRows.first, row),
                                        emission.add(pooledPixels.first, pixel), zero);
        Value firstRow = emission.multiply(row, emission.getConstant(pooling.rows));
        Value firstPixel = emission.multiply(pixel, emission.getConstant(pooling.pixels));
        Value pooled = arith::ConstantOp::create(
            builder, location, DenseElementsAttr::get(vectorType, Attribute(pooling.compute.getInit(0))));
        for (int64_t place = 0; place < pooling.rows * pooling.pixels; ++place) {
          int64_t rowTap = place / pooling.pixels, pixelTap = place % pooling.pixels;
          if (pooling.rowLoop)
            points.loops[*pooling.rowLoop] = Expr::constant(builder.getContext(), rowTap);
          if (pooling.pixelLoop)
            points.loops[*pooling.pixelLoop] = Expr::constant(builder.getContext(), pixelTap);
          Value from = getPlace(emission.add(firstRow, emission.getConstant(rowTap)),
                                emission.add(firstPixel, emission.getConstant(pixelTap)));
          BodyVectorizer body(emission, pooling.compute, points);
          body.set(pooling.compute.getInputArgs()[pooling.input],
                   vector::LoadOp::create(builder, location, vectorType, sums, from));
          body.set(pooling.compute.getAccumulators()[0], pooled);
          pooled = body.spread(body.getYielded()[0]);
        }
        vector::StoreOp::create(builder, location, pooled, sums, getPlace(row, pixel));
      });
    });
  });
}

/// Stores the tile: squares of channels and pixels are transposed, since channels are contiguous in the accumulators
/// and pixels in memory.
void ConvolutionEmitter::emitPanelEpilogue(Value column) {
  Value zero = emission.getConstant(0), vectorSize = emission.getConstant(lanes);
  Value count = emission.minimum(emission.getConstant(width),
                                 emission.subtract(emission.add(columns.first, columns.count), column));
  Span outRows = rows, outPixels = pixels;
  if (form.pooling) {
    poolPanel(column, count);
    outRows = getPooled(rows, form.pooling->rows);
    outPixels = getPooled(pixels, form.pooling->pixels);
  }
  auto isAtLeast = [&](Value size) {
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sge, size, vectorSize);
  };
  emission.forRange(zero, outRows.count, 1, [&](Value row) {
    Value rowSums = getPanelSums(column, row);
    // Pixels of some channels first: hardware prefetchers follow these few rows of memory.
    emission.forRange(zero, count, lanes, [&](Value part) {
      Value channels = emission.minimum(vectorSize, emission.subtract(count, part));
      emission.forRange(zero, outPixels.count, lanes, [&](Value pixel) {
        Value from = emission.add(emission.add(rowSums, emission.multiply(pixel, emission.getConstant(width))), part);
        SmallVector<Value> values = loadSquare(from);
        SquarePlace place{emission.add(column, part), emission.add(outRows.first, row),
                          emission.add(outPixels.first, pixel)};
        Value left = emission.subtract(outPixels.count, pixel);
        Value isWhole = arith::AndIOp::create(builder, location, isAtLeast(left), isAtLeast(channels));
        auto branch = scf::IfOp::create(builder, location, isWhole, /*withElseRegion=*/true);
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(branch.thenBlock());
        storeWholeSquare(values, place);
        builder.setInsertionPointToStart(branch.elseBlock());
        storePartOfSquare(values, place, channels, left);
      });
    });
  });
}

/// The accumulators of `lanes` channels for as many pixels: a vector of pixels for each channel.
SmallVector<Value> ConvolutionEmitter::loadSquare(Value from) {
  auto vectorType = VectorType::get({lanes}, contraction.elementType);
  SmallVector<Value> values;
  for (int64_t lane = 0; lane < lanes; ++lane)
    values.push_back(vector::LoadOp::create(builder, location, vectorType, sums,
                                            emission.add(from, emission.getConstant(lane * width))));
  transposeSquare(builder, location, values);
  return values;
}

/// Channels stay in registers, and pixels have no mask: without AVX-512, masked stores are slow.
void ConvolutionEmitter::storeWholeSquare(ArrayRef<Value> values, const SquarePlace &place) {
  Value last = emission.subtract(emission.add(columns.first, columns.count), emission.getConstant(1));
  for (auto [lane, value] : llvm::enumerate(values)) {
    Value channel = emission.add(place.channel, emission.getConstant(lane));
    Value ahead = emission.add(channel, emission.getConstant(tiles.tiling.getPrefetchChannels()));
    storePixels(value, {channel, place.row, place.pixel}, Value(), emission.minimum(ahead, last));
  }
}

/// Stores the first channels and pixels, channel by channel: the code of what follows is emitted once.
void ConvolutionEmitter::storePartOfSquare(ArrayRef<Value> values, const SquarePlace &place, Value channels,
                                           Value pixelsLeft) {
  for (auto [lane, value] : llvm::enumerate(values))
    vector::StoreOp::create(builder, location, value, square, emission.getConstant(lane * lanes));
  Value mask = emission.getTailMask(lanes, pixelsLeft);
  emission.forRange(emission.getConstant(0), channels, 1, [&](Value channel) {
    Value value = vector::LoadOp::create(builder, location, VectorType::get({lanes}, contraction.elementType), square,
                                         emission.multiply(channel, emission.getConstant(lanes)));
    storePixels(value, {emission.add(place.channel, channel), place.row, place.pixel}, mask, Value());
  });
}

/// Computes what follows on a vector of pixels; operands of the channel `ahead` are prefetched.
void ConvolutionEmitter::storePixels(Value value, const SquarePlace &place, Value mask, Value ahead) {
  tile::ComputeOp last = form.pooling ? form.pooling->compute : contraction.compute;
  Type resultType = tile::getScalarType(last.getResultType(0).getElementType());
  LanePoints at{loops, getPositions(place.channel, place.row, place.pixel, emission.getConstant(0)), pixelSymbol,
                static_cast<unsigned>(lanes), mask};
  std::optional<Position> next;
  if (ahead)
    next = Position{columnSymbol, ahead};
  emitEpilogue(emission, last, convertWidth(builder, location, value, resultType), at, next);
}

void freestone::codegen::emitConvolution(tile::ProgramOp program, Emission &emission) {
  ConvolutionEmitter(emission, *tile::ConvolutionForm::get(program), program.getTiling<tile::ConvolutionTilingAttr>())
      .emit();
}
