#include "compiler/plan/ConvolutionForm.h"

#include "compiler/dialect/tile/WinogradTransforms.h"
#include "compiler/plan/Epilogues.h"
#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The coordinate's stride along a loop; nothing unless it is a non-negative constant.
static std::optional<int64_t> getStep(const LinearIndex &coordinate, unsigned loop) {
  std::optional<int64_t> step = coordinate.strides[loop].asConstant();
  return step && *step >= 0 ? step : std::nullopt;
}

/// The product of the extents of loops over taps; nothing where they are not known or many.
static std::optional<int64_t> countTaps(ContractionForm &contraction, ArrayRef<unsigned> loops) {
  constexpr int64_t mostTaps = 128;
  int64_t taps = 1;
  for (Expr extent : contraction.getExtents(loops)) {
    std::optional<int64_t> count = extent.asConstant();
    if (!count || *count < 1 || (taps *= *count) > mostTaps)
      return std::nullopt;
  }
  return taps;
}

/// The input that a factor is, of the type of the sums, or if it may be widened, of a narrower floating-point type.
static std::optional<unsigned> getFactor(ContractionForm &contraction, Value factor, bool mayWiden) {
  bool isWide = isa<BlockArgument>(factor) && factor.getType() == contraction.elementType;
  if (!isWide && !(mayWiden && isa<FloatType>(contraction.elementType)))
    return std::nullopt;
  return contraction.getInput(factor);
}

std::optional<ConvolutionForm> ConvolutionForm::get(ComputeOp compute, bool mayWidenWeights) {
  std::optional<ContractionForm> contraction = ContractionForm::get(compute);
  if (!contraction)
    return std::nullopt;
  std::optional<unsigned> picture = getFactor(*contraction, contraction->rhs, /*mayWiden=*/true),
                          weights = getFactor(*contraction, contraction->lhs, mayWidenWeights);
  if (!picture || !weights)
    return std::nullopt;
  ConvolutionForm form;
  form.contraction = *contraction;
  form.picture = *picture;
  form.weights = *weights;
  if (!countTaps(form.contraction, form.getTapLoops()) || contraction->m.size() != 1 || contraction->n.size() > 3 ||
      compute.getFill(form.weights) || !hasStrides(compute.getInputType(form.picture)) ||
      !getStrides(compute, form.picture))
    return std::nullopt;
  if (contraction->n.size() == 3) {
    form.depthLoop = contraction->n.front();
    form.contraction.n.erase(form.contraction.n.begin());
    form.contraction.outer.push_back(*form.depthLoop);
  }
  form.pixelLoop = form.contraction.n.back();
  if (form.contraction.n.size() == 2)
    form.rowLoop = form.contraction.n.front();

  /// The copy deinterleaves vectors of up to this many interleaved runs by shuffles.
  constexpr int64_t mostStride = 8;
  std::optional<unsigned> pixelDim, channelDim;
  for (auto [dim, index] : llvm::enumerate(getIndices(compute, form.picture))) {
    std::optional<LinearIndex> coordinate = asLinear(index, compute.getNumLoops());
    if (!coordinate)
      return std::nullopt;
    auto moves = [&](unsigned loop) { return !coordinate->strides[loop].isConstant(0); };
    bool isPixel = moves(form.pixelLoop), isRow = form.rowLoop && moves(*form.rowLoop);
    if (form.depthLoop && moves(*form.depthLoop)) {
      if (isPixel || isRow || moves(contraction->k.front()) || form.depthDim || !form.setDepth(dim, *coordinate))
        return std::nullopt;
      continue;
    }
    if (!isPixel && !isRow) {
      if (llvm::any_of(form.getTapLoops(), moves))
        return std::nullopt;
      if (!moves(contraction->k.front()))
        continue;
      if (channelDim || !coordinate->strides[contraction->k.front()].isConstant(1))
        return std::nullopt;
      channelDim = dim;
      continue;
    }
    if ((isPixel && isRow) || moves(contraction->k.front()) || (isPixel ? pixelDim : form.rowDim))
      return std::nullopt;
    std::optional<int64_t> step = getStep(*coordinate, isPixel ? form.pixelLoop : *form.rowLoop);
    if (!step || (isPixel && (*step < 1 || *step > mostStride)))
      return std::nullopt;
    int64_t span = 1;
    for (unsigned loop : form.getTapLoops()) {
      std::optional<int64_t> tapStep = getStep(*coordinate, loop);
      if (!tapStep)
        return std::nullopt;
      span += (*compute.getExtents()[loop].asConstant() - 1) * *tapStep;
    }
    if (isPixel) {
      pixelDim = dim;
      form.pixelStride = *step;
      form.pixelSpan = span;
    } else {
      form.rowDim = dim;
      form.rowStride = *step;
      form.rowSpan = span;
    }
  }
  // The taps along the depth are no others.
  if (form.depthLoop && !form.depthDim)
    return std::nullopt;
  form.taps = *countTaps(form.contraction, form.getTapLoops());
  int64_t lastDim = compute.getInputType(form.picture).getRank() - 1;
  if (pixelDim != lastDim || !channelDim || form.rowLoop.has_value() != form.rowDim.has_value())
    return std::nullopt;
  form.pixelDim = *pixelDim;
  form.channelDim = *channelDim;
  return form;
}

bool ConvolutionForm::setDepth(unsigned dim, const LinearIndex &coordinate) {
  depthDim = dim;
  for (unsigned loop : ArrayRef(contraction.k).drop_front()) {
    if (coordinate.strides[loop].isConstant(0))
      continue;
    std::optional<int64_t> count = contraction.getExtent(loop).asConstant();
    if (loop != contraction.k[1] || !count || *count < 1 || !coordinate.strides[loop].isConstant(1))
      return false;
    depthTapLoop = loop;
    depthTaps = *count;
  }
  return true;
}

std::optional<ConvolutionForm> ConvolutionForm::get(ArrayRef<ComputeOp> computes) {
  std::optional<ConvolutionForm> form = computes.empty() ? std::nullopt : get(computes.front());
  if (!form)
    return std::nullopt;
  ComputeOp last = computes.front();
  computes = computes.drop_front();
  if (!computes.empty())
    form->pooling = form->getPooling(computes.front(), last.getResult(0));
  if (form->pooling) {
    last = computes.front();
    computes = computes.drop_front();
  }
  return areEpilogues(last, computes) ? form : std::nullopt;
}

std::optional<ConvolutionForm> ConvolutionForm::get(ProgramOp program) { return get(program.getComputes()); }

bool ConvolutionForm::readsByChannel(ComputeOp op, unsigned input) {
  std::optional<LinearIndex> linear = getStrides(op, input);
  Expr alongChannels = linear ? linear->strides[contraction.m.front()] : Expr();
  return linear && (alongChannels.isConstant(0) || alongChannels.isConstant(1));
}

std::optional<Pooling> ConvolutionForm::getPooling(ComputeOp reader, Value result) {
  unsigned parallel = contraction.compute.getNumParallel(), loops = reader.getNumLoops();
  if (reader.getNumParallel() != parallel || reader.getNumReductions() == 0 || reader.getNumResults() != 1 ||
      !result.hasOneUse() || !llvm::is_contained(reader.getInputs(), result))
    return std::nullopt;
  Pooling pooling;
  pooling.compute = reader;
  Type elementType = contraction.elementType;
  if (cast<graph::TensorType>(result.getType()).getElementType() != elementType ||
      reader.getResultType(0).getElementType() != elementType)
    return std::nullopt;
  pooling.input = llvm::find(reader.getInputs(), result) - reader.getInputs().begin();
  if (reader.getFill(pooling.input))
    return std::nullopt;
  for (unsigned input = 0; input < reader.getInputs().size(); ++input)
    if (input != pooling.input && !readsByChannel(reader, input))
      return std::nullopt;
  SmallVector<Expr> extents = reader.getExtents();
  unsigned reductions = 0;
  for (auto [loop, index] : llvm::enumerate(getIndices(reader, pooling.input))) {
    if (index == getLoopSymbol(reader.getContext(), loop) && loop != pixelLoop && rowLoop != loop) {
      if (extents[loop] != contraction.compute.getExtents()[loop])
        return std::nullopt;
      continue;
    }
    bool isPixel = loop == pixelLoop;
    std::optional<LinearIndex> coordinate = asLinear(index, loops);
    if (!coordinate || !coordinate->offset.isConstant(0) || (!isPixel && rowLoop != loop))
      return std::nullopt;
    int64_t size = 1;
    for (unsigned other = 0; other < loops; ++other) {
      if (other == loop || coordinate->strides[other].isConstant(0))
        continue;
      std::optional<int64_t> extent = extents[other].asConstant();
      if (reader.isParallel(other) || size != 1 || !coordinate->strides[other].isConstant(1) || !extent)
        return std::nullopt;
      size = *extent;
      ++reductions;
      (isPixel ? pooling.pixelLoop : pooling.rowLoop) = other;
    }
    if (!coordinate->strides[loop].isConstant(size))
      return std::nullopt;
    (isPixel ? pooling.pixels : pooling.rows) = size;
  }
  constexpr int64_t mostPixels = 16;
  int64_t pixels = pooling.rows * pooling.pixels;
  if (reductions != reader.getNumReductions() || pixels == 1 || pixels > mostPixels)
    return std::nullopt;
  return pooling;
}

bool ConvolutionForm::isPacked(int64_t width) {
  return contraction.isPackedAlong(weights, contraction.m.front(), width);
}

bool ConvolutionForm::hasPanels(int64_t width) {
  WinogradAttr layout = getTransformed();
  return layout ? layout.getWidth() == width : isPacked(width);
}

bool ConvolutionForm::hasDenseSquares() {
  ArrayRef<unsigned> loops = getTapLoops();
  if (!rowLoop || loops.size() != 2 || rowStride != 1 || pixelStride != 1)
    return false;
  for (unsigned loop : loops)
    if (!contraction.getExtent(loop).isConstant(WinogradTransforms::taps))
      return false;
  return getTapSteps(loops[0]) == std::pair<int64_t, int64_t>(1, 0) &&
         getTapSteps(loops[1]) == std::pair<int64_t, int64_t>(0, 1);
}

WinogradAttr ConvolutionForm::getTransformed() {
  auto layout = dyn_cast_or_null<WinogradAttr>(contraction.compute.getInputType(weights).getLayout());
  if (!layout || !hasDenseSquares() || contraction.compute.getFill(weights))
    return {};
  SmallVector<Expr> order;
  for (unsigned loop : contraction.k)
    order.push_back(getLoopSymbol(layout.getContext(), loop));
  order.push_back(getLoopSymbol(layout.getContext(), contraction.m.front()));
  return getIndices(contraction.compute, weights) == order ? layout : WinogradAttr();
}

bool ConvolutionForm::mayBeInPlace() {
  return taps == 1 && pixelStride == 1 && !rowLoop && !depthDim && !contraction.compute.getFill(picture) &&
         !widensPicture();
}

std::pair<int64_t, int64_t> ConvolutionForm::getTapSteps(unsigned loop) {
  SmallVector<Expr> indices = getIndices(contraction.compute, picture);
  auto stepOf = [&](unsigned dim) {
    return *asLinear(indices[dim], contraction.compute.getNumLoops())->strides[loop].asConstant();
  };
  return {rowDim ? stepOf(*rowDim) : 0, stepOf(pixelDim)};
}

/// Whether the only tap of each depth lies in the picture.
static bool areDepthsInside(ConvolutionForm &form) {
  ComputeOp compute = form.contraction.compute;
  Expr index = getIndices(compute, form.picture)[*form.depthDim],
       loop = getLoopSymbol(compute.getContext(), *form.depthLoop);
  return form.depthTaps == 1 && !form.depthTapLoop && index == loop &&
         compute.getExtents()[*form.depthLoop] == compute.getInputType(form.picture).getDim(*form.depthDim);
}

SmallVector<unsigned> ConvolutionForm::getPictureLoops() {
  SmallVector<unsigned> loops;
  // A depth's only tap may lie beyond the picture where there is a border.
  if (getTransformed() || (depthDim && !depthTapLoop && !areDepthsInside(*this)))
    return loops;
  SmallVector<Expr> ofWeights = getIndices(contraction.compute, weights);
  auto moves = [&](unsigned loop) {
    return llvm::any_of(ofWeights, [&](Expr index) { return llvm::is_contained(getLoops(index), loop); });
  };
  for (unsigned loop : contraction.outer)
    if (!moves(loop) && (loop != depthLoop || areDepthsInside(*this)))
      loops.push_back(loop);
  return loops;
}

std::optional<TapAxes> ConvolutionForm::getTapAxes() {
  TapAxes axes{.depths = {depthDim, depthTaps}, .rows = {rowDim}, .pixels = {pixelDim}};
  int64_t pitch = 1;
  for (unsigned loop : llvm::reverse(getTapLoops())) {
    auto [rowStep, pixelStep] = getTapSteps(loop);
    TapAxis &axis = rowStep ? axes.rows : axes.pixels;
    if ((rowStep != 0) == (pixelStep != 0) || axis.pitch)
      return std::nullopt;
    axis.taps = *contraction.getExtent(loop).asConstant();
    axis.step = rowStep + pixelStep;
    axis.pitch = pitch;
    pitch *= axis.taps;
  }
  return axes;
}

bool ConvolutionForm::maySkipTaps() {
  auto fill = dyn_cast_or_null<FloatAttr>(contraction.compute.getFill(picture));
  return fill && fill.getValue().isZero() && taps * depthTaps > 1 && !getTransformed() && getTapAxes();
}

Expr ConvolutionForm::getPixels() {
  return pooling ? pooling->compute.getExtents()[pixelLoop] * pooling->pixels
                 : contraction.compute.getExtents()[pixelLoop];
}

Expr ConvolutionForm::getRows() {
  if (!rowLoop)
    return Expr::constant(contraction.compute.getContext(), 1);
  return pooling ? pooling->compute.getExtents()[*rowLoop] * pooling->rows : contraction.compute.getExtents()[*rowLoop];
}
