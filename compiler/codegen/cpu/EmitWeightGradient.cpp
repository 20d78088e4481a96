#include "compiler/codegen/cpu/EmitWeightGradient.h"

#include "compiler/codegen/cpu/Epilogue.h"
#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/Pack.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/WeightGradientTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

class WeightGradientEmitter {
public:
  WeightGradientEmitter(Emission &emission, tile::WeightGradientForm form, tile::WeightGradientTilingAttr tiling);
  void emit();

private:
  void emitOffsets();
  void emitTile(Value tile);
  void clearSums(Value panels);
  void setPanel(Value number);
  void copyPicture(Value image, Value firstRow, Value rows);
  void copyPlaneRow(Value source, Value target, Value begin, Value end);
  void packGradient(Value image, Value firstRow, Value rows);
  void packRun(Value source, Value target, Value length);
  void multiplyTaps(Value rows);
  void emitSums();
  SmallVector<Expr> getIndices(unsigned input);
  Positions getPositions(Value image, Value row, Value column);
  Value getLinear(unsigned input, Value image, Value row);
  SmallVector<Value> loadSquare(unsigned input, Value from, Value count, Value stride, Value mask);
  Value getChannels() { return emission.getSize(form.getExtent(form.channel)); }
  Value toWord(Value index) { return arith::IndexCastOp::create(builder, location, builder.getI64Type(), index); }

  Emission &emission;
  OpBuilder &builder;
  Location location;
  tile::WeightGradientForm form;
  tile::WeightGradientTiles tiles;
  tile::MicroKernelAttr kernelShape;
  int64_t width, lanes;
  VectorType vectorType;
  /// Symbols of the loops that vary within a tile, at the first tap.
  Expr imageSymbol, rowSymbol, columnSymbol, channelSymbol, rowTapSymbol, pixelTapSymbol;
  SmallVector<Expr> loops;
  Positions outer;
  func::FuncOp kernel;
  Value planes, offsets, panel, sums;
  /// The first panel of the current tile; the output channels of the current panel, and the place of its sums.
  Value firstPanel, firstColumn, columns, firstSum;
};

} // namespace

WeightGradientEmitter::WeightGradientEmitter(Emission &emission, tile::WeightGradientForm gradient,
                                             tile::WeightGradientTilingAttr tiling)
    : emission(emission), builder(emission.builder), location(emission.location), form(std::move(gradient)),
      tiles(tile::WeightGradientTiles::get(form, tiling)), kernelShape(tiling.getKernel()),
      width(kernelShape.getWidth()), lanes(kernelShape.getLanes()), imageSymbol(emission.getPositionSymbol("image")),
      rowSymbol(emission.getPositionSymbol("row")), columnSymbol(emission.getPositionSymbol("column")),
      channelSymbol(emission.getPositionSymbol("channel")), rowTapSymbol(emission.getPositionSymbol("rowTap")),
      pixelTapSymbol(emission.getPositionSymbol("pixelTap")),
      loops(form.compute.getNumLoops(), Expr::constant(builder.getContext(), 0)) {
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
  loops[form.pixel.tap] = pixelTapSymbol;
  for (auto [number, loop] : llvm::enumerate(form.outer)) {
    outer.push_back({emission.getPositionSymbol("o" + std::to_string(number)), Value()});
    loops[loop] = outer.back().symbol;
  }
}

void WeightGradientEmitter::emit() {
  kernel = declareKernel(builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>(), KernelKind::window,
                         form.elementType, kernelShape);
  // The same sizes as in the plan's `scratch`.
  planes = emission.takeScratch(form.elementType, tiles.planes);
  offsets = emission.takeScratch(builder.getI64Type(), tiles.offsets);
  panel = emission.takeScratch(form.elementType, tiles.panel);
  sums = emission.takeScratch(form.elementType, tiles.sums);
  emitOffsets();
  emission.forTiles([&](Value tile) { emitTile(tile); });
}

/// Offsets of each position's first tap in the copied picture: equal for all row blocks.
void WeightGradientEmitter::emitOffsets() {
  Value zero = emission.getConstant(0), places = emission.getSize(form.getPlaces()), channels = getChannels();
  Value rowStep =
      emission.multiply(emission.getSize(tiles.pitch), emission.getConstant(form.row ? form.row->stride : 1));
  emission.forRange(zero, emission.getSize(tiles.rowStep), 1, [&](Value row) {
    emission.forRange(zero, places, 1, [&](Value place) {
      Value pixel = emission.add(emission.multiply(row, rowStep),
                                 emission.multiply(place, emission.getConstant(form.pixel.stride)));
      Value at = emission.add(emission.multiply(row, places), place);
      memref::StoreOp::create(builder, location, toWord(emission.multiply(pixel, channels)), offsets, ValueRange{at});
    });
  });
}

void WeightGradientEmitter::emitTile(Value tile) {
  SmallVector<Expr> grid = llvm::map_to_vector(form.outer, [&](unsigned loop) { return form.getExtent(loop); });
  grid.push_back(tiles.panelBlocks);
  SmallVector<Value> digits = emission.unravel(tile, grid);
  for (auto [position, digit] : llvm::zip(outer, digits))
    position.value = digit;
  Value zero = emission.getConstant(0), rowStep = emission.getSize(tiles.rowStep),
        allRows = emission.getSize(form.getRows());
  firstPanel = emission.multiply(digits.back(), emission.getSize(tiles.panelStep));
  // The last block may have fewer panels, or none.
  Value allPanels = emission.getSize(Expr::ceilDiv(form.getExtent(form.column), width));
  Value panels = emission.maximum(
      zero, emission.minimum(emission.getSize(tiles.panelStep), emission.subtract(allPanels, firstPanel)));
  clearSums(panels);
  setPanel(zero);
  emission.forRange(zero, emission.getSize(form.getExtent(form.image)), 1, [&](Value image) {
    emission.forRange(zero, emission.getSize(tiles.rowBlocks), 1, [&](Value block) {
      Value firstRow = emission.multiply(block, rowStep);
      Value rows = emission.maximum(zero, emission.minimum(rowStep, emission.subtract(allRows, firstRow)));
      copyPicture(image, firstRow, rows);
      emission.forRange(zero, panels, 1, [&](Value number) {
        setPanel(number);
        packGradient(image, firstRow, rows);
        multiplyTaps(rows);
      });
    });
  });
  emission.forRange(zero, panels, 1, [&](Value number) {
    setPanel(number);
    emitSums();
  });
}

void WeightGradientEmitter::clearSums(Value panels) {
  Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(vectorType));
  emission.forRange(emission.getConstant(0), emission.multiply(panels, emission.getSize(tiles.panelSums)), lanes,
                    [&](Value at) { vector::StoreOp::create(builder, location, zeros, sums, at); });
}

/// Sets the current panel, by its number in the tile.
void WeightGradientEmitter::setPanel(Value number) {
  firstColumn = emission.multiply(emission.add(firstPanel, number), emission.getConstant(width));
  columns = emission.minimum(emission.getConstant(width),
                             emission.subtract(emission.getSize(form.getExtent(form.column)), firstColumn));
  firstSum = emission.multiply(number, emission.getSize(tiles.panelSums));
}

SmallVector<Expr> WeightGradientEmitter::getIndices(unsigned input) {
  return tile::getIndices(form.compute, input, loops);
}

Positions WeightGradientEmitter::getPositions(Value image, Value row, Value column) {
  Positions positions = outer;
  Value zero = emission.getConstant(0);
  positions.push_back({imageSymbol, image});
  positions.push_back({rowSymbol, row});
  positions.push_back({columnSymbol, column});
  for (Expr symbol : {channelSymbol, rowTapSymbol, pixelTapSymbol})
    positions.push_back({symbol, zero});
  return positions;
}

/// The memory index of an operand at the first position of a row, the first tap and channel.
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
    square.push_back(convertWidth(builder, location, values, form.elementType));
  }
  return square;
}

void WeightGradientEmitter::copyPicture(Value image, Value firstRow, Value rows) {
  graph::TensorType type = form.compute.getInputType(form.picture);
  SmallVector<Expr> indices = getIndices(form.picture);
  Positions first = getPositions(image, firstRow, firstColumn);
  Value zero = emission.getConstant(0), one = emission.getConstant(1), planeRows = one, rowStride = zero, rowAt = zero;
  Value start = getLinear(form.picture, image, firstRow), pitch = emission.getSize(tiles.pitch);
  if (form.row) {
    Expr elements = Expr::constant(builder.getContext(), 1);
    for (Expr extent : type.getShape().drop_front(form.row->dim + 1))
      elements = elements * extent;
    rowStride = emission.getSize(elements);
    rowAt = emission.getIndex(indices[form.row->dim], first);
    Value span = emission.getSize((form.getRowTaps() - 1) * form.row->dilation + 1);
    planeRows =
        emission.add(emission.multiply(emission.subtract(rows, one), emission.getConstant(form.row->stride)), span);
  }
  // The elements of a row that are in bounds.
  Value pixelAt = emission.getIndex(indices[form.pixel.dim], first);
  Value begin = emission.maximum(zero, emission.subtract(zero, pixelAt));
  Value end = emission.minimum(pitch, emission.subtract(emission.getSize(type.getShape()[form.pixel.dim]), pixelAt));
  emission.forRange(zero, planeRows, 1, [&](Value row) {
    Value last = end;
    if (form.row) {
      // Unsigned, so that a negative row compares as a large one.
      Value inside = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult, emission.add(rowAt, row),
                                           emission.getSize(type.getShape()[form.row->dim]));
      last = arith::SelectOp::create(builder, location, inside, end, zero);
    }
    Value target = emission.multiply(emission.multiply(row, pitch), getChannels());
    copyPlaneRow(emission.add(start, emission.multiply(row, rowStride)), target, begin, last);
  });
}

/// Pixel by pixel with all channels; elements written past the end of a row are overwritten by the next row.
void WeightGradientEmitter::copyPlaneRow(Value source, Value target, Value begin, Value end) {
  Value zero = emission.getConstant(0), channels = getChannels();
  Value channelStride = zero;
  if (form.channel)
    channelStride = emission.getSize(tile::getStrides(form.compute, form.picture)->strides[*form.channel]);
  emission.forRange(zero, emission.getSize(tiles.pitch), lanes, [&](Value pixel) {
    auto laneOf = [&](Value at) { return emission.maximum(zero, emission.subtract(at, pixel)); };
    Value until = laneOf(end);
    Value mask =
        arith::XOrIOp::create(builder, location, emission.getTailMask(lanes, emission.minimum(laneOf(begin), until)),
                              emission.getTailMask(lanes, until));
    Value from = emission.add(source, pixel), to = emission.add(target, emission.multiply(pixel, channels));
    if (form.getExtent(form.channel).isConstant(1)) {
      Value values = loadSquare(form.picture, from, emission.getConstant(1), zero, mask).front();
      vector::StoreOp::create(builder, location, values, planes, to);
      return;
    }
    emission.forRange(zero, channels, lanes, [&](Value channel) {
      Value left = emission.subtract(channels, channel);
      SmallVector<Value> square = loadSquare(
          form.picture, emission.add(from, emission.multiply(channel, channelStride)), left, channelStride, mask);
      transposeSquare(builder, location, square);
      Value stored = emission.getTailMask(lanes, left), place = emission.add(to, channel);
      for (auto [lane, values] : llvm::enumerate(square)) {
        Value at = emission.add(place, emission.multiply(emission.getConstant(lane), channels));
        vector::MaskedStoreOp::create(builder, location, planes, at, stored, values);
      }
    });
  });
}

void WeightGradientEmitter::packGradient(Value image, Value firstRow, Value rows) {
  Value zero = emission.getConstant(0), places = emission.getSize(form.getPlaces());
  Value start = getLinear(form.gradient, image, firstRow);
  if (!form.row)
    return packRun(start, zero, places);
  Expr rowStride = tile::getStrides(form.compute, form.gradient)->strides[form.row->place];
  if (rowStride == form.getPlaces())
    return packRun(start, zero, emission.multiply(rows, places));
  emission.forRange(zero, rows, 1, [&](Value row) {
    packRun(emission.add(start, emission.multiply(row, emission.getSize(rowStride))), emission.multiply(row, places),
            places);
  });
}

/// Packs positions that are contiguous in memory, from number `target` on; squares past the end are overwritten, or
/// scratch.
void WeightGradientEmitter::packRun(Value source, Value target, Value length) {
  Value zero = emission.getConstant(0);
  Value columnStride = emission.getSize(tile::getStrides(form.compute, form.gradient)->strides[form.column]);
  emission.forRange(zero, length, lanes, [&](Value place) {
    Value mask = emission.getTailMask(lanes, emission.subtract(length, place));
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

void WeightGradientEmitter::multiplyTaps(Value rows) {
  Value zero = emission.getConstant(0);
  Value sumRows = emission.multiply(emission.getSize(form.getPixelTaps()), getChannels());
  Value height = getBlockHeight(emission, sumRows, kernelShape.getRows()),
        depth = emission.multiply(rows, emission.getSize(form.getPlaces()));
  Value tapStep = emission.multiply(emission.multiply(emission.getSize(tiles.pitch), getChannels()),
                                    emission.getConstant(form.row ? form.row->dilation : 1));
  Value sumStep = emission.getSize(tiles.sumRows * width);
  emission.forRange(zero, emission.getSize(form.getRowTaps()), 1, [&](Value tap) {
    func::CallOp::create(builder, location, kernel,
                         ValueRange{toWord(sumRows), toWord(height), toWord(depth),
                                    emission.getPointer(planes, emission.multiply(tap, tapStep)),
                                    emission.getPointer(offsets, zero), emission.getPointer(panel, zero),
                                    emission.getPointer(sums, emission.add(firstSum, emission.multiply(tap, sumStep))),
                                    toWord(emission.getConstant(1)), emission.getPointer(panel, zero),
                                    toWord(emission.getConstant(prefetchingBlocks))});
  });
}

void WeightGradientEmitter::emitSums() {
  Value zero = emission.getConstant(0), channels = getChannels();
  Type resultType = tile::getScalarType(form.compute.getResultType(0).getElementType());
  Value sumStep = emission.getSize(tiles.sumRows * width);
  emission.forRange(zero, emission.getSize(form.getRowTaps()), 1, [&](Value rowTap) {
    emission.forRange(zero, emission.getSize(form.getPixelTaps()), 1, [&](Value pixelTap) {
      emission.forRange(zero, channels, 1, [&](Value channel) {
        Value row = emission.add(emission.multiply(pixelTap, channels), channel);
        Value from = emission.add(emission.add(firstSum, emission.multiply(rowTap, sumStep)),
                                  emission.multiply(row, emission.getConstant(width)));
        emission.forRange(zero, columns, lanes, [&](Value column) {
          Value sum = vector::LoadOp::create(builder, location, vectorType, sums, emission.add(from, column));
          Positions positions = outer;
          positions.push_back({channelSymbol, channel});
          positions.push_back({rowTapSymbol, rowTap});
          positions.push_back({pixelTapSymbol, pixelTap});
          positions.push_back({columnSymbol, emission.add(firstColumn, column)});
          LanePoints at{loops, positions, columnSymbol, static_cast<unsigned>(lanes),
                        emission.getTailMask(lanes, emission.subtract(columns, column))};
          emitEpilogue(emission, form.compute, convertWidth(builder, location, sum, resultType), at);
        });
      });
    });
  });
}

void codegen::emitWeightGradient(tile::ProgramOp program, Emission &emission) {
  WeightGradientEmitter(emission, *tile::WeightGradientForm::get(program.getComputes().front()),
                        program.getTiling<tile::WeightGradientTilingAttr>())
      .emit();
}
