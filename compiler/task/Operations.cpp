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
  bool isArithmetic = isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::NegFOp,
                          arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(op);
  return isArithmetic || (isa<math::MathDialect>(op.getDialect()) && isa<FloatType>(op.getResult(0).getType()));
}

static Expr countPoints(ArrayRef<Expr> extents, MLIRContext *context) {
  Expr points = Expr::constant(context, 1);
  for (Expr extent : extents)
    points = points * extent;
  return points;
}

/// Micro-kernels compute whole panels of columns; those of convolutions also rows by twos: of an odd number above 1 the
/// last one has a neighbour that is not there.
static Expr countPadding(tile::ContractionForm &form, bool isConvolution, const DeviceDescription &device) {
  MLIRContext *context = form.compute.getContext();
  if (!isa<FloatType>(form.elementType))
    return Expr::constant(context, 0);
  // A convolution has its channels out as columns, and a row of pixels as rows.
  SmallVector<unsigned> rowLoops = form.m, columnLoops = form.n, otherLoops = form.outer;
  if (isConvolution) {
    columnLoops = form.m;
    rowLoops = {form.n.back()};
    llvm::append_range(otherLoops, ArrayRef(form.n).drop_back());
  }
  int64_t width = device.getPanelWidth(form.elementType.getIntOrFloatBitWidth());
  Expr rows = form.getExtent(rowLoops), columns = form.getExtent(columnLoops);
  Expr computedRows = rows;
  if (isConvolution)
    computedRows = rows + Expr::mod(rows, 2) * Expr::min(Expr::floorDiv(rows, 2), Expr::constant(context, 1));
  Expr computedColumns = Expr::ceilDiv(columns, width) * width;
  return form.getExtent(otherLoops) * form.getExtent(form.k) * (computedRows * computedColumns - rows * columns) * 2;
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
  bool isConvolution = program.getEmitter() == "convolution";
  if (isConvolution || program.getEmitter() == "contraction")
    if (std::optional<tile::ContractionForm> form = tile::getContractionWithEpilogue(program))
      operations.padding = countPadding(*form, isConvolution, device);
  return operations;
}
