#include "compiler/task/TileTimes.h"

#include "compiler/plan/Classify.h"
#include "compiler/plan/ConvolutionForm.h"
#include "compiler/plan/Traffic.h"
#include "compiler/plan/Variants.h"
#include "compiler/task/Operations.h"
#include "compiler/tile/Cost.h"
#include <cmath>

using namespace mlir;
using namespace freestone;
using sym::Expr;

/// The parts of peak rates that programs reach.
static constexpr double partOfProducts = 0.8, partOfWindows = 0.35, partOfBodies = 0.5, partOfBytes = 0.5;
/// Products of the parts of two elements of f32, where these are split.
static constexpr int64_t productsOfParts = 6;
/// What the end of a convolution's sum takes, which is transposed and stored, in multiply-adds.
static constexpr int64_t multiplyAddsOfResult = 16;
/// Explicit loops compute one element after another.
static constexpr double bytesOfExplicitLoops = 2e9;
/// Times are sums of products with whole numbers of 2^-20 ns.
static constexpr double unitsOfNanosecond = 1 << 20;
/// Of one operation, so that sums fit 64 bits.
static constexpr double mostUnits = 1 << 30;

/// Whether micro-kernels compute the program.
static bool hasKernel(Attribute tiling) {
  return !llvm::all_of(
      tile::getAlternatives(tiling),
      llvm::IsaPred<tile::MapTilingAttr, tile::RowsTilingAttr, tile::TranspositionTilingAttr, tile::OpaqueTilingAttr>);
}

/// Multiply-adds a second of the products of a program.
static double getMultiplyAdds(Attribute tiling, Type element, const DeviceDescription &device) {
  auto tree = dyn_cast<tile::TreeTilingAttr>(tiling);
  if (auto kernel = tree ? dyn_cast<tile::DotProductKernelAttr>(tree.getKernel()) : nullptr) {
    double pairs = device.getPairMultiplyAdds() / double(kernel.getParts() > 1 ? productsOfParts : 1);
    return std::max(element.isInteger() ? device.getQuadMultiplyAdds() : pairs, device.getMultiplyAdds(32));
  }
  return device.getMultiplyAdds(std::max(32u, element.getIntOrFloatBitWidth()));
}

/// Products of a convolution's channels: with transformed filters as many as a square has values, for all taps.
static Expr countProducts(tile::ConvolutionForm &form) {
  tile::ComputeOp compute = form.contraction.compute;
  SmallVector<Expr> extents = compute.getExtents();
  if (tile::WinogradAttr layout = form.getTransformed()) {
    for (unsigned loop : {*form.rowLoop, form.pixelLoop})
      extents[loop] = Expr::ceilDiv(extents[loop], layout.getOutputs()) * layout.getPoints();
    for (unsigned loop : form.getTapLoops())
      extents[loop] = Expr::constant(compute.getContext(), 1);
  }
  return tile::getNumPoints(extents, compute.getContext());
}

Expr task::estimateTime(tile::ProgramOp program, const DeviceDescription &device) {
  MLIRContext *context = program.getContext();
  Attribute tiling = program.getPlan()->getTiling();
  Expr time = Expr::constant(context, 0);
  auto add = [&](Expr count, double rate) {
    time = time + count * std::llround(std::clamp(1e9 / rate * unitsOfNanosecond, 1.0, mostUnits));
  };
  std::optional<tile::ConvolutionForm> convolution =
      isa<tile::ConvolutionTilingAttr>(tiling) ? tile::ConvolutionForm::get(program) : std::nullopt;
  for (tile::ComputeOp compute : program.getComputes()) {
    if (convolution && compute == convolution->contraction.compute) {
      Expr results = tile::getNumPoints(ArrayRef(compute.getExtents()).take_front(compute.getNumParallel()), context);
      double rate = getMultiplyAdds(tiling, convolution->contraction.elementType, device);
      add(countProducts(*convolution), partOfProducts * rate);
      add(results, rate / double(multiplyAddsOfResult));
      continue;
    }
    Expr points = tile::getNumPoints(compute.getExtents(), context);
    bool isProduct = hasKernel(tiling) && tile::getContractionDims(compute);
    auto type = cast<graph::TensorType>(compute.getInputs().empty() ? compute.getResult(0).getType()
                                                                    : compute.getInputs().front().getType());
    if (isProduct)
      add(points, (isa<tile::WindowTilingAttr>(tiling) ? partOfWindows : partOfProducts) *
                      getMultiplyAdds(tiling, type.getElementType(), device));
    else
      add(points * std::max<int64_t>(1, tile::getBodyCost(compute)), partOfBodies * device.getMultiplyAdds(32));
  }
  Expr padding = countOperations(program).padding;
  if (!padding.isInvalid())
    add(padding, 2 * partOfProducts * device.getMultiplyAdds(32));
  bool isExplicit = isa<tile::OpaqueTilingAttr>(tiling);
  add(tile::Traffic::get(program).getTotal(), isExplicit ? bytesOfExplicitLoops : partOfBytes * device.getBandwidth(1));
  return Expr::ceilDiv(time, static_cast<int64_t>(unitsOfNanosecond));
}
