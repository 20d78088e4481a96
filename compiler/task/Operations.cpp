#include "compiler/task/Operations.h"

#include "compiler/tile/CutContraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace freestone;
using sym::Expr;

/// Floating-point operations of one scalar operation.
static int64_t countScalar(Operation &op) {
  if (isa<math::FmaOp>(op))
    return 2;
  bool isArithmetic = isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::NegFOp, arith::MaximumFOp,
                          arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(op);
  return isArithmetic || (isa<math::MathDialect>(op.getDialect()) && isa<FloatType>(op.getResult(0).getType()));
}

static Expr countPoints(ArrayRef<Expr> extents, MLIRContext *context) {
  Expr points = Expr::constant(context, 1);
  for (Expr extent : extents)
    points = points * extent;
  return points;
}

/// Micro-kernels compute whole panels of columns.
static Expr countPadding(tile::ContractionForm &form, const DeviceDescription &device) {
  if (!isa<FloatType>(form.elementType))
    return Expr::constant(form.compute.getContext(), 0);
  int64_t width = device.getPanelWidth(form.elementType.getIntOrFloatBitWidth());
  Expr columns = form.getExtent(form.n);
  Expr behind = Expr::ceilDiv(columns, width) * width - columns;
  return form.getExtent(form.outer) * form.getExtent(form.m) * form.getExtent(form.k) * behind * 2;
}

task::Operations task::countOperations(tile::ProgramOp program, const DeviceDescription &device) {
  MLIRContext *context = program.getContext();
  Operations operations = {Expr::constant(context, 0), Expr::constant(context, 0)};
  for (tile::ComputeOp compute : program.getComputes()) {
    int64_t scalars = 0;
    for (Operation &op : *compute.getBody())
      scalars += countScalar(op);
    operations.executed = operations.executed + countPoints(compute.getExtents(), context) * scalars;
  }
  if (program.getEmitter() == "contraction")
    if (std::optional<tile::ContractionForm> form = tile::getContractionWithEpilogue(program))
      operations.padding = countPadding(*form, device);
  return operations;
}
