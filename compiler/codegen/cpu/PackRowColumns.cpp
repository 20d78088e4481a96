#include "compiler/codegen/cpu/PackRowColumns.h"

#include "compiler/codegen/cpu/Pack.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

void codegen::packColumns(Emission &emission, tile::ComputeOp compute, unsigned input, const LanePoints &first,
                          unsigned columnLoop, Value column, Value end, Value steps, Value place, Value pitch,
                          Value memory, unsigned lanes) {
  OpBuilder &builder = emission.builder;
  Location location = emission.location;
  Value zero = emission.getConstant(0), lastStep = emission.subtract(steps, emission.getConstant(1));
  /// As many columns as a vector has lanes, at one step.
  auto load = [&](Value step) {
    LanePoints points = first;
    Expr lane = emission.getPositionSymbol("lane"), sum = emission.getPositionSymbol("step");
    points.loops[columnLoop] = lane;
    points.loops.push_back(sum);
    points.positions.append({{lane, column}, {sum, step}});
    points.lanes = lanes;
    points.lane = lane;
    points.mask = emission.getTailMask(lanes, emission.subtract(end, column));
    return BodyVectorizer(emission, compute, std::move(points)).getVector(compute.getInputArgs()[input]);
  };
  emission.forRange(zero, steps, lanes, [&](Value step) {
    SmallVector<Value> square;
    for (unsigned lane = 0; lane < lanes; ++lane)
      square.push_back(load(emission.minimum(emission.add(step, emission.getConstant(lane)), lastStep)));
    transposeSquare(builder, location, square);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      Value at = emission.add(column, emission.getConstant(lane));
      Value exists = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, at, end);
      auto branch = scf::IfOp::create(builder, location, exists, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      Value row = emission.add(place, emission.multiply(emission.getConstant(lane), pitch));
      vector::StoreOp::create(builder, location, square[lane], memory, emission.add(row, step));
    }
  });
}

void codegen::packRowColumns(Emission &emission, tile::RowBlocks &blocks, const LanePoints &first, Value memory,
                             unsigned lanes) {
  tile::ComputeOp compute = blocks.reduction;
  const tile::RowBlocks::Packed &packed = *blocks.packed;
  SmallVector<Expr> extents = compute.getExtents();
  Value columns = emission.getSize(extents[blocks.columnLoop]), steps = emission.getSize(extents[blocks.reducedLoop]);
  Value pitch = emission.getSize(packed.pitch);
  emission.forRange(emission.getConstant(0), columns, lanes, [&](Value column) {
    packColumns(emission, compute, packed.input, first, blocks.columnLoop, column, columns, steps,
                emission.multiply(column, pitch), pitch, memory, lanes);
  });
}
