#include "compiler/codegen/cpu/WindowEmitter.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

/// The index in the copy of each row of the block.
SmallVector<Value> WindowEmitter::findRowsOfCopy() {
  SmallVector<Value> found;
  for (int64_t number = 0; number < block.rows; ++number) {
    Value distance = emission.getConstant(0);
    if (form.rowDim)
      distance = emission.multiply(emission.add(block.row, emission.getConstant(number)),
                                   emission.getSize(tiles.strides[*form.rowDim] * form.rowStride));
    found.push_back(emission.add(block.pixel, distance));
  }
  return found;
}

/// The address of each row of the picture under the block's windows; beyond the picture, that of zeros.
SmallVector<Value> WindowEmitter::findRowsInPlace() {
  graph::TensorType type = compute.getInputType(form.picture);
  SmallVector<Expr> indices = tile::getIndices(compute, form.picture, loops);
  Positions positions = getPositions(emission.getConstant(0), block.row, emission.getConstant(0));
  Value first = emission.getIndex(indices[*form.rowDim], positions);
  Expr linear = tile::getLinearIndex(type, indices);
  indices[*form.rowDim] = indices[*form.rowDim] + 1;
  Value begin = emission.getIndex(linear, positions);
  Value pitch = emission.getSize(tile::getLinearIndex(type, indices) - linear);
  Value memory = emission.getBuffer(compute.getInputs()[form.picture]);
  Value size = emission.getSize(type.getDim(*form.rowDim)), zeros = emission.getPointer(copy, emission.getConstant(0));
  int64_t count = (block.rows - 1) * form.rowStride + *form.getSpan(*form.rowDim).asConstant();
  SmallVector<Value> found;
  for (int64_t number = 0; number < count; ++number) {
    // Unsigned: a negative coordinate compares as a large one.
    Value row = emission.add(first, emission.getConstant(number));
    Value inside = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult, row, size);
    Value place = emission.add(begin, emission.multiply(pitch, emission.getConstant(number)));
    found.push_back(
        arith::SelectOp::create(builder, location, inside, emission.getPointer(memory, place), zeros).getResult());
  }
  return found;
}

/// A vector of a row of the copy, by its number under the block, at a column of taps.
Value WindowEmitter::loadCopied(const TapColumn &column, int64_t row, int64_t vector) {
  Value at = block.pictureRows.front();
  for (auto [dim, stride] : llvm::enumerate(tiles.strides)) {
    int64_t distance = column.distances[dim] + (dim == *form.rowDim ? row : 0);
    at = emission.add(at, emission.multiply(emission.getConstant(distance), emission.getSize(stride)));
  }
  int64_t distance = column.distances.back();
  Value run = emission.multiply(emission.getConstant(distance % form.pixelStride), emission.getSize(tiles.run));
  at = emission.add(at, emission.add(run, emission.getConstant(distance / form.pixelStride + vector * lanes)));
  return vector::LoadOp::create(builder, location, VectorType::get({lanes}, form.elementType), copy, at);
}

/// The same of a row of the picture.
Value WindowEmitter::loadInPlace(const TapColumn &column, int64_t row, int64_t vector) {
  int64_t distance = column.distances.back() + vector * lanes;
  Value pixel = emission.add(block.pixel, emission.getConstant(distance));
  Value index = arith::IndexCastOp::create(builder, location, builder.getI64Type(), pixel);
  Value start = block.pictureRows[row];
  Value place =
      LLVM::GEPOp::create(builder, location, start.getType(), form.elementType, start, ArrayRef<LLVM::GEPArg>{index});
  Value values = LLVM::LoadOp::create(builder, location, VectorType::get({lanes}, form.elementType), place,
                                      form.elementType.getIntOrFloatBitWidth() / 8);
  return maskBorder(values, distance);
}

/// Replaces elements beside the picture by zeros, of a vector of a row that begins so far behind the block's first pixel.
/// No mask where sizes tell that all of them are inside.
Value WindowEmitter::maskBorder(Value values, int64_t distance) {
  Expr width = compute.getInputType(form.picture).getShape().back();
  Expr index = tile::getIndices(compute, form.picture, loops).back();
  std::optional<int64_t> first = (index - pixelSymbol).asConstant();
  std::optional<int64_t> left;
  if (first)
    left = (width - form.getPixels() - (*first + distance)).asConstant();
  if (!compute.getFill(form.picture) || (first && *first + distance >= 0 && left && *left >= 0))
    return values;
  Value at = emission.getIndex(index, getPositions(emission.getConstant(0), block.row, block.pixel));
  Value mask = emission.getRangeMask(lanes, emission.add(at, emission.getConstant(distance)), emission.getSize(width));
  Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(values.getType()));
  return arith::SelectOp::create(builder, location, mask, values, zeros);
}
