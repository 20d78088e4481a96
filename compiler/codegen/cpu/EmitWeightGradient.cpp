#include "compiler/codegen/cpu/EmitWeightGradient.h"

#include "compiler/codegen/cpu/Epilogue.h"
#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/Pack.h"
#include "compiler/codegen/cpu/TransformKernels.h"
#include "compiler/codegen/cpu/WeightGradientEmitter.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;
using tile::WeightGradientAxis;

WeightGradientEmitter::WeightGradientEmitter(Emission &emission, tile::WeightGradientForm gradient,
                                             tile::WeightGradientTiles geometry)
    : TreeWalker(emission, ranges), form(std::move(gradient)), tiles(std::move(geometry)), kernelShape(tiles.kernel),
      width(kernelShape.getWidth()), lanes(kernelShape.getLanes()), imageSymbol(emission.getPositionSymbol("image")),
      depthSymbol(emission.getPositionSymbol("depth")), rowSymbol(emission.getPositionSymbol("row")),
      columnSymbol(emission.getPositionSymbol("column")), channelSymbol(emission.getPositionSymbol("channel")),
      rowTapSymbol(emission.getPositionSymbol("rowTap")), pixelTapSymbol(emission.getPositionSymbol("pixelTap")),
      loops(form.compute.getNumLoops(), Expr::constant(builder.getContext(), 0)),
      ranges(SmallVector<AxisRange>(WeightGradientAxis::columns + 1)) {
  vectorType = VectorType::get({lanes}, form.elementType);
  loops[form.column] = columnSymbol;
  if (form.channel)
    loops[*form.channel] = channelSymbol;
  if (form.image)
    loops[*form.image] = imageSymbol;
  if (form.row) {
    loops[form.row->place] = rowSymbol;
    loops[form.row->tap] = rowTapSymbol;
  }
  if (form.depth)
    loops[form.depth->place] = depthSymbol;
  loops[form.pixel.tap] = pixelTapSymbol;
  for (auto [number, loop] : llvm::enumerate(form.outer)) {
    outer.push_back({emission.getPositionSymbol("o" + std::to_string(number)), Value()});
    loops[loop] = outer.back().symbol;
  }
}

void WeightGradientEmitter::emit() {
  auto module = builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>();
  ArrayAttr tree = tile::getTree(form, tiles, emission.program.getComputes().size());
  areApart = find<tile::PackedAttr>(tree).getApart();
  kernel = declareKernel(module, getGradientKernel(areApart), form.elementType, kernelShape);
  if (int64_t beyond = tiles.tiling.getBringBeyond()) {
    Expr elements = tile::getStorageElements(form.compute.getInputType(form.picture)) +
                    tile::getStorageElements(form.compute.getInputType(form.gradient));
    bringsNext = compare(arith::CmpIPredicate::sgt, emission.getSize(elements), emission.getConstant(beyond));
  }
  // The same sizes as in the plan's `scratch`.
  planes = emission.takeScratch(form.elementType, tiles.planes);
  offsets = emission.takeScratch(builder.getI64Type(), tiles.offsets);
  panel = emission.takeScratch(form.elementType, tiles.panel);
  sums = emission.takeScratch(form.elementType, tiles.sums);
  if (tiles.transformed) {
    transformedPicture = emission.takeScratch(form.elementType, tiles.transformed->picture);
    transformedGradient = emission.takeScratch(form.elementType, tiles.transformed->gradient);
    auto declare = [&](TransformKind kind) {
      return declareTransform(module, kind, form.elementType, kernelShape, tiles.transformed->outputs);
    };
    pictureKernel = declare(TransformKind::pixels);
    gradientKernel = declare(TransformKind::gradient);
    sumsKernel = declare(TransformKind::taps);
    emitSquareOffsets();
  } else {
    emitOffsets();
  }
  Value zero = emission.getConstant(0);
  axes.ranges[WeightGradientAxis::images] = {zero, emission.getSize(form.getSlices())};
  axes.ranges[WeightGradientAxis::rows] = {zero, emission.getSize(form.getRows())};
  axes.ranges[WeightGradientAxis::rowTaps] = {zero, emission.getSize(form.getRowTaps())};
  axes.ranges[WeightGradientAxis::pixelTaps] = {zero, emission.getSize(form.getPixelTaps())};
  SmallVector<Expr> points = llvm::map_to_vector(form.outer, [&](unsigned loop) { return form.getExtent(loop); });
  walkTiles(tree, points, outer,
            {{tiles.channelBlocks, tiles.channelStep, form.getExtent(form.channel)},
             {tiles.panelBlocks, tiles.panelStep, Expr::ceilDiv(form.getExtent(form.column), width)}});
}

/// Offsets of each position's first tap in the copied picture: equal for all row blocks.
void WeightGradientEmitter::emitOffsets() {
  Value zero = emission.getConstant(0), places = emission.getSize(form.getPlaces());
  Value pixelPitch = emission.getSize(tiles.pixelPitch);
  Value rowStep =
      emission.multiply(emission.getSize(tiles.pitch), emission.getConstant(form.row ? form.row->stride : 1));
  emission.forRange(zero, emission.getSize(tiles.rowStep), 1, [&](Value row) {
    emission.forRange(zero, places, 1, [&](Value place) {
      Value pixel = emission.add(emission.multiply(row, rowStep),
                                 emission.multiply(place, emission.getConstant(form.pixel.stride)));
      Value at = emission.add(emission.multiply(row, places), place);
      Value offset = areApart ? at : emission.multiply(pixel, pixelPitch);
      memref::StoreOp::create(builder, location, toWord(offset), offsets, ValueRange{at});
    });
  });
}

void WeightGradientEmitter::beginTile() {
  ArrayRef<AxisRange> here = ArrayRef(dealt).take_back(2);
  firstChannel = here[0].first;
  channels = here[0].count;
  firstPanel = here[1].first;
  panels = here[1].count;
  // The first part sets the sums, if there is one.
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  Value blocks = emission.getSize(tiles.imageBlocks * tiles.rowBlocks);
  clearSums(emission.multiply(panels, emission.maximum(zero, emission.subtract(one, blocks))));
  setPanel(firstPanel);
}

/// Blocks of images, and of rows, have one size in all tiles.
TreeWalker::Division WeightGradientEmitter::divide(tile::BlocksAttr blocks) {
  if (blocks.getAxis() == WeightGradientAxis::images)
    return {emission.getSize(tiles.imageBlocks), emission.getSize(tiles.imageStep)};
  return {emission.getSize(tiles.rowBlocks), emission.getSize(tiles.rowStep)};
}

void WeightGradientEmitter::emitBlocks(tile::BlocksAttr blocks) {
  using Axis = WeightGradientAxis;
  unsigned axis = blocks.getAxis();
  if (axis == Axis::images || axis == Axis::rows)
    return TreeWalker::emitBlocks(blocks);
  if (axis == Axis::channels && tiles.transformed)
    transformSums();
  forWholeBlocks(blocks, [&] {
    if (axis == Axis::panels)
      setPanel(axes.ranges[Axis::panels].first);
    walk(blocks.getBody().getValue());
  });
}

WeightGradientEmitter::Part WeightGradientEmitter::getPart() {
  const AxisRange &images = axes.ranges[WeightGradientAxis::images], &rows = axes.ranges[WeightGradientAxis::rows];
  Value number = emission.minimum(emission.getConstant(1), emission.add(images.block, rows.block));
  Part part = {images.first, images.count, rows.first, rows.count, toWord(number), images.first, rows.first};
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  auto isLast = [&](const AxisRange &range, Expr blocks) {
    return compare(arith::CmpIPredicate::eq, emission.add(range.block, one), emission.getSize(blocks));
  };
  Value endsImages = isLast(images, tiles.imageBlocks), endsRows = isLast(rows, tiles.rowBlocks);
  Value nextImage = select(endsImages, images.first, emission.add(images.first, images.count));
  part.nextImage = select(endsRows, nextImage, images.first);
  Value nextRow = select(endsRows, zero, emission.add(rows.first, rows.count));
  part.nextRow = select(conjoin(endsImages, endsRows), rows.first, nextRow);
  return part;
}

/// Elements of an input from what a part reads to what the next one does, if that is prefetched.
Value WeightGradientEmitter::getAhead(unsigned input) {
  Value distance = emission.subtract(getLinear(input, part.nextImage, part.nextRow),
                                     getLinear(input, part.firstImage, part.firstRow));
  return select(bringsNext, distance, emission.getConstant(0));
}

/// Of the output gradient, a panel is packed.
void WeightGradientEmitter::emitPacked(tile::PackedAttr node, unsigned) {
  bool isPicture = node.getInput() == form.picture;
  if (isPicture)
    part = getPart();
  if (bringsNext && !areApart)
    ahead = getAhead(node.getInput());
  if (isPicture)
    copyPart(part);
  else if (tiles.transformed)
    transformGradient(part);
  else
    packGradient(part.firstImage, part.firstRow, part.rows);
}

void WeightGradientEmitter::emitMultiply(tile::MultiplyAttr) {
  if (tiles.transformed)
    multiplySquares(part);
  else
    multiplyTaps(part);
}

void WeightGradientEmitter::copyPart(const Part &part) {
  if (tiles.transformed)
    return transformPicture(part);
  if (areApart)
    return copyChannels(part);
  Value rows = emission.getConstant(1);
  if (form.row) {
    Value steps = emission.multiply(emission.subtract(part.rows, rows), emission.getConstant(form.row->stride));
    rows = emission.add(steps, emission.getSize((form.getRowTaps() - 1) * form.row->dilation + 1));
  }
  copyPicture(part.firstImage, part.firstRow, rows);
}

void WeightGradientEmitter::clearSums(Value panels) {
  Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(vectorType));
  emission.forRange(emission.getConstant(0), emission.multiply(panels, emission.getSize(tiles.panelSums)), lanes,
                    [&](Value at) { vector::StoreOp::create(builder, location, zeros, sums, at); });
}

void WeightGradientEmitter::setPanel(Value number) {
  firstColumn = emission.multiply(number, emission.getConstant(width));
  columns = emission.minimum(emission.getConstant(width),
                             emission.subtract(emission.getSize(form.getExtent(form.column)), firstColumn));
  firstSum = emission.multiply(emission.subtract(number, firstPanel), emission.getSize(tiles.panelSums));
}

SmallVector<Expr> WeightGradientEmitter::getIndices(unsigned input) {
  return tile::getIndices(form.compute, input, loops);
}

Positions WeightGradientEmitter::getPositions(Value image, Value row, Value column) {
  Positions positions = outer;
  Value zero = emission.getConstant(0);
  if (form.depth) {
    Value depths = emission.getSize(form.getExtent(form.depth->place));
    Value number = emission.divide(image, depths);
    positions.push_back({depthSymbol, emission.subtract(image, emission.multiply(number, depths))});
    image = number;
  }
  positions.push_back({imageSymbol, image});
  positions.push_back({rowSymbol, row});
  positions.push_back({columnSymbol, column});
  positions.push_back({channelSymbol, firstChannel});
  for (Expr symbol : {rowTapSymbol, pixelTapSymbol})
    positions.push_back({symbol, zero});
  return positions;
}

/// The memory index of an operand at the first position of a row, the first tap, and the tile's first channel.
Value WeightGradientEmitter::getLinear(unsigned input, Value image, Value row) {
  Expr linear = tile::getLinearIndex(form.compute.getInputType(input), getIndices(input));
  return emission.getIndex(linear, getPositions(image, row, firstColumn));
}

/// As many vectors as lanes, `stride` apart, in the type of the sums; those past the last of `count` repeat it.
SmallVector<Value> WeightGradientEmitter::loadSquare(unsigned input, Value from, Value count, Value stride,
                                                     Value mask) {
  auto storedType = VectorType::get({lanes}, tile::getStorageType(form.compute.getInputType(input).getElementType()));
  Attribute outside = builder.getZeroAttr(storedType.getElementType());
  if (TypedAttr fill = form.compute.getFill(input))
    outside = fill;
  Value nothing = arith::ConstantOp::create(builder, location, DenseElementsAttr::get(storedType, outside));
  Value memory = emission.getBuffer(form.compute.getInputs()[input]),
        last = emission.subtract(count, emission.getConstant(1));
  SmallVector<Value> square;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value number = emission.minimum(emission.getConstant(lane), last);
    Value at = emission.add(from, emission.multiply(number, stride));
    Value values = vector::MaskedLoadOp::create(builder, location, storedType, memory, at, mask, nothing);
    // Where channels are apart, the micro-kernel does.
    if (ahead)
      LLVM::Prefetch::create(builder, location, emission.getPointer(memory, emission.add(at, ahead)), /*rw=*/0,
                             /*hint=*/2, /*cache=*/1);
    square.push_back(convertWidth(builder, location, values, form.elementType));
  }
  return square;
}

/// Packs positions of the current panel's columns. Of squares that reach beyond the last row or the end of one, with
/// zeros.
void WeightGradientEmitter::packGradient(Value image, Value firstRow, Value rows) {
  Value zero = emission.getConstant(0), places = emission.getSize(form.getPlaces());
  Value start = getLinear(form.gradient, image, firstRow), pitch = emission.getSize(tiles.panelPitch);
  if (!form.row)
    return packRun(start, zero, places, places);
  Expr rowStride = tile::getStrides(form.compute, form.gradient)->strides[form.row->place];
  if (!tiles.transformed && rowStride == form.getPlaces()) {
    Value all = emission.multiply(rows, places);
    return packRun(start, zero, all, all);
  }
  Value packed = rows;
  if (tiles.transformed) {
    Value side = emission.getConstant(tiles.transformed->outputs);
    packed = emission.multiply(emission.ceilDivide(rows, side), side);
  }
  emission.forRange(zero, packed, 1, [&](Value row) {
    Value valid = places;
    if (tiles.transformed)
      valid = select(compare(arith::CmpIPredicate::ult, row, rows), places, zero);
    packRun(emission.add(start, emission.multiply(row, emission.getSize(rowStride))), emission.multiply(row, pitch),
            pitch, valid);
  });
}

/// Packs `length` positions that are contiguous in memory, from number `target` on, those after `valid` as zeros;
/// squares past the end are overwritten, or scratch.
void WeightGradientEmitter::packRun(Value source, Value target, Value length, Value valid) {
  Value zero = emission.getConstant(0);
  Value columnStride = emission.getSize(tile::getStrides(form.compute, form.gradient)->strides[form.column]);
  emission.forRange(zero, length, lanes, [&](Value place) {
    Value mask = emission.getTailMask(lanes, emission.maximum(zero, emission.subtract(valid, place)));
    emission.forRange(zero, columns, lanes, [&](Value column) {
      Value from = emission.add(emission.add(source, place), emission.multiply(column, columnStride));
      SmallVector<Value> square =
          loadSquare(form.gradient, from, emission.subtract(columns, column), columnStride, mask);
      transposeSquare(builder, location, square);
      Value first = emission.add(target, place);
      for (auto [lane, values] : llvm::enumerate(square)) {
        Value row = emission.multiply(emission.add(first, emission.getConstant(lane)), emission.getConstant(width));
        vector::StoreOp::create(builder, location, values, panel, emission.add(row, column));
      }
    });
  });
}

/// Of the next part, what is prefetched while a panel is multiplied: the panel's columns of the output gradient, and a
/// share of the picture's channels. The address, the bytes from row to row, and the groups of rows.
SmallVector<Value, 3> WeightGradientEmitter::getGroups(unsigned input) {
  bool isPicture = input == form.picture;
  unsigned loop = isPicture ? *form.channel : form.column;
  Value zero = emission.getConstant(0), group = emission.getConstant(getGroupAhead(form.elementType));
  Value stride = emission.getSize(tile::getStrides(form.compute, input)->strides[loop]);
  Value groups = emission.ceilDivide(isPicture ? channels : columns, group), first = zero;
  if (isPicture) {
    Value number = emission.subtract(axes.ranges[WeightGradientAxis::panels].first, firstPanel);
    Value share = emission.ceilDivide(groups, panels);
    first = emission.multiply(number, share);
    groups = emission.maximum(zero, emission.minimum(share, emission.subtract(groups, first)));
  }
  groups = bringsNext ? select(bringsNext, groups, zero) : zero;
  Value at = emission.add(getLinear(input, part.nextImage, part.nextRow),
                          emission.multiply(emission.multiply(first, group), stride));
  int64_t bytes = tile::getStorageType(form.compute.getInputType(input).getElementType()).getIntOrFloatBitWidth() / 8;
  return {emission.getPointer(emission.getBuffer(form.compute.getInputs()[input]), at),
          toWord(emission.multiply(stride, emission.getConstant(bytes))), toWord(groups)};
}

void WeightGradientEmitter::multiplyTaps(const Part &part) {
  Value zero = emission.getConstant(0);
  Value sumRows = emission.multiply(emission.getSize(form.getPixelTaps()), channels);
  Value height = getBlockHeight(emission, sumRows, kernelShape.getRows()),
        depth = emission.multiply(part.rows, emission.getSize(form.getPlaces()));
  Value tapStep = emission.multiply(emission.getSize(tiles.pitch * tiles.pixelPitch),
                                    emission.getConstant(form.row ? form.row->dilation : 1));
  Value sumStep = emission.getSize(tiles.sumStep);
  emission.forRange(zero, emission.getSize(form.getRowTaps()), 1, [&](Value tap) {
    SmallVector<Value> arguments = {toWord(sumRows),
                                    toWord(height),
                                    toWord(emission.getConstant(width)),
                                    toWord(depth),
                                    emission.getPointer(planes, emission.multiply(tap, tapStep)),
                                    emission.getPointer(offsets, zero),
                                    emission.getPointer(panel, zero),
                                    emission.getPointer(sums, emission.add(firstSum, emission.multiply(tap, sumStep))),
                                    part.accumulates};
    if (areApart) {
      llvm::append_range(arguments, getGroups(form.picture));
      llvm::append_range(arguments, getGroups(form.gradient));
    } else {
      arguments.push_back(emission.getPointer(panel, zero));
      arguments.push_back(toWord(emission.getConstant(getPanelLines(form.elementType, kernelShape))));
    }
    func::CallOp::create(builder, location, kernel, arguments);
  });
}

/// The channels out of a panel, of a channel and its taps.
void WeightGradientEmitter::emitVectors(tile::VectorsAttr node) {
  using Axis = WeightGradientAxis;
  Value rowTap = axes.ranges[Axis::rowTaps].first, pixelTap = axes.ranges[Axis::pixelTaps].first;
  Value channel = emission.subtract(axes.ranges[Axis::channels].first, firstChannel);
  // Rows of a tap's row are its taps and channels; those of a value, or tap, channels.
  Value group = rowTap, row = emission.add(emission.multiply(pixelTap, channels), channel);
  if (tiles.transformed) {
    group = emission.add(emission.multiply(rowTap, emission.getSize(form.getPixelTaps())), pixelTap);
    row = channel;
  }
  evaluated.sums = emission.add(emission.add(firstSum, emission.multiply(group, emission.getSize(tiles.sumStep))),
                                emission.multiply(row, emission.getConstant(width)));
  auto walkBody = [&](Value column, unsigned, Value mask) {
    evaluated.column = column;
    evaluated.mask = mask;
    walk(node.getBody().getValue());
  };
  forVectors(emission.getConstant(0), columns, node.getLanes(), 1, walkBody,
             {form.getExtent(form.column), Expr::constant(builder.getContext(), width)});
}

void WeightGradientEmitter::emitEvaluate(tile::EvaluateAttr) {
  using Axis = WeightGradientAxis;
  Type resultType = tile::getScalarType(form.compute.getResultType(0).getElementType());
  Value column = evaluated.column;
  Value sum = vector::LoadOp::create(builder, location, vectorType, sums, emission.add(evaluated.sums, column));
  Positions positions = outer;
  positions.push_back({channelSymbol, axes.ranges[Axis::channels].first});
  positions.push_back({rowTapSymbol, axes.ranges[Axis::rowTaps].first});
  positions.push_back({pixelTapSymbol, axes.ranges[Axis::pixelTaps].first});
  positions.push_back({columnSymbol, emission.add(firstColumn, column)});
  LanePoints at{loops, positions, columnSymbol, static_cast<unsigned>(lanes), evaluated.mask};
  emitEpilogue(emission, form.compute, convertWidth(builder, location, sum, resultType), at);
}

void codegen::emitWeightGradient(tile::ProgramOp program, Emission &emission) {
  tile::WeightGradientForm form = *tile::WeightGradientForm::get(program.getComputes().front());
  tile::WeightGradientTiles tiles =
      tile::WeightGradientTiles::get(form, program.getTiling<tile::WeightGradientTilingAttr>());
  WeightGradientEmitter(emission, std::move(form), std::move(tiles)).emit();
}
