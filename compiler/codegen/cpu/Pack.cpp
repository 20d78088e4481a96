#include "compiler/codegen/cpu/Pack.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

Value freestone::codegen::convertWidth(OpBuilder &builder, Location location, Value value, Type elementType) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == elementType)
    return value;
  Type to = elementType;
  if (auto vectorType = dyn_cast<VectorType>(value.getType()))
    to = vectorType.clone(elementType);
  bool widens = from.getIntOrFloatBitWidth() < elementType.getIntOrFloatBitWidth();
  if (isa<FloatType>(elementType))
    return widens ? arith::ExtFOp::create(builder, location, to, value).getResult()
                  : arith::TruncFOp::create(builder, location, to, value).getResult();
  return widens ? arith::ExtSIOp::create(builder, location, to, value).getResult()
                : arith::TruncIOp::create(builder, location, to, value).getResult();
}

void freestone::codegen::packRows(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                                  const PackedBlock &block, Value memory, int64_t rowStride) {
  OpBuilder &builder = emission.builder;
  Location location = emission.location;
  unsigned lanes = emission.device.getLanes(form.elementType.getIntOrFloatBitWidth());
  emission.forRange(emission.getConstant(0), block.count, 1, [&](Value row) {
    Value rowStart = emission.multiply(row, emission.getConstant(rowStride));
    emission.forRange(emission.getConstant(0), block.depth, lanes, [&](Value step) {
      LanePoints at{points.loops, points.outer, points.k, lanes,
                    emission.getTailMask(lanes, emission.subtract(block.depth, step))};
      at.positions.push_back({points.m, emission.add(block.first, row)});
      at.positions.push_back({points.k, emission.add(block.k, step)});
      Value values = BodyVectorizer(emission, form.compute, std::move(at)).getVector(form.lhs);
      values = convertWidth(builder, location, values, form.elementType);
      // Whole vectors: rows are padded to them.
      vector::StoreOp::create(builder, location, values, memory, emission.add(rowStart, step));
    });
  });
}

void freestone::codegen::packPanel(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                                   const PackedBlock &block, Value memory, int64_t width) {
  OpBuilder &builder = emission.builder;
  Location location = emission.location;
  unsigned lanes = emission.device.getLanes(form.elementType.getIntOrFloatBitWidth());
  emission.forRange(emission.getConstant(0), block.depth, 1, [&](Value step) {
    for (int64_t column = 0; column < width; column += lanes) {
      Value offset = emission.getConstant(column);
      LanePoints at{points.loops, points.outer, points.n, lanes,
                    emission.getTailMask(lanes, emission.subtract(block.count, offset))};
      at.positions.push_back({points.n, emission.add(block.first, offset)});
      at.positions.push_back({points.k, emission.add(block.k, step)});
      Value values = BodyVectorizer(emission, form.compute, std::move(at)).getVector(form.rhs);
      values = convertWidth(builder, location, values, form.elementType);
      Value to = emission.add(emission.multiply(step, emission.getConstant(width)), offset);
      vector::StoreOp::create(builder, location, values, memory, to);
    }
  });
}
