#include "compiler/codegen/cpu/PackRowColumns.h"

#include "compiler/codegen/cpu/Pack.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

void codegen::packRowColumns(Emission &emission, tile::RowBlocks &blocks, const LanePoints &first, Value memory,
                             unsigned lanes) {
  OpBuilder &builder = emission.builder;
  Location location = emission.location;
  tile::ComputeOp compute = blocks.reduction;
  const tile::RowBlocks::Packed &packed = *blocks.packed;
  SmallVector<Expr> extents = compute.getExtents();
  Value columns = emission.getSize(extents[blocks.columnLoop]), steps = emission.getSize(extents[blocks.reducedLoop]);
  Value zero = emission.getConstant(0), pitch = emission.getSize(packed.pitch);
  Value lastStep = emission.subtract(steps, emission.getConstant(1));
  /// As many columns as a vector has lanes, at one step.
  auto load = [&](Value column, Value step) {
    LanePoints points = first;
    Expr lane = emission.getPositionSymbol("lane"), sum = emission.getPositionSymbol("step");
    points.loops[blocks.columnLoop] = lane;
    points.loops.push_back(sum);
    points.positions.append({{lane, column}, {sum, step}});
    points.lanes = lanes;
    points.lane = lane;
    points.mask = emission.getTailMask(lanes, emission.subtract(columns, column));
    return BodyVectorizer(emission, compute, std::move(points)).getVector(compute.getInputArgs()[packed.input]);
  };
  emission.forRange(zero, columns, lanes, [&](Value column) {
    emission.forRange(zero, steps, lanes, [&](Value step) {
      SmallVector<Value> square;
      for (unsigned lane = 0; lane < lanes; ++lane)
        square.push_back(load(column, emission.minimum(emission.add(step, emission.getConstant(lane)), lastStep)));
      transposeSquare(builder, location, square);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        Value at = emission.add(column, emission.getConstant(lane));
        Value exists = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, at, columns);
        auto branch = scf::IfOp::create(builder, location, exists, /*withElseRegion=*/false);
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(branch.thenBlock());
        Value place = emission.add(emission.multiply(at, pitch), step);
        vector::StoreOp::create(builder, location, square[lane], memory, place);
      }
    });
  });
}
