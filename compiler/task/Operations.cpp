#include "compiler/task/Operations.h"

#include "compiler/plan/ConvolutionForm.h"
#include "compiler/plan/Variants.h"
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

/// Micro-kernels compute whole panels of columns, but for a last one that fits fewer vectors.
static Expr countPadding(Expr steps, Expr rows, Expr columns, Expr computedRows, tile::MicroKernelAttr kernel) {
  int64_t width = kernel.getWidth(),
          unit = kernel.getLastVectors() ? kernel.getLastVectors() * kernel.getLanes() : width;
  return steps * (computedRows * (Expr::ceilDiv(columns, unit) * unit) - rows * columns) * 2;
}

static Expr countPadding(tile::ContractionForm &form, tile::MicroKernelAttr kernel) {
  Expr rows = form.getExtent(form.m);
  return countPadding(form.getExtent(form.outer) * form.getExtent(form.k), rows, form.getExtent(form.n), rows, kernel);
}

/// Columns are output channels. A row's pixels are computed in pairs, padded to an even number unless there is only
/// one.
static Expr countPadding(tile::ConvolutionForm &form, tile::MicroKernelAttr kernel) {
  tile::ContractionForm &contraction = form.contraction;
  MLIRContext *context = contraction.compute.getContext();
  Expr pixels = form.getPixels();
  Expr computed = pixels + Expr::mod(pixels, 2) * Expr::min(Expr::floorDiv(pixels, 2), Expr::constant(context, 1));
  Expr steps = contraction.getExtent(contraction.outer) * form.getRows() * contraction.getExtent(contraction.k);
  return countPadding(steps, pixels, contraction.getExtent(contraction.m), computed, kernel);
}

static task::Operations countOperations(tile::ProgramOp program, Attribute tiling) {
  if (auto choice = dyn_cast<tile::ChoiceAttr>(tiling)) {
    SmallVector<Expr> executed, padding;
    for (Attribute each : choice.getTilings()) {
      task::Operations operations = countOperations(program, each);
      executed.push_back(operations.executed);
      padding.push_back(operations.padding);
    }
    return {tile::chooseVariant(choice, executed), tile::chooseVariant(choice, padding)};
  }
  MLIRContext *context = program.getContext();
  task::Operations operations = {Expr::constant(context, 0), Expr::constant(context, 0)};
  auto convolutionTiling = dyn_cast<tile::ConvolutionTilingAttr>(tiling);
  std::optional<tile::ContractionTree> tree = tile::ContractionTree::getMultiplyAdds(tiling);
  std::optional<tile::ConvolutionForm> convolution =
      convolutionTiling ? tile::ConvolutionForm::get(program) : std::nullopt;
  std::optional<tile::ContractionForm> contraction = tree ? tile::getContractionWithEpilogue(program) : std::nullopt;
  for (tile::ComputeOp compute : program.getComputes()) {
    int64_t scalars = 0;
    for (Operation &op : *compute.getBody())
      scalars += countScalar(op);
    SmallVector<Expr> extents = compute.getExtents();
    // Rows and pixels outside the last full pooling window are not computed.
    if (convolution && compute == convolution->contraction.compute) {
      extents[convolution->pixelLoop] = convolution->getPixels();
      if (convolution->rowLoop)
        extents[*convolution->rowLoop] = convolution->getRows();
      if (tile::WinogradAttr layout = convolution->getTransformed()) {
        for (unsigned loop : {*convolution->rowLoop, convolution->pixelLoop})
          extents[loop] = Expr::ceilDiv(extents[loop], layout.getOutputs()) * layout.getPoints();
        for (unsigned loop : convolution->getTapLoops())
          extents[loop] = Expr::constant(context, 1);
      }
    }
    operations.executed = operations.executed + countPoints(extents, context) * scalars;
  }
  if (convolution && !convolution->getTransformed() && isa<FloatType>(convolution->contraction.elementType))
    operations.padding = countPadding(*convolution, convolutionTiling.getKernel());
  if (contraction && isa<FloatType>(contraction->elementType))
    operations.padding = countPadding(*contraction, tree->kernel);
  return operations;
}

task::Operations task::countOperations(tile::ProgramOp program) {
  return ::countOperations(program, program.getPlan()->getTiling());
}
