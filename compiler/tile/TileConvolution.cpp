#include "compiler/tile/TileConvolution.h"

#include "compiler/plan/IndexMaps.h"
#include "compiler/tile/ConstructConvolution.h"
#include "compiler/tile/TileContraction.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

SmallVector<ConvolutionProblem> tile::getConvolutionProblems(ConvolutionForm &form, MicroKernelAttr kernel,
                                                             const TypicalRuns &runs, bool overlaps) {
  ContractionForm &contraction = form.contraction;
  sym::Expr none = sym::Expr::constant(contraction.compute.getContext(), 0), stride = none;
  if (form.mayBeInPlace())
    stride = getStrides(contraction.compute, form.picture)->strides[contraction.k.front()];
  ConvolutionProblem problem{.sizes = {},
                             .units = ConvolutionUnits::get(form),
                             .taps = form.taps,
                             .rowStride = form.rowStride,
                             .pixelStride = form.pixelStride,
                             .rowSpan = form.rowSpan,
                             .pixelSpan = form.pixelSpan,
                             .hasRows = form.rowLoop.has_value(),
                             .overlaps = overlaps,
                             .bytes = contraction.elementType.getIntOrFloatBitWidth() / 8,
                             .kernelRows = kernel.getRows(),
                             .vectors = kernel.getVectors(),
                             .lanes = kernel.getLanes(),
                             .lastVectors = kernel.getLastVectors()};
  SmallVector<ConvolutionProblem> problems;
  SmallVector<unsigned> pictureLoops = form.getPictureLoops(), others;
  llvm::copy_if(contraction.outer, std::back_inserter(others),
                [&](unsigned loop) { return !llvm::is_contained(pictureLoops, loop); });
  for (auto [outer, columns, rows, pixels, channels, pictures, elements] :
       llvm::zip_equal(runs.evaluate(contraction.getExtent(others)),
                       runs.evaluate(contraction.getExtent(contraction.m)), runs.evaluate(form.getRows()),
                       runs.evaluate(form.getPixels()), runs.evaluate(contraction.getExtent(contraction.k.front())),
                       runs.evaluate(contraction.getExtent(pictureLoops)), runs.evaluate(stride))) {
    problem.sizes = {outer, columns, rows, pixels, channels, pictures};
    problem.pictureStride = stride == none ? 0 : elements;
    problems.push_back(problem);
  }
  return problems;
}

ConvolutionTilingAttr tile::tileConvolution(ConvolutionForm &form, const TypicalRuns &runs,
                                            const DeviceDescription &device, bool isStage, bool construct,
                                            bool skipTaps, bool together, bool narrowPanels, bool overlaps,
                                            bool copiesAhead) {
  MicroKernelAttr kernel = getMicroKernel(device, form.contraction.elementType);
  // A stage's first tile has rows that others keep, and so other blocks, wherever a worker begins.
  if (isStage)
    kernel = MicroKernelAttr::get(kernel.getContext(), kernel.getRows(), kernel.getVectors(), kernel.getLanes(),
                                  kernel.getUnroll(), kernel.getLastVectors(), /*in_order=*/true);
  // What is transformed back is whole panels.
  if (narrowPanels && !form.getTransformed())
    kernel = withLastVectors(kernel, runs.evaluate(form.contraction.getExtent(form.contraction.m)));
  SmallVector<ConvolutionProblem> problems = getConvolutionProblems(form, kernel, runs, overlaps);
  DeviceRates rates = DeviceRates::get(device);
  ConvolutionShares shares = construct ? constructConvolution(problems, rates, isStage, together).front().shares
                                       : getPlainShares(problems.front(), rates, isStage);
  constexpr int64_t prefetchChannels = 8, prefetchRows = 16;
  return ConvolutionTilingAttr::get(kernel.getContext(), kernel, shares.pixels, shares.area, shares.panels,
                                    shares.channels, shares.leastTiles, prefetchChannels, shares.inPlace,
                                    shares.transformed, skipTaps && form.maySkipTaps(), shares.pictures, overlaps,
                                    copiesAhead ? prefetchRows : 0);
}
