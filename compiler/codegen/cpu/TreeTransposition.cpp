#include "compiler/codegen/cpu/Pack.h"
#include "compiler/codegen/cpu/TreeScope.h"
#include "compiler/codegen/cpu/VectorizeBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

/// Loads vectors along the rows' axis, one for each of as many columns, and transposes squares of them. Booleans become
/// 1 and 0.
void freestone::codegen::emitTransposedCopy(TreeScope &scope, const tile::TreeForm::Pack &pack) {
  Emission &emission = scope.emission;
  OpBuilder &builder = emission.builder;
  Location location = emission.location;
  const tile::TreeForm &form = scope.form;
  tile::ComputeOp compute = form.computes[pack.compute];
  unsigned lanes = form.tiling.getMicroKernel().getLanes(), columnAxis = pack.axis, rowAxis = *pack.buffer->rowAxis;
  const AxisRange &columns = scope.ranges[columnAxis], &rows = scope.ranges[rowAxis];
  Value zero = emission.getConstant(0), one = emission.getConstant(1), memory = scope.getPacked(pack).memory;
  Value last = emission.subtract(columns.count, one);

  auto load = [&](Value column, Value row) {
    LanePoints points;
    points.loops = scope.getLoops(compute);
    points.lanes = lanes;
    points.lane = scope.getSymbol(rowAxis);
    points.mask = emission.getTailMask(lanes, emission.subtract(rows.count, row));
    for (unsigned axis = 0; axis < form.axes.size(); ++axis)
      if (axis != columnAxis && axis != rowAxis)
        points.positions.push_back({scope.getSymbol(axis), scope.ranges[axis].first});
    points.positions.push_back({scope.getSymbol(columnAxis), emission.add(columns.first, column)});
    points.positions.push_back({scope.getSymbol(rowAxis), emission.add(rows.first, row)});
    Value values = BodyVectorizer(emission, compute, std::move(points)).getVector(compute.getInputArgs()[pack.input]);
    auto type = VectorType::get({lanes}, form.getElementType());
    return values.getType() == type ? values : arith::UIToFPOp::create(builder, location, type, values).getResult();
  };
  emission.forRange(zero, columns.count, lanes, [&](Value column) {
    emission.forRange(zero, rows.count, lanes, [&](Value row) {
      SmallVector<Value> square;
      for (unsigned lane = 0; lane < lanes; ++lane)
        square.push_back(load(emission.minimum(emission.add(column, emission.getConstant(lane)), last), row));
      transposeSquare(builder, location, square);
      for (auto [lane, values] : llvm::enumerate(square)) {
        Value place = scope.getPlace(*pack.buffer, column, emission.add(row, emission.getConstant(lane)));
        vector::StoreOp::create(builder, location, values, memory, place);
      }
    });
  });
}
