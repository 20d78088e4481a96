#include "compiler/codegen/cpu/EmitWindow.h"

#include "compiler/codegen/cpu/CopyPicture.h"
#include "compiler/codegen/cpu/WindowEmitter.h"
#include "compiler/plan/Classify.h"
#include "compiler/plan/FormTrees.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;
using tile::WindowAxis;

WindowEmitter::WindowEmitter(Emission &emission, tile::WindowForm window, tile::WindowTiles geometry)
    : TreeWalker(emission, ranges), form(std::move(window)), compute(form.compute), tiles(std::move(geometry)),
      lanes(tiles.lanes), sumType(compute.getInit(0).getType()), channelSymbol(emission.getPositionSymbol("channel")),
      rowSymbol(emission.getPositionSymbol("row")), pixelSymbol(emission.getPositionSymbol("pixel")),
      loops(compute.getNumLoops(), Expr::constant(builder.getContext(), 0)),
      ranges(SmallVector<AxisRange>(WindowAxis::taps + 1)) {
  for (auto [number, loop] : llvm::enumerate(form.outer)) {
    outer.push_back({emission.getPositionSymbol("o" + std::to_string(number)), Value()});
    loops[loop] = outer.back().symbol;
  }
  // Several channel loops are linearized into one.
  Expr number = channelSymbol;
  for (unsigned loop : llvm::reverse(form.channels)) {
    bool isOutermost = loop == form.channels.front();
    loops[loop] = isOutermost ? number : Expr::mod(number, form.getExtent(loop));
    number = Expr::floorDiv(number, form.getExtent(loop));
  }
  if (form.rowLoop)
    loops[*form.rowLoop] = rowSymbol;
  loops[form.pixelLoop] = pixelSymbol;
}

void WindowEmitter::emit() {
  // The same sizes as in the plan's `scratch`.
  copy = emission.takeScratch(form.elementType, tiles.copy);
  offsets = emission.takeScratch(builder.getI64Type(), tiles.offsets);
  sums = emission.takeScratch(sumType, tiles.sums);
  emitOffsets();
  // Padding reads all of the copy. Arbitrary bits may be denormal numbers, and slow.
  auto vectorType = VectorType::get({lanes}, form.elementType);
  Value nothing = arith::ConstantOp::create(builder, location, vectorType, builder.getZeroAttr(vectorType));
  emission.forRange(emission.getConstant(0), emission.getSize(tiles.copy), lanes,
                    [&](Value at) { vector::StoreOp::create(builder, location, nothing, copy, at); });
  axes.ranges[WindowAxis::channels] = {emission.getConstant(0), emission.getSize(form.getNumChannels())};
  if (int64_t beyond = tiles.tiling.getBringBeyond()) {
    Expr elements = tile::getStorageElements(compute.getInputType(form.picture)) +
                    tile::getStorageElements(compute.getResultType(0));
    bringsNext = compare(arith::CmpIPredicate::sgt, emission.getSize(elements), emission.getConstant(beyond));
  }
  ArrayAttr tree = tile::getTree(form, tiles, emission.program.getComputes().size());
  walkTiles(tree, form.getExtents(form.outer), outer,
            {{tiles.rowBlocks, tiles.rowStep, form.getRows()}, {tiles.pixelBlocks, tiles.pixelStep, form.getPixels()}});
}

void WindowEmitter::beginTile() {
  rows = dealt.end()[-2];
  pixels = dealt.back();
}

/// Emits the offset of each tap from the first, in the copy and in the other operands: equal for all tiles.
void WindowEmitter::emitOffsets() {
  Value count = emission.getSize(form.getNumTaps());
  emission.forRange(emission.getConstant(0), count, 1, [&](Value tap) {
    SmallVector<unsigned> tapLoops = form.getTaps();
    SmallVector<Value> taps = emission.unravel(tap, form.getExtents(tapLoops));
    for (unsigned input = 0; input < compute.getInputs().size(); ++input) {
      Value offset = emission.getConstant(0);
      if (input == form.picture) {
        offset = getOffsetInCopy(taps);
      } else {
        tile::LinearIndex linear = *tile::getStrides(compute, input);
        for (auto [loop, digit] : llvm::zip_equal(tapLoops, taps))
          offset = emission.add(offset, emission.multiply(digit, emission.getSize(linear.strides[loop])));
      }
      Value at = emission.add(tap, emission.multiply(count, emission.getConstant(input)));
      memref::StoreOp::create(builder, location, toWord(offset), offsets, ValueRange{at});
    }
  });
}

Value WindowEmitter::getOffsetInCopy(ArrayRef<Value> taps) {
  auto getDistance = [&](unsigned dim) {
    Value distance = emission.getConstant(0);
    for (auto [loop, digit] : llvm::zip_equal(form.getTaps(), taps))
      distance = emission.add(distance, emission.multiply(digit, emission.getConstant(form.getTapStep(dim, loop))));
    return distance;
  };
  Value offset = emission.getConstant(0);
  for (auto [dim, stride] : llvm::enumerate(tiles.strides))
    offset = emission.add(offset, emission.multiply(getDistance(dim), emission.getSize(stride)));
  Value distance = getDistance(tiles.strides.size()), stride = emission.getConstant(form.pixelStride);
  Value place = emission.divide(distance, stride), run = emission.subtract(distance, emission.multiply(place, stride));
  return emission.add(offset, emission.add(place, emission.multiply(run, emission.getSize(tiles.run))));
}

Positions WindowEmitter::getPositions(Value channel, Value row, Value pixel) {
  Positions positions = outer;
  positions.push_back({channelSymbol, channel});
  positions.push_back({rowSymbol, emission.add(rows.first, row)});
  positions.push_back({pixelSymbol, emission.add(pixels.first, pixel)});
  return positions;
}

void WindowEmitter::emitPacked(tile::PackedAttr, unsigned) {
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  PictureBox box;
  box.memory = emission.getBuffer(compute.getInputs()[form.picture]);
  box.type = compute.getInputType(form.picture);
  box.fill = compute.getFill(form.picture);
  Positions first = getPositions(zero, zero, zero);
  for (Expr index : tile::getIndices(compute, form.picture, loops))
    box.first.push_back(emission.getIndex(index, first));
  for (auto [dim, stride] : llvm::enumerate(tiles.strides)) {
    Value count = emission.getSize(form.getSpan(dim));
    if (dim == form.rowDim) {
      Value last = emission.subtract(emission.maximum(one, rows.count), one);
      count = emission.add(count, emission.multiply(last, emission.getConstant(form.rowStride)));
    }
    box.counts.push_back(count);
    box.strides.push_back(emission.getSize(stride));
  }
  box.stride = form.pixelStride;
  box.lanes = lanes;
  box.vectors = emission.divide(emission.getSize(tiles.run), emission.getConstant(lanes));
  auto widen = [&](Value values) -> Value {
    OperationState state(location, form.getWidening()->getName(), values, VectorType::get({lanes}, form.elementType));
    return builder.create(state)->getResult(0);
  };
  if (form.getWidening())
    box.convert = widen;
  copyPicture(emission, box, copy);
}

/// Blocks of channels and rows stand in registers.
void WindowEmitter::emitBlocks(tile::BlocksAttr blocks) {
  if (blocks.getAxis() == WindowAxis::taps)
    return reduceTaps(blocks);
  (blocks.getAxis() == WindowAxis::channels ? block.channels : block.rows) = *blocks.getStep().asConstant();
  forWholeBlocks(blocks, [&] { walk(blocks.getBody().getValue()); });
}

void WindowEmitter::emitVectors(tile::VectorsAttr node) {
  Value row = emission.subtract(axes.ranges[WindowAxis::rows].first, rows.first);
  SmallVector<unsigned> counts = {static_cast<unsigned>(node.getTogether())};
  if (node.getTogether() > 1)
    counts.push_back(1);
  auto walkBody = [&](Value pixel, unsigned count, Value mask) {
    block.row = row;
    block.pixel = pixel;
    block.vectors = count;
    block.mask = mask;
    walk(node.getBody().getValue());
  };
  forVectors(emission.getConstant(0), pixels.count, node.getLanes(), counts, walkBody,
             {form.getPixels(), tiles.pixelStep}, tiles.tiling.getOverlap());
}

/// The windows, within blocks of their taps, or what follows on their sums.
void WindowEmitter::emitEvaluate(tile::EvaluateAttr node) {
  if (!llvm::is_contained(node.getComputes(), 0))
    return emitResults();
  carried = block.tap ? reduceTap(carried) : reduceUnrolled(carried);
}

/// Sums the windows of a block. Sums go through scratch memory: the epilogue's code is emitted once, and computes no
/// padding.
void WindowEmitter::reduceTaps(tile::BlocksAttr taps) {
  // Padding channels compute the last channel again; padding rows read what the copy holds behind the picture.
  Value last = emission.subtract(emission.getSize(form.getNumChannels()), emission.getConstant(1));
  block.starts.assign(block.channels, {});
  for (auto [number, ofChannel] : llvm::enumerate(block.starts)) {
    Value channel = axes.ranges[WindowAxis::channels].first;
    Value at = emission.minimum(last, emission.add(channel, emission.getConstant(number)));
    Positions positions = getPositions(at, block.row, block.pixel);
    for (unsigned input = 0; input < compute.getInputs().size(); ++input) {
      Expr linear = tile::getLinearIndex(compute.getInputType(input), tile::getIndices(compute, input, loops));
      ofChannel.push_back(input == form.picture ? Value() : emission.getIndex(linear, positions));
    }
  }
  block.pictureRows = tiles.tiling.getInPlace() ? findRowsInPlace() : findRowsOfCopy();
  Value init = arith::ConstantOp::create(
      builder, location, DenseElementsAttr::get(VectorType::get({lanes}, sumType), Attribute(compute.getInit(0))));
  SmallVector<Value> begin(block.channels * block.rows * block.vectors, init);
  auto walkAt = [&](Value tap) {
    block.tap = tap;
    walk(taps.getBody().getValue());
  };
  SmallVector<Value> reduced = carry(begin, [&] {
    if (!taps.getStep().isConstant(1))
      return walkAt({});
    forRange(emission.getConstant(0), emission.getSize(form.getNumTaps()), emission.getConstant(1), walkAt);
  });
  for (auto [number, value] : llvm::enumerate(reduced))
    vector::StoreOp::create(builder, location, value, sums, emission.getConstant(number * lanes));
}

/// Loads a scalar operand shared by all pixels, at a tap by its places in the loops.
Value WindowEmitter::loadShared(unsigned input, Value start, ArrayRef<int64_t> digits) {
  tile::LinearIndex linear = *tile::getStrides(compute, input);
  Expr offset = Expr::constant(builder.getContext(), 0);
  for (auto [loop, digit] : llvm::zip_equal(form.getTaps(), digits))
    offset = offset + linear.strides[loop] * digit;
  return memref::LoadOp::create(builder, location, emission.getBuffer(compute.getInputs()[input]),
                                ValueRange{emission.add(start, emission.getSize(offset))});
}

/// The same for a tap by its number.
Value WindowEmitter::loadShared(unsigned input, Value start, Value tap) {
  Value number = emission.add(tap, emission.multiply(emission.getSize(form.getNumTaps()), emission.getConstant(input)));
  Value word = memref::LoadOp::create(builder, location, offsets, ValueRange{number});
  Value offset = arith::IndexCastOp::create(builder, location, builder.getIndexType(), word);
  return memref::LoadOp::create(builder, location, emission.getBuffer(compute.getInputs()[input]),
                                ValueRange{emission.add(start, offset)});
}

SmallVector<Value> WindowEmitter::reduceTap(ValueRange sums) {
  Value number = emission.add(
      block.tap, emission.multiply(emission.getSize(form.getNumTaps()), emission.getConstant(form.picture)));
  Value word = memref::LoadOp::create(builder, location, offsets, ValueRange{number});
  Value offset = arith::IndexCastOp::create(builder, location, builder.getIndexType(), word);
  auto vectorType = VectorType::get({lanes}, form.elementType);
  SmallVector<Value> elements;
  for (Value start : block.pictureRows)
    for (unsigned vector = 0; vector < block.vectors; ++vector) {
      Value at = emission.add(emission.add(start, offset), emission.getConstant(vector * lanes));
      elements.push_back(vector::LoadOp::create(builder, location, vectorType, copy, at));
    }
  SmallVector<Value> next;
  for (const SmallVector<Value> &ofChannel : block.starts) {
    SmallVector<Value> shared;
    for (auto [input, start] : llvm::enumerate(ofChannel))
      shared.push_back(start ? loadShared(input, start, block.tap) : Value());
    for (Value values : elements)
      next.push_back(accumulateElement(values, shared, sums[next.size()]));
  }
  return next;
}

/// Adds a vector of the picture's elements to a sum; `shared` has the other operands.
Value WindowEmitter::accumulateElement(Value values, ArrayRef<Value> shared, Value sum) {
  Operation *widening = form.getWidening();
  BodyVectorizer body(emission, compute, getPoints({}, Value()));
  body.set(widening ? widening->getResult(0) : Value(compute.getInputArgs()[form.picture]), values);
  for (auto [argument, value] : llvm::zip_equal(compute.getInputArgs(), shared))
    if (value)
      body.set(argument, value);
  return accumulateWindow(emission, body, compute, sum);
}

SmallVector<WindowEmitter::TapColumn> WindowEmitter::getTapColumns() {
  SmallVector<unsigned> loops = form.getTaps();
  SmallVector<int64_t> digits(loops.size(), 0);
  std::map<SmallVector<int64_t>, TapColumn> columns;
  while (true) {
    SmallVector<int64_t> distances(tiles.strides.size() + 1, 0);
    for (unsigned dim = 0; dim < distances.size(); ++dim)
      for (auto [loop, digit] : llvm::zip_equal(loops, digits))
        distances[dim] += digit * form.getTapStep(dim, loop);
    int64_t row = std::exchange(distances[*form.rowDim], 0);
    TapColumn &column = columns[distances];
    column.distances = distances;
    column.taps.push_back({row, digits});
    unsigned last = loops.size();
    while (last > 0 && ++digits[last - 1] == *form.getExtent(loops[last - 1]).asConstant())
      digits[--last] = 0;
    if (last == 0)
      break;
  }
  return llvm::map_to_vector(columns, [](auto &entry) { return entry.second; });
}

/// All taps, column by column: a vector of a column is loaded once, for all rows of the block that it belongs to.
SmallVector<Value> WindowEmitter::reduceUnrolled(SmallVector<Value> sums) {
  for (const TapColumn &column : getTapColumns()) {
    int64_t last = 0;
    // Of each channel, then tap.
    SmallVector<SmallVector<SmallVector<Value>>> shared(block.starts.size());
    for (auto [ofChannel, channelStarts] : llvm::zip_equal(shared, block.starts))
      for (const auto &[row, digits] : column.taps) {
        SmallVector<Value> &operands = ofChannel.emplace_back();
        last = std::max(last, row);
        for (auto [input, first] : llvm::enumerate(channelStarts))
          operands.push_back(first ? loadShared(input, first, digits) : Value());
      }
    last += (block.rows - 1) * form.rowStride;
    for (int64_t at = 0; at <= last; ++at)
      for (unsigned vector = 0; vector < block.vectors; ++vector) {
        Value values;
        for (auto [number, tap] : llvm::enumerate(column.taps)) {
          int64_t distanceOfRow = at - tap.first, row = distanceOfRow / form.rowStride;
          if (distanceOfRow < 0 || distanceOfRow % form.rowStride != 0 || row >= block.rows)
            continue;
          if (!values)
            values = tiles.tiling.getInPlace() ? loadInPlace(column, at, vector) : loadCopied(column, at, vector);
          for (auto [channel, ofChannel] : llvm::enumerate(shared)) {
            Value &sum = sums[(channel * block.rows + row) * block.vectors + vector];
            sum = accumulateElement(values, ofChannel[number], sum);
          }
        }
      }
  }
  return sums;
}

Value freestone::codegen::accumulateWindow(Emission &emission, BodyVectorizer &body, tile::ComputeOp compute,
                                           Value sum) {
  if (isa<FloatType>(compute.getInit(0).getType()) && tile::getContractionDims(compute)) {
    Operation *add = compute.getBody()->getTerminator()->getOperand(0).getDefiningOp();
    bool sumFirst = add->getOperand(0) == compute.getAccumulators()[0];
    Operation *product = add->getOperand(sumFirst ? 1 : 0).getDefiningOp();
    return vector::FMAOp::create(emission.builder, emission.location, body.getVector(product->getOperand(0)),
                                 body.getVector(product->getOperand(1)), sum);
  }
  body.set(compute.getAccumulators()[0], sum);
  return body.getVector(compute.getBody()->getTerminator()->getOperand(0));
}

void freestone::codegen::emitWindow(tile::ProgramOp program, Emission &emission) {
  tile::WindowForm form = *tile::WindowForm::get(program);
  tile::WindowTiles tiles = tile::WindowTiles::get(form, program.getTiling<tile::WindowTilingAttr>());
  WindowEmitter(emission, std::move(form), std::move(tiles)).emit();
}
