#include "compiler/codegen/cpu/EmitWindow.h"

#include "compiler/codegen/cpu/Epilogue.h"
#include "compiler/codegen/cpu/Pack.h"
#include "compiler/codegen/cpu/TreeWalker.h"
#include "compiler/plan/FormTrees.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;
using tile::ChannelVectorAxis;

namespace {

/// The nodes of a tree of windows with vectors along channels (`plan/FormTrees.h`). Where each channel of the picture
/// has windows of its own, as many neighbouring tiles of a worker are computed at a time as belong to a block of
/// channels.
class ChannelVectorEmitter : TreeWalker {
public:
  /// Of a program with a plan of windows.
  explicit ChannelVectorEmitter(Emission &emission);
  void emit();

private:
  void clearBox();
  void listPlaces();
  void listWindows();
  void listTaps();
  Value emitRun(ArrayAttr tree);
  void emitBlocks(tile::BlocksAttr blocks) override;
  void emitPacked(tile::PackedAttr node, unsigned depth) override;
  void emitEvaluate(tile::EvaluateAttr node) override;
  Positions getPositions(Value channel);
  Value getPictureStart(Value channel);
  SmallVector<Value> getStarts(llvm::function_ref<Value(Value)> ofChannel);
  void transposeRun(unsigned input, ArrayRef<Value> starts, Value from, Value count,
                    llvm::function_ref<void(ArrayRef<Value>)> store);
  void placeWeights();
  void packWeights();
  void transposePicture();
  void copyPlanes();
  Value getWeightBlock();
  void reduceWindows(Value first);
  void storeResults(Value first);
  void storeWord(Value value, Value memory, Value at) {
    memref::StoreOp::create(builder, location, toWord(value), memory, ValueRange{at});
  }
  Value loadWord(Value memory, Value at) {
    Value word = memref::LoadOp::create(builder, location, memory, ValueRange{at});
    return arith::IndexCastOp::create(builder, location, builder.getIndexType(), word);
  }
  Value loadVector(Value memory, Value at) { return vector::LoadOp::create(builder, location, vectorType, memory, at); }
  Value getConstant(int64_t value) { return emission.getConstant(value); }
  Value timesLanes(Value value) { return emission.multiply(value, getConstant(lanes)); }
  /// The elements of the box before a position of a plane.
  Value toElements(Value place) { return emission.multiply(place, getConstant(vectors.getUnit(lanes))); }
  LanePoints getPoints(Positions positions, Value mask) {
    return {loops, std::move(positions), resultSymbol, static_cast<unsigned>(lanes), mask};
  }

  /// Windows that are computed at a time: their sums hide the latency of the units, and share what a tap loads.
  static constexpr int64_t windowsOfBlock = 8;

  tile::WindowForm form;
  tile::ComputeOp compute;
  tile::ChannelVectors vectors;
  /// Positions of a box at most.
  int64_t lanes, most;
  /// Whether the last vector of results begins within the one before.
  bool overlaps;
  VectorType vectorType;
  /// Symbols of the results of a channel, and the positions of all loops: rows and pixels from the former.
  Expr channelSymbol, resultSymbol;
  SmallVector<Expr> loops;
  Positions outer;
  Value box, places, windows, taps, square, isPacked, weights;
  /// The picture's first row that windows see, their number, their positions, and channels.
  Value firstRow, rows, positions, channels;
  AxisRanges ranges;
  /// The current block of lanes, those of its lanes that are computed, and where its weights are packed.
  Value block, firstLane, laneCount, packedWeights;
};

} // namespace

ChannelVectorEmitter::ChannelVectorEmitter(Emission &emission)
    : TreeWalker(emission, ranges), form(*tile::WindowForm::get(emission.program)), compute(form.compute),
      vectors(*tile::ChannelVectors::get(form)), channelSymbol(emission.getPositionSymbol("channel")),
      resultSymbol(emission.getPositionSymbol("result")),
      loops(compute.getNumLoops(), Expr::constant(builder.getContext(), 0)),
      ranges(SmallVector<AxisRange>(ChannelVectorAxis::results + 1)) {
  auto tiling = emission.program.getTiling<tile::WindowTilingAttr>();
  lanes = tiling.getLanes();
  most = tiling.getChannelVectors();
  overlaps = tiling.getOverlap();
  vectorType = VectorType::get({lanes}, form.elementType);
  for (auto [number, loop] : llvm::enumerate(vectors.order)) {
    bool isChannel = loop == vectors.loop;
    outer.push_back({isChannel ? channelSymbol : emission.getPositionSymbol("o" + std::to_string(number)), Value()});
    loops[loop] = outer.back().symbol;
  }
  loops[vectors.loop] = channelSymbol;
  loops[form.pixelLoop] = form.rowLoop ? Expr::mod(resultSymbol, form.getPixels()) : resultSymbol;
  if (form.rowLoop)
    loops[*form.rowLoop] = Expr::floorDiv(resultSymbol, form.getPixels());
}

void ChannelVectorEmitter::emit() {
  // The same sizes as in the plan's `scratch`.
  auto take = [&](Type type, int64_t elements) {
    return emission.takeScratch(type, Expr::constant(builder.getContext(), elements));
  };
  Type word = builder.getI64Type();
  box = take(form.elementType, vectors.getBoxElements(most, lanes));
  places = take(word, tile::ChannelVectors::getNumPlaces(most, lanes));
  windows = take(word, tile::ChannelVectors::getNumPlaces(most, lanes));
  taps = take(word, vectors.taps);
  square = take(form.elementType, lanes * lanes);
  isPacked = emission.takeScratch(word, vectors.getWeightBlocks(form, lanes));
  weights = emission.takeScratch(form.elementType, vectors.getWeightElements(form, lanes));
  Value zero = getConstant(0);
  channels = emission.getSize(form.getExtent(vectors.loop));
  Value begin = emission.getSize(vectors.firstRow), all = emission.getSize(vectors.pictureRows);
  Value end = emission.minimum(all, emission.add(begin, emission.getSize(vectors.boxRows)));
  firstRow = emission.maximum(zero, begin);
  rows = emission.maximum(zero, emission.subtract(end, firstRow));
  positions = emission.multiply(rows, emission.getSize(vectors.picturePixels));
  clearBox();
  if (!vectors.sharesPicture)
    listPlaces();
  listWindows();
  listTaps();
  emission.forRange(zero, emission.getSize(vectors.getWeightBlocks(form, lanes)), 1,
                    [&](Value block) { storeWord(zero, isPacked, block); });
  axes.ranges[ChannelVectorAxis::results] = {zero, emission.getSize(vectors.results)};
  ArrayAttr tree = tile::getTree(form, vectors, lanes, emission.program.getComputes().size());
  emission.forTileRuns([&](Value number) {
    tile = number;
    return emitRun(tree);
  });
}

/// The border stays as it is for all tiles.
void ChannelVectorEmitter::clearBox() {
  TypedAttr fill = compute.getFill(form.picture);
  Attribute element = fill ? Attribute(fill) : Attribute(builder.getZeroAttr(form.elementType));
  Value nothing = arith::ConstantOp::create(builder, location, DenseElementsAttr::get(vectorType, element));
  Value count = emission.getSize(vectors.boxRows * vectors.boxPixels * (vectors.planes * vectors.getUnit(lanes)));
  emission.forRange(getConstant(0), count, lanes,
                    [&](Value at) { vector::StoreOp::create(builder, location, nothing, box, at); });
}

/// Where the picture's positions are in the box: behind it, where no window sees them.
void ChannelVectorEmitter::listPlaces() {
  Value zero = getConstant(0), pixels = emission.getSize(vectors.picturePixels), nowhere = getConstant(most * lanes);
  Value boxPixels = emission.getSize(vectors.boxPixels), firstPixel = emission.getSize(vectors.firstPixel);
  emission.forRange(zero, rows, 1, [&](Value row) {
    Value inBox = emission.subtract(emission.add(firstRow, row), emission.getSize(vectors.firstRow));
    emission.forRange(zero, pixels, 1, [&](Value pixel) {
      Value distance = emission.subtract(pixel, firstPixel);
      // Unsigned: what is before the box compares as large.
      Value isInside = compare(arith::CmpIPredicate::ult, distance, boxPixels);
      Value place = timesLanes(emission.add(emission.multiply(inBox, boxPixels), distance));
      storeWord(select(isInside, place, nowhere), places, emission.add(emission.multiply(row, pixels), pixel));
    });
  });
  emission.forRange(positions, emission.add(positions, getConstant(lanes)), 1,
                    [&](Value at) { storeWord(nowhere, places, at); });
}

/// The place of each window's first tap; those behind the last one are the first.
void ChannelVectorEmitter::listWindows() {
  Value zero = getConstant(0), pixels = emission.getSize(form.getPixels()), count = emission.getSize(vectors.results);
  Value ofRow = emission.getSize(vectors.boxPixels * form.rowStride);
  emission.forRange(zero, emission.getSize(form.getRows()), 1, [&](Value row) {
    emission.forRange(zero, pixels, 1, [&](Value pixel) {
      Value place =
          emission.add(emission.multiply(row, ofRow), emission.multiply(pixel, getConstant(form.pixelStride)));
      storeWord(toElements(place), windows, emission.add(emission.multiply(row, pixels), pixel));
    });
  });
  emission.forRange(count, emission.add(count, getConstant(lanes)), 1, [&](Value at) { storeWord(zero, windows, at); });
}

/// The distance of each tap from the first one.
void ChannelVectorEmitter::listTaps() {
  SmallVector<unsigned> tapLoops = form.getTaps();
  unsigned pixelDim = compute.getInputType(form.picture).getRank() - 1;
  emission.forRange(getConstant(0), getConstant(vectors.taps), 1, [&](Value tap) {
    Value row = getConstant(0), pixel = row, plane = row;
    for (auto [loop, digit] : llvm::zip_equal(tapLoops, emission.unravel(tap, form.getExtents(tapLoops)))) {
      if (form.rowDim)
        row = emission.add(row, emission.multiply(digit, getConstant(form.getTapStep(*form.rowDim, loop))));
      pixel = emission.add(pixel, emission.multiply(digit, getConstant(form.getTapStep(pixelDim, loop))));
      if (loop == vectors.planeLoop)
        plane = digit;
    }
    row = emission.add(emission.multiply(plane, emission.getSize(vectors.boxRows)), row);
    Value place = emission.add(emission.multiply(row, emission.getSize(vectors.boxPixels)), pixel);
    storeWord(toElements(place), taps, tap);
  });
}

/// The tiles from the current one on that are computed together, and their number.
Value ChannelVectorEmitter::emitRun(ArrayAttr tree) {
  digits = emission.unravel(tile, form.getExtents(vectors.order));
  for (auto [position, digit] : llvm::zip_equal(outer, digits))
    position.value = digit;
  dealt.assign(1, AxisRange());
  if (vectors.sharesPicture) {
    walkTile(tree);
    return getConstant(1);
  }
  Value width = getConstant(lanes), channel = digits.back();
  block = emission.divide(channel, width);
  firstLane = emission.subtract(channel, timesLanes(block));
  laneCount =
      emission.minimum(emission.minimum(emission.subtract(width, firstLane), emission.subtract(channels, channel)),
                       emission.subtract(emission.end, tile));
  dealt.back() = {channel, laneCount};
  if (vectors.order.size() > 1)
    dealt.insert(dealt.begin(), AxisRange());
  walkTile(tree);
  return laneCount;
}

void ChannelVectorEmitter::emitBlocks(tile::BlocksAttr blocks) {
  ArrayRef<Attribute> nodes = blocks.getBody().getValue();
  if (blocks.getAxis() == ChannelVectorAxis::results) {
    if (vectors.sharesPicture)
      laneCount = emission.minimum(getConstant(lanes), emission.subtract(channels, timesLanes(block)));
    return forWholeBlocks(blocks, [&] { walk(nodes); });
  }
  firstLane = getConstant(0);
  emission.forRange(firstLane, emission.getSize(vectors.getBlocks(form, lanes)), 1, [&](Value number) {
    block = number;
    walk(nodes);
  });
}

void ChannelVectorEmitter::emitPacked(tile::PackedAttr node, unsigned) {
  if (node.getInput() != form.picture)
    placeWeights();
  else if (vectors.sharesPicture)
    copyPlanes();
  else
    transposePicture();
}

void ChannelVectorEmitter::emitEvaluate(tile::EvaluateAttr) {
  Value result = axes.ranges[ChannelVectorAxis::results].first;
  if (overlaps) {
    Value last = emission.subtract(emission.getSize(vectors.results), getConstant(lanes));
    result = emission.minimum(result, emission.maximum(getConstant(0), last));
  }
  reduceWindows(result);
  storeResults(result);
}

/// Weights of a block are packed once, for all tiles of the worker.
void ChannelVectorEmitter::placeWeights() {
  Value number = getWeightBlock();
  packedWeights = emission.multiply(number, getConstant(vectors.getPaddedTaps(lanes) * lanes));
  emitIf(compare(arith::CmpIPredicate::eq, loadWord(isPacked, number), getConstant(0)), [&] {
    storeWord(getConstant(1), isPacked, number);
    packWeights();
  });
}

/// The number of a block of channels with weights of its own.
Value ChannelVectorEmitter::getWeightBlock() {
  Value number = getConstant(0);
  for (unsigned loop : vectors.getWeightLoops(form)) {
    Value digit = digits[llvm::find(vectors.order, loop) - vectors.order.begin()];
    number = emission.add(emission.multiply(number, emission.getSize(form.getExtent(loop))), digit);
  }
  return emission.add(emission.multiply(number, emission.getSize(vectors.getBlocks(form, lanes))), block);
}

Positions ChannelVectorEmitter::getPositions(Value channel) {
  Positions at = outer;
  if (vectors.sharesPicture)
    at.push_back({channelSymbol, channel});
  else
    at.back().value = channel;
  return at;
}

/// Of the first row that windows see, at the first plane.
Value ChannelVectorEmitter::getPictureStart(Value channel) {
  SmallVector<Expr> indices = tile::getIndices(compute, form.picture, loops);
  Expr rowSymbol = emission.getPositionSymbol("first_row");
  if (form.rowDim)
    indices[*form.rowDim] = rowSymbol;
  indices.back() = Expr::constant(builder.getContext(), 0);
  Positions at = getPositions(channel);
  at.push_back({rowSymbol, firstRow});
  return emission.getIndex(tile::getLinearIndex(compute.getInputType(form.picture), indices), at);
}

/// Of each channel of a block; beyond the last one this one's again.
SmallVector<Value> ChannelVectorEmitter::getStarts(llvm::function_ref<Value(Value)> ofChannel) {
  Value last = emission.subtract(channels, getConstant(1)), first = timesLanes(block);
  SmallVector<Value> starts;
  for (int64_t lane = 0; lane < lanes; ++lane)
    starts.push_back(ofChannel(emission.minimum(last, emission.add(first, getConstant(lane)))));
  return starts;
}

/// Elements of all channels of a block: of each, `count` of them follow each other; a vector of them is transposed at a
/// time.
void ChannelVectorEmitter::transposeRun(unsigned input, ArrayRef<Value> starts, Value from, Value count,
                                        llvm::function_ref<void(ArrayRef<Value>)> store) {
  Value memory = emission.getBuffer(compute.getInputs()[input]);
  Value zeros = arith::ConstantOp::create(builder, location, vectorType, builder.getZeroAttr(vectorType));
  Value mask = emission.getTailMask(lanes, emission.minimum(getConstant(lanes), emission.subtract(count, from)));
  SmallVector<Value> rows;
  for (Value start : starts)
    rows.push_back(
        vector::MaskedLoadOp::create(builder, location, vectorType, memory, emission.add(start, from), mask, zeros));
  transposeSquare(builder, location, rows);
  store(rows);
}

/// As they lie in memory.
void ChannelVectorEmitter::packWeights() {
  unsigned input = *vectors.weights;
  Expr linear = tile::getLinearIndex(compute.getInputType(input), tile::getIndices(compute, input, loops));
  if (vectors.mirrored)
    linear = linear - (vectors.taps - 1);
  SmallVector<Value> starts =
      getStarts([&](Value channel) { return emission.getIndex(linear, getPositions(channel)); });
  emission.forRange(getConstant(0), getConstant(vectors.getPaddedTaps(lanes)), lanes, [&](Value tap) {
    transposeRun(input, starts, tap, getConstant(vectors.taps), [&](ArrayRef<Value> rows) {
      for (auto [number, values] : llvm::enumerate(rows))
        vector::StoreOp::create(builder, location, values, weights,
                                emission.add(packedWeights, timesLanes(emission.add(tap, getConstant(number)))));
    });
  });
}

void ChannelVectorEmitter::transposePicture() {
  SmallVector<Value> starts = getStarts([&](Value channel) { return getPictureStart(channel); });
  emission.forRange(getConstant(0), positions, lanes, [&](Value position) {
    transposeRun(form.picture, starts, position, positions, [&](ArrayRef<Value> rows) {
      for (auto [number, values] : llvm::enumerate(rows))
        vector::StoreOp::create(builder, location, values, box,
                                loadWord(places, emission.add(position, getConstant(number))));
    });
  });
}

/// The pixels of each row that windows see, in vectors.
void ChannelVectorEmitter::copyPlanes() {
  Value zero = getConstant(0), pixels = emission.getSize(vectors.picturePixels);
  Value boxPixels = emission.getSize(vectors.boxPixels), firstPixel = emission.getSize(vectors.firstPixel);
  Value begin = emission.maximum(zero, firstPixel), end = emission.minimum(pixels, emission.add(firstPixel, boxPixels));
  Value start = getPictureStart(zero), inBox = emission.subtract(firstRow, emission.getSize(vectors.firstRow));
  Value memory = emission.getBuffer(compute.getInputs()[form.picture]);
  Value nothing = arith::ConstantOp::create(builder, location, vectorType, builder.getZeroAttr(vectorType));
  emission.forRange(zero, getConstant(vectors.planes), 1, [&](Value plane) {
    Value ofPlane = emission.add(start, emission.multiply(plane, emission.getSize(vectors.planeStride)));
    Value rowOfBox = emission.add(emission.multiply(plane, emission.getSize(vectors.boxRows)), inBox);
    emission.forRange(zero, rows, 1, [&](Value row) {
      Value source = emission.add(ofPlane, emission.multiply(row, pixels));
      Value target = emission.subtract(emission.multiply(emission.add(rowOfBox, row), boxPixels), firstPixel);
      emission.forRange(begin, end, lanes, [&](Value pixel) {
        Value left = emission.minimum(getConstant(lanes), emission.subtract(end, pixel));
        Value mask = emission.getTailMask(lanes, left);
        Value values = vector::MaskedLoadOp::create(builder, location, vectorType, memory, emission.add(source, pixel),
                                                    mask, nothing);
        vector::MaskedStoreOp::create(builder, location, box, emission.add(target, pixel), mask, values);
      });
    });
  });
}

/// The results of a vector of windows: into the square, a row each.
void ChannelVectorEmitter::reduceWindows(Value first) {
  Value init =
      arith::ConstantOp::create(builder, location, DenseElementsAttr::get(vectorType, Attribute(compute.getInit(0))));
  int64_t together = std::min(lanes, windowsOfBlock);
  emission.forRange(getConstant(0), getConstant(lanes), together, [&](Value window) {
    Value from = emission.add(first, window);
    emitIf(compare(arith::CmpIPredicate::slt, from, emission.getSize(vectors.results)), [&] {
      SmallVector<Value> starts;
      for (int64_t number = 0; number < together; ++number)
        starts.push_back(loadWord(windows, emission.add(from, getConstant(number))));
      auto loop = scf::ForOp::create(builder, location, getConstant(0), getConstant(vectors.taps), getConstant(1),
                                     SmallVector<Value>(together, init));
      {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(loop.getBody());
        Value tap = loop.getInductionVar(), distance = loadWord(taps, tap), weight;
        if (vectors.weights) {
          Value place = vectors.mirrored ? emission.subtract(getConstant(vectors.taps - 1), tap) : tap;
          weight = loadVector(weights, emission.add(packedWeights, timesLanes(place)));
        }
        SmallVector<Value> next;
        for (auto [start, sum] : llvm::zip_equal(starts, loop.getRegionIterArgs())) {
          BodyVectorizer body(emission, compute, getPoints({}, Value()));
          Value place = emission.add(start, distance), element;
          if (vectors.sharesPicture)
            element = memref::LoadOp::create(builder, location, box, ValueRange{place});
          else
            element = loadVector(box, place);
          body.set(compute.getInputArgs()[form.picture], element);
          if (weight)
            body.set(compute.getInputArgs()[*vectors.weights], weight);
          next.push_back(accumulateWindow(emission, body, compute, sum));
        }
        scf::YieldOp::create(builder, location, next);
      }
      for (auto [number, sum] : llvm::enumerate(loop.getResults()))
        vector::StoreOp::create(builder, location, sum, square, timesLanes(emission.add(window, getConstant(number))));
    });
  });
}

/// Transposes the square back, and computes what follows on the results of each channel: a row. A whole square is
/// stored from registers, without masks.
void ChannelVectorEmitter::storeResults(Value first) {
  SmallVector<Value> rows;
  for (int64_t row = 0; row < lanes; ++row)
    rows.push_back(loadVector(square, getConstant(row * lanes)));
  transposeSquare(builder, location, rows);
  Type resultType = tile::getScalarType(compute.getResultType(0).getElementType());
  auto getRow = [&](Value values, Value lane, Value mask) {
    Positions at = getPositions(emission.add(timesLanes(block), lane));
    at.push_back({resultSymbol, first});
    return EpilogueArguments{convertWidth(builder, location, values, resultType), getPoints(std::move(at), mask), {}};
  };
  Value left = emission.subtract(emission.getSize(vectors.results), first);
  Value isWhole = arith::AndIOp::create(builder, location, compare(arith::CmpIPredicate::sge, left, getConstant(lanes)),
                                        compare(arith::CmpIPredicate::eq, laneCount, getConstant(lanes)));
  auto storeWhole = [&] {
    SmallVector<EpilogueArguments> all;
    for (auto [lane, values] : llvm::enumerate(rows))
      all.push_back(getRow(values, getConstant(lane), Value()));
    emitEpilogues(emission, compute, all);
  };
  auto storePart = [&] {
    for (auto [lane, values] : llvm::enumerate(rows))
      vector::StoreOp::create(builder, location, values, square, getConstant(lane * lanes));
    Value mask = emission.getTailMask(lanes, emission.minimum(getConstant(lanes), left));
    emission.forRange(firstLane, emission.add(firstLane, laneCount), 1, [&](Value lane) {
      emitEpilogues(emission, compute, getRow(loadVector(square, timesLanes(lane)), lane, mask));
    });
  };
  emitIf(isWhole, storeWhole, storePart);
}

void freestone::codegen::emitChannelVectors(tile::ProgramOp, Emission &emission) {
  ChannelVectorEmitter(emission).emit();
}
