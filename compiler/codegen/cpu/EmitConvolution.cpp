#include "compiler/codegen/cpu/EmitConvolution.h"

#include "compiler/codegen/cpu/ConvolutionEmitter.h"
#include "compiler/codegen/cpu/CopyPicture.h"
#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/Pack.h"
#include "compiler/codegen/cpu/TransformKernels.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;
using tile::ConvolutionAxis;

ConvolutionEmitter::ConvolutionEmitter(Emission &emission, tile::ConvolutionForm convolution,
                                       tile::ConvolutionTiles geometry)
    : TreeWalker(emission, ranges), form(std::move(convolution)), contraction(form.contraction),
      tiles(std::move(geometry)), kernelShape(tiles.kernel), width(kernelShape.getWidth()),
      lanes(kernelShape.getLanes()), columnSymbol(emission.getPositionSymbol("column")),
      rowSymbol(emission.getPositionSymbol("row")), pixelSymbol(emission.getPositionSymbol("pixel")),
      channelSymbol(emission.getPositionSymbol("channel")),
      loops(contraction.compute.getNumLoops(), Expr::constant(builder.getContext(), 0)),
      ranges(SmallVector<AxisRange>(ConvolutionAxis::pictures + 1)) {
  loops[contraction.m.front()] = columnSymbol;
  loops[form.pixelLoop] = pixelSymbol;
  loops[contraction.k.front()] = channelSymbol;
  if (form.rowLoop)
    loops[*form.rowLoop] = rowSymbol;
  for (auto [number, loop] : llvm::enumerate(llvm::concat<unsigned>(tiles.otherLoops, tiles.pictureLoops))) {
    outer.push_back({emission.getPositionSymbol("o" + std::to_string(number)), Value()});
    loops[loop] = outer.back().symbol;
  }
  others.assign(outer.begin(), outer.begin() + tiles.otherLoops.size());
}

void ConvolutionEmitter::emit() {
  ArrayAttr tree = tile::getTree(form, tiles, emission.program.getComputes().size());
  kernel = declareKernel(builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>(), KernelKind::window,
                         contraction.elementType, kernelShape);
  // The same sizes as in the plan's `scratch`.
  planes = emission.takeScratch(contraction.elementType, tiles.planes);
  offsets = emission.takeScratch(builder.getI64Type(), tiles.offsets);
  sums = emission.takeScratch(contraction.elementType, tiles.sums);
  square = emission.takeScratch(contraction.elementType, tiles.square);
  if (const auto &parts = tiles.transformed) {
    auto module = builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>();
    auto declare = [&](TransformKind kind) {
      return declareTransform(module, kind, contraction.elementType, kernelShape, parts->layout.getOutputs());
    };
    pictureKernel = declare(TransformKind::picture);
    productKernel = declare(TransformKind::products);
    transformed = emission.takeScratch(contraction.elementType, parts->picture);
    products = emission.takeScratch(contraction.elementType, parts->products);
  }
  if (!tiles.pictureLoops.empty())
    begins = emission.takeScratch(builder.getI64Type(), tiles.begins);
  if (find<tile::MultiplyAttr>(tree).getSkipTaps()) {
    tapAxes = form.getTapAxes();
    listedKernel = declareKernel(builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>(), KernelKind::listed,
                                 contraction.elementType, kernelShape);
    listedSteps = emission.takeScratch(builder.getI64Type(), tiles.listedSteps);
    clearList();
  }
  if (int64_t most = find<tile::PackedAttr>(tree).getInPlace())
    isInPlace = compare(arith::CmpIPredicate::sle, emission.getSize(tiles.pictureStride * tiles.channelStep),
                        emission.getConstant(most));
  if (isInPlace && begins)
    isInPlace = conjoin(isInPlace, isAlone());
  emitOffsets();
  axes.ranges[ConvolutionAxis::channels] = {emission.getConstant(0),
                                            emission.getSize(contraction.getExtent(contraction.k.front()))};
  SmallVector<DealtAxis> blocks = {{tiles.columnBlocks, tiles.columnStep, contraction.getExtent(contraction.m)},
                                   {tiles.rowBlocks, tiles.rowStep, form.getRows()},
                                   {tiles.pixelBlocks, tiles.pixelStep, form.getPixels()}};
  if (begins)
    blocks.insert(blocks.begin(), {tiles.pictureBlocks, tiles.pictureStep, tiles.pictures});
  walkTiles(tree, contraction.getExtents(tiles.otherLoops), others, blocks);
}

void ConvolutionEmitter::beginTile() {
  ArrayRef<AxisRange> here = ArrayRef(dealt).take_back(3);
  columns = here[0];
  rows = here[1];
  pixels = here[2];
  llvm::copy(others, outer.begin());
  positions = pixels.count;
  if (begins)
    listPictures();
  if (tapAxes)
    boundTaps();
}

/// Offsets from a row's first pixel in the planes, or from the first square of a transformed picture, for all steps of
/// k: equal for all tiles.
void ConvolutionEmitter::emitOffsets() {
  if (tiles.transformed) {
    Value squares = emission.getSize(tiles.transformed->squares);
    Value planeCount = emission.getSize(tiles.channelStep * form.depthTaps);
    return emission.forRange(emission.getConstant(0), planeCount, 1, [&](Value plane) {
      memref::StoreOp::create(builder, location, toWord(emission.multiply(plane, squares)), offsets, ValueRange{plane});
    });
  }
  SmallVector<Expr> extents = contraction.getExtents(form.getTapLoops());
  Value zero = emission.getConstant(0), taps = emission.getConstant(form.taps);
  Value rowPitch = emission.getSize(tiles.rowPitch), planeStride = emission.getSize(tiles.planeStride);
  if (isInPlace)
    planeStride = select(isInPlace, emission.getSize(tiles.pictureStride), planeStride);
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
    Value inRun = emission.multiply(place, emission.getSize(tiles.pictureStep));
    Value offset = emission.add(emission.multiply(row, rowPitch),
                                emission.add(emission.multiply(run, emission.getSize(tiles.run)), inRun));
    emission.forRange(zero, emission.getSize(tiles.channelStep * form.depthTaps), 1, [&](Value plane) {
      Value value = emission.add(offset, emission.multiply(plane, planeStride));
      Value at = emission.add(emission.multiply(plane, taps), tap);
      memref::StoreOp::create(builder, location, toWord(value), offsets, ValueRange{at});
    });
  });
}

/// Blocks of channels have one size in all tiles.
TreeWalker::Division ConvolutionEmitter::divide(tile::BlocksAttr) {
  return {emission.getSize(tiles.channelBlocks), emission.getSize(tiles.channelStep)};
}

void ConvolutionEmitter::emitBlocks(tile::BlocksAttr blocks) {
  if (blocks.getAxis() != ConvolutionAxis::columns)
    return TreeWalker::emitBlocks(blocks);
  forWholeBlocks(blocks, [&] {
    column = axes.ranges[ConvolutionAxis::columns].first;
    walk(blocks.getBody().getValue());
  });
}

void ConvolutionEmitter::emitPacked(tile::PackedAttr, unsigned) {
  const AxisRange &channels = axes.ranges[ConvolutionAxis::channels];
  if (tiles.transformed)
    transformPicture(channels);
  else
    emitCopy(channels);
  if (tapAxes)
    listSteps(channels);
}

void ConvolutionEmitter::emitMultiply(tile::MultiplyAttr) {
  if (tiles.transformed)
    multiplyTransformed(column, axes.ranges[ConvolutionAxis::channels]);
  else
    emitPanel(column, axes.ranges[ConvolutionAxis::channels]);
}

void ConvolutionEmitter::emitEvaluate(tile::EvaluateAttr node) {
  ahead = node.getAhead();
  Value next = emission.add(axes.ranges[ConvolutionAxis::channels].block, emission.getConstant(1));
  emitIf(compare(arith::CmpIPredicate::eq, next, emission.getSize(tiles.channelBlocks)), [&] {
    if (tiles.transformed)
      transformProducts(column);
    forPictures([&] { emitPanelEpilogue(column); });
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

void ConvolutionEmitter::emitCopy(const AxisRange &channels) {
  auto copy = [&] {
    if (!begins)
      return copyPlanes(channels);
    emitIf(
        isAlone(), [&] { copyPlanes(channels); }, [&] { interleavePictures(channels); });
  };
  if (!isInPlace)
    return copy();
  emitIf(
      isInPlace, [] {}, copy);
}

/// The rows that are prefetched while some channels are copied: those of channels so far behind that `copy_ahead` rows
/// are between, `ofChannel` of each; of the last channels, those of the first ones of the next tile.
PictureBox::Ahead ConvolutionEmitter::getRowsAhead(const AxisRange &channels, Value ofChannel) {
  tile::LinearIndex linear = *tile::getStrides(contraction.compute, form.picture);
  Value one = emission.getConstant(1), all = emission.getSize(contraction.getExtent(contraction.k.front()));
  Value channelsAhead =
      emission.ceilDivide(emission.getConstant(tiles.tiling.getCopyAhead()), emission.maximum(one, ofChannel));
  channelsAhead = emission.minimum(all, channelsAhead);
  Value stride = emission.getSize(linear.strides[contraction.k.front()]);
  Value toTile = emission.getSize(linear.strides[form.pixelLoop] * tiles.pixelStep);
  if (form.rowLoop) {
    Value isWhole = compare(arith::CmpIPredicate::eq, emission.getSize(tiles.pixelBlocks), one);
    toTile = select(isWhole, emission.getSize(linear.strides[*form.rowLoop] * tiles.rowStep), toTile);
  }
  Value left = emission.subtract(all, channelsAhead);
  return {form.channelDim, emission.subtract(left, channels.first), emission.multiply(channelsAhead, stride),
          emission.subtract(toTile, emission.multiply(left, stride))};
}

/// Copies the part of some channels that the tile's windows cover; out of bounds the picture has its fill.
void ConvolutionEmitter::copyPlanes(const AxisRange &channels) {
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
  box.strides[form.channelDim] = emission.getSize(tiles.planeStride * form.depthTaps);
  if (form.depthDim) {
    box.counts[*form.depthDim] = emission.getConstant(form.depthTaps);
    box.strides[*form.depthDim] = emission.getSize(tiles.planeStride);
  }
  if (form.rowDim) {
    // Transformed filters read whole squares.
    Value count = rows.count;
    if (tiles.transformed)
      count = emission.multiply(countSquares(rows), emission.getConstant(tiles.transformed->layout.getOutputs()));
    Value last = emission.multiply(emission.subtract(count, one), emission.getConstant(tiles.copiedStride));
    box.counts[*form.rowDim] = emission.add(last, emission.getConstant(form.rowSpan));
    box.strides[*form.rowDim] = emission.getSize(tiles.rowPitch);
    box.rowDim = form.rowDim;
    box.rowStep = form.rowStride / tiles.copiedStride;
  }
  box.stride = tiles.copiedPixelStride;
  box.lanes = lanes;
  box.vectors = emission.divide(emission.getSize(tiles.run), emission.getConstant(lanes));
  auto widen = [&](Value values) { return convertWidth(builder, location, values, contraction.elementType); };
  if (form.widensPicture())
    box.convert = widen;
  if (tiles.tiling.getCopyAhead() > 0)
    box.ahead = getRowsAhead(channels, form.rowDim ? box.counts[*form.rowDim] : one);
  if (tapAxes)
    boundCopy(box);
  copyPicture(emission, box, planes);
}

/// The beginning of a panel's accumulators for a row of pixels.
Value ConvolutionEmitter::getPanelSums(Value column, Value row) {
  Value pitch = emission.getSize(tiles.pixelStep * tiles.pictureStep);
  Value panel = emission.multiply(emission.subtract(column, columns.first),
                                  emission.getSize(tiles.rowStep * tiles.pixelStep * tiles.pictureStep));
  // Squares are transformed back right before they are stored.
  if (tiles.transformed)
    panel = emission.getConstant(0);
  return emission.add(panel, emission.multiply(emission.multiply(row, pitch), emission.getConstant(width)));
}

/// The address of a row's first pixel at the first step of k: in the copy, or in the picture.
Value ConvolutionEmitter::getWindows(Value row, const AxisRange &channels) {
  Value rowPitch = emission.multiply(emission.getSize(tiles.rowPitch), emission.getConstant(tiles.copiedStride));
  Value copied = emission.getPointer(planes, emission.multiply(row, rowPitch));
  if (!isInPlace)
    return copied;
  Value picture = emission.getPointer(emission.getBuffer(contraction.compute.getInputs()[form.picture]),
                                      getLinear(form.picture, columns.first, rows.first, pixels.first, channels.first));
  return select(isInPlace, picture, copied);
}

/// The address of a panel of weights from a channel on.
Value ConvolutionEmitter::getWeights(Value column, Value channel) {
  return emission.getPointer(emission.getBuffer(contraction.compute.getInputs()[form.weights]),
                             getLinear(form.weights, column, rows.first, pixels.first, channel));
}

void ConvolutionEmitter::emitPanel(Value column, const AxisRange &channels) {
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  // The panel that the worker reads next, which is prefetched: that of the next columns, else of the next channels.
  // Past the last one, it need not be mapped.
  Value nextColumn = emission.add(column, emission.getConstant(width));
  Value isInside = compare(arith::CmpIPredicate::slt, nextColumn, emission.add(columns.first, columns.count));
  Value isLast =
      compare(arith::CmpIPredicate::eq, emission.add(channels.block, one), emission.getSize(tiles.channelBlocks));
  Value aheadColumn = select(isInside, nextColumn, select(isLast, nextColumn, columns.first));
  Value aheadChannel =
      select(isInside, channels.first, select(isLast, zero, emission.add(channels.first, channels.count)));
  Value ahead = getWeights(aheadColumn, aheadChannel), weights = getWeights(column, channels.first);
  Value depth = toWord(emission.multiply(channels.count, emission.getConstant(form.depthTaps * form.taps)));
  Value height = getBlockHeight(emission, positions, kernelShape.getRows());
  Value blocks = emission.ceilDivide(positions, height), count = toWord(countColumns(column));
  /// All steps of k; `number` counts the rows that prefetch.
  auto multiply = [&](const PanelRow &at, Value number) {
    func::CallOp::create(builder, location, kernel,
                         ValueRange{toWord(positions), at.height, at.columns, depth, at.windows,
                                    emission.getPointer(offsets, zero), weights, at.sums, at.block, ahead,
                                    toWord(emission.multiply(number, blocks))});
  };
  emission.forRange(zero, rows.count, 1, [&](Value row) {
    PanelRow at{toWord(height),
                count,
                getWindows(row, channels),
                weights,
                emission.getPointer(sums, getPanelSums(column, row)),
                toWord(channels.block)};
    if (!tapAxes)
      return multiply(at, row);
    TapRange rowTaps = getRowTaps(row);
    emitIf(
        conjoin(hasAllInRows, rowTaps.isAll),
        [&] { multiply(at, emission.maximum(zero, emission.subtract(row, firstWhole))); },
        [&] { multiplyListed(at, rowTaps, channels.count); });
  });
}

void freestone::codegen::emitConvolution(tile::ProgramOp program, Emission &emission) {
  tile::ConvolutionForm form = *tile::ConvolutionForm::get(program);
  tile::ConvolutionTiles tiles = tile::ConvolutionTiles::get(form, program.getTiling<tile::ConvolutionTilingAttr>());
  ConvolutionEmitter(emission, std::move(form), std::move(tiles)).emit();
}
