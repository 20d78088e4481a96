#include "compiler/plan/WindowForm.h"

#include "compiler/plan/ChainForm.h"
#include "compiler/plan/ContractionForm.h"
#include "compiler/plan/Epilogues.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Vectors of up to this many interleaved elements are separated by shuffles.
static constexpr int64_t mostStride = 8;

static bool dependsOn(ArrayRef<Expr> indices, unsigned loop) {
  return llvm::any_of(indices, [&](Expr index) { return llvm::is_contained(getLoops(index), loop); });
}

/// The input that depends on the pixels, if all others do not and are linear.
static std::optional<unsigned> findPicture(ComputeOp compute, unsigned pixelLoop) {
  std::optional<unsigned> picture;
  for (unsigned input = 0; input < compute.getInputs().size(); ++input) {
    bool isPicture = dependsOn(getIndices(compute, input), pixelLoop);
    if ((isPicture && picture) || (!isPicture && compute.getFill(input)) || !hasStrides(compute.getInputType(input)) ||
        compute.getInputType(input).getElementType().isInteger(1) || !getStrides(compute, input))
      return std::nullopt;
    if (isPicture)
      picture = input;
  }
  return picture;
}

/// The one dimension that a loop moves over, and its step in elements.
static std::optional<std::pair<unsigned, int64_t>> findMovedDim(ComputeOp compute, ArrayRef<Expr> indices,
                                                                unsigned loop) {
  std::optional<std::pair<unsigned, int64_t>> moved;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Expr step = asLinear(index, compute.getNumLoops())->strides[loop];
    if (step.isConstant(0))
      continue;
    if (moved || step.asConstant().value_or(0) < 1)
      return std::nullopt;
    moved = {dim, *step.asConstant()};
  }
  return moved;
}

std::optional<WindowForm> WindowForm::get(ComputeOp compute) {
  if (compute.getNumResults() != 1 || !compute.getNumReductions() || !compute.getNumParallel() ||
      !compute.getReads().empty() || !compute.getBody()->getOps<IndexOp>().empty() ||
      !compute.getBody()->getOps<CheckOp>().empty())
    return std::nullopt;
  WindowForm form;
  form.compute = compute;
  form.pixelLoop = compute.getNumParallel() - 1;
  std::optional<unsigned> picture = findPicture(compute, form.pixelLoop);
  if (!picture)
    return std::nullopt;
  form.picture = *picture;
  Operation *widening = form.getWidening();
  form.elementType = widening ? widening->getResult(0).getType() : compute.getInputType(form.picture).getElementType();

  SmallVector<Expr> indices = getIndices(compute, form.picture);
  for (Expr index : indices) {
    std::optional<LinearIndex> coordinate = asLinear(index, compute.getNumLoops());
    if (!coordinate)
      return std::nullopt;
    for (unsigned loop : form.getTaps())
      if (coordinate->strides[loop].asConstant().value_or(-1) < 0)
        return std::nullopt;
  }
  auto pixel = findMovedDim(compute, indices, form.pixelLoop);
  if (!pixel || pixel->first + 1 != indices.size() || pixel->second > mostStride)
    return std::nullopt;
  form.pixelStride = pixel->second;

  for (unsigned loop = 0; loop < form.pixelLoop; ++loop) {
    if (!dependsOn(indices, loop)) {
      form.channels.push_back(loop);
      continue;
    }
    form.outer.push_back(loop);
    bool isShared = llvm::any_of(llvm::seq<unsigned>(compute.getInputs().size()), [&](unsigned input) {
      return input != form.picture && dependsOn(getIndices(compute, input), loop);
    });
    auto row = findMovedDim(compute, indices, loop);
    if (isShared || !row || row->first == pixel->first || getLoops(indices[row->first]).size() < 2)
      continue;
    form.rowLoop = loop;
    form.rowDim = row->first;
    form.rowStride = row->second;
  }
  if (form.rowLoop)
    llvm::erase(form.outer, *form.rowLoop);
  return form;
}

std::optional<WindowForm> WindowForm::get(ProgramOp program) {
  SmallVector<ComputeOp> computes = program.getComputes();
  if (computes.empty() || !areEpilogues(computes.front(), ArrayRef(computes).drop_front()))
    return std::nullopt;
  return get(computes.front());
}

bool WindowForm::isReadableInPlace() {
  graph::TensorType type = compute.getInputType(picture);
  unsigned pixelDim = type.getRank() - 1;
  if (!rowDim || type.getDim(*rowDim) != StageSymbols::get(compute.getContext(), /*numImages=*/0).held)
    return false;
  auto fill = dyn_cast_or_null<FloatAttr>(compute.getFill(picture));
  bool hasZeros = !compute.getFill(picture) || (fill && fill.getValue().isPosZero());
  bool isStored = elementType == type.getElementType() && isa<FloatType>(elementType);
  bool hasConstantTaps = getNumTaps().isConstant() && pixelStride == 1;
  // Before what a stage leaves, scratch has other stages' headers; behind it a row of windows (ChainTiles).
  constexpr int64_t mostBefore = 32;
  std::optional<int64_t> first =
      asLinear(getIndices(compute, picture)[pixelDim], compute.getNumLoops())->offset.asConstant();
  return hasZeros && isStored && hasConstantTaps && first.value_or(-mostBefore - 1) >= -mostBefore &&
         llvm::all_of(llvm::seq(pixelDim), [&](unsigned dim) { return dim == *rowDim || getSpan(dim).isConstant(1); });
}

bool WindowForm::readsAgain() {
  auto overlaps = [&](unsigned dim, int64_t stride) { return getSpan(dim).asConstant().value_or(stride + 1) > stride; };
  return overlaps(compute.getInputType(picture).getRank() - 1, pixelStride) || (rowDim && overlaps(*rowDim, rowStride));
}

Operation *WindowForm::getWidening() {
  Operation *widening = nullptr;
  for (Operation *user : compute.getInputArgs()[picture].getUsers()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::SIToFPOp, arith::UIToFPOp>(user) ||
        (widening && widening != user))
      return nullptr;
    widening = user;
  }
  return widening;
}

SmallVector<Expr> WindowForm::getExtents(ArrayRef<unsigned> loops) {
  return llvm::map_to_vector(loops, [&](unsigned loop) { return getExtent(loop); });
}

static Expr multiply(ArrayRef<Expr> extents, MLIRContext *context) {
  Expr product = Expr::constant(context, 1);
  for (Expr extent : extents)
    product = product * extent;
  return product;
}

Expr WindowForm::getNumChannels() { return multiply(getExtents(channels), compute.getContext()); }

Expr WindowForm::getRows() { return rowLoop ? getExtent(*rowLoop) : Expr::constant(compute.getContext(), 1); }

SmallVector<unsigned> WindowForm::getTaps() {
  return llvm::to_vector(llvm::seq<unsigned>(compute.getNumParallel(), compute.getNumLoops()));
}

Expr WindowForm::getNumTaps() { return multiply(getExtents(getTaps()), compute.getContext()); }

int64_t WindowForm::getTapStep(unsigned dim, unsigned loop) {
  return *asLinear(getIndices(compute, picture)[dim], compute.getNumLoops())->strides[loop].asConstant();
}

Expr WindowForm::getSpan(unsigned dim) {
  Expr one = Expr::constant(compute.getContext(), 1), span = one;
  for (unsigned loop : getTaps()) {
    Expr last = getExtent(loop) - 1;
    // An empty window covers nothing, but counts its first element.
    if (!last.isConstant() || last.isConstant(-1))
      last = Expr::max(last, one - 1);
    span = span + last * getTapStep(dim, loop);
  }
  return span;
}
