#include "compiler/plan/WeightGradientForm.h"

#include "compiler/dialect/tile/WinogradTransforms.h"
#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

static std::optional<unsigned> asWholeLoop(ComputeOp compute, Expr index, Expr extent) {
  std::optional<unsigned> loop = index.asSymbol() ? asLoop(*index.asSymbol()) : std::nullopt;
  return loop && compute.getExtents()[*loop] == extent ? loop : std::nullopt;
}

/// Such as the output channels of groups: no loop over positions moves the coordinate.
static bool isOfParallelLoops(ComputeOp compute, Expr index) {
  return llvm::all_of(getLoops(index), [&](unsigned loop) { return compute.isParallel(loop); }) &&
         asLinear(index, compute.getNumLoops());
}

/// The coordinate of a dimension in the form of an axis.
static std::optional<WeightGradientForm::Axis> getAxis(ComputeOp compute, unsigned dim, Expr index) {
  SmallVector<unsigned> loops = getLoops(index);
  std::optional<LinearIndex> linear = asLinear(index, compute.getNumLoops());
  if (loops.size() != 2 || !linear || compute.isParallel(loops[0]) == compute.isParallel(loops[1]))
    return std::nullopt;
  unsigned tap = compute.isParallel(loops[0]) ? loops[0] : loops[1], place = loops[0] + loops[1] - tap;
  std::optional<int64_t> stride = linear->strides[place].asConstant(), dilation = linear->strides[tap].asConstant();
  if (!stride || !dilation || *stride < 1 || *dilation < 1)
    return std::nullopt;
  return WeightGradientForm::Axis{dim, place, tap, *stride, *dilation};
}

/// A panel of this many output-gradient positions takes half a megabyte.
constexpr int64_t longestSignal = 4096;

std::optional<WeightGradientForm> WeightGradientForm::get(ComputeOp compute) {
  std::optional<ContractionForm> contraction = ContractionForm::get(compute);
  if (!contraction)
    return std::nullopt;
  std::optional<unsigned> lhs = contraction->getInput(contraction->lhs), rhs = contraction->getInput(contraction->rhs);
  if (!lhs || !rhs || !isa<FloatType>(contraction->elementType))
    return std::nullopt;

  WeightGradientForm form;
  form.compute = compute;
  form.elementType = contraction->elementType;
  form.sumsWindow = contraction->getWindowTaps().has_value();
  form.picture = *lhs;
  form.gradient = *rhs;
  auto isPlain = [&](unsigned input) {
    return llvm::all_of(
        llvm::zip_equal(getIndices(compute, input), compute.getInputType(input).getShape()), [&](auto pair) {
          auto [index, extent] = pair;
          return index.isConstant(0) || asWholeLoop(compute, index, extent) || isOfParallelLoops(compute, index);
        });
  };
  if (isPlain(form.picture))
    std::swap(form.picture, form.gradient);
  graph::TensorType pictureType = compute.getInputType(form.picture),
                    gradientType = compute.getInputType(form.gradient);
  if (!isPlain(form.gradient) || compute.getFill(form.gradient) || pictureType.getLayout() || gradientType.getLayout())
    return std::nullopt;

  SmallVector<bool> ofPicture(compute.getNumLoops()), ofGradient(compute.getNumLoops()), moves(compute.getNumLoops());
  SmallVector<Axis> axes;
  for (auto [dim, index] : llvm::enumerate(getIndices(compute, form.picture))) {
    for (unsigned loop : getLoops(index))
      ofPicture[loop] = true;
    if (index.isConstant(0) || asWholeLoop(compute, index, pictureType.getShape()[dim]))
      continue;
    std::optional<Axis> axis = getAxis(compute, dim, index);
    if (!axis)
      return std::nullopt;
    axes.push_back(*axis);
    moves[axis->place] = moves[axis->tap] = true;
  }
  for (Expr index : getIndices(compute, form.gradient))
    for (unsigned loop : getLoops(index))
      ofGradient[loop] = true;
  int64_t lastDim = pictureType.getRank() - 1;
  if (axes.empty() || axes.size() > 3 || axes.back().dim != lastDim || axes.back().dilation != 1)
    return std::nullopt;
  form.pixel = axes.back();
  if (axes.size() > 1)
    form.row = axes[axes.size() - 2];
  if (axes.size() > 2)
    form.depth = axes.front();
  std::optional<LinearIndex> strides = getStrides(compute, form.gradient);
  if (!strides || !strides->strides[form.pixel.place].isConstant(1) || !getStrides(compute, form.picture))
    return std::nullopt;

  std::optional<unsigned> column;
  for (unsigned loop = 0; loop < compute.getNumLoops(); ++loop) {
    if (moves[loop]) {
      // A tap loop must not index the output gradient; a position loop must.
      if (ofGradient[loop] == compute.isParallel(loop))
        return std::nullopt;
      continue;
    }
    if (ofPicture[loop] == ofGradient[loop] && compute.isParallel(loop)) {
      form.outer.push_back(loop);
      continue;
    }
    std::optional<unsigned> &role = !compute.isParallel(loop) ? form.image : ofGradient[loop] ? column : form.channel;
    if (role)
      return std::nullopt;
    role = loop;
  }
  if (!column)
    return std::nullopt;
  form.column = *column;
  if (form.depth)
    form.outer.push_back(form.depth->tap);
  if (form.sumsWindow && !form.hasDenseSquares())
    return std::nullopt;
  // Rows are copied whole, and a one-dimensional signal is a single row of any length.
  if (!form.row && form.getPlaces().asConstant().value_or(longestSignal + 1) > longestSignal)
    return std::nullopt;
  return form;
}

Expr WeightGradientForm::getExtent(std::optional<unsigned> loop) {
  return loop ? compute.getExtents()[*loop] : Expr::constant(compute.getContext(), 1);
}

bool WeightGradientForm::hasDenseSquares() {
  auto isDense = [&](const Axis &axis) {
    return axis.stride == 1 && axis.dilation == 1 && getExtent(axis.tap).isConstant(WinogradTransforms::taps);
  };
  return row && isDense(*row) && isDense(pixel) && elementType.isF32();
}

bool WeightGradientForm::isPointwise(int64_t most) {
  std::optional<int64_t> places = getPlaces().asConstant();
  return channel && getRowTaps().isConstant(1) && getPixelTaps().isConstant(1) && pixel.stride == 1 && places &&
         *places <= most;
}

Expr WeightGradientForm::getPitch() {
  Expr steps = Expr::max(getPlaces() - 1, Expr::constant(compute.getContext(), 0));
  return steps * pixel.stride + getPixelTaps();
}
