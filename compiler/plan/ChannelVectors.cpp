#include "compiler/plan/ChannelVectors.h"

#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/Scratch.h"
#include "compiler/plan/WindowTiles.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Whether an index changes along a loop; those of a single step are none.
static bool moves(WindowForm &form, const LinearIndex &index, unsigned loop) {
  return !index.strides[loop].isConstant(0) && !form.getExtent(loop).isConstant(1);
}

/// The largest value of a coordinate; nothing where it may be negative.
static std::optional<Expr> getLast(WindowForm &form, const LinearIndex &coordinate) {
  Expr last = coordinate.offset;
  for (unsigned loop = 0; loop < form.compute.getNumLoops(); ++loop) {
    if (!moves(form, coordinate, loop))
      continue;
    if (coordinate.strides[loop].asConstant().value_or(-1) < 0)
      return std::nullopt;
    last = last + coordinate.strides[loop] * (form.getExtent(loop) - 1);
  }
  return coordinate.offset.isConstant(0) ? std::optional(last) : std::nullopt;
}

/// Whether an operand is the same at all rows and pixels, and the elements of its taps follow each other with this
/// step, 1 or -1.
static bool areWeights(WindowForm &form, unsigned input, int64_t step) {
  std::optional<LinearIndex> linear = getStrides(form.compute, input);
  if (!linear || form.compute.getInputType(input).getElementType() != form.elementType ||
      moves(form, *linear, form.pixelLoop) || (form.rowLoop && moves(form, *linear, *form.rowLoop)))
    return false;
  int64_t distance = step;
  SmallVector<unsigned> taps = form.getTaps();
  for (unsigned loop : llvm::reverse(taps)) {
    if (moves(form, *linear, loop) ? !linear->strides[loop].isConstant(distance) : !form.getExtent(loop).isConstant(1))
      return false;
    distance *= *form.getExtent(loop).asConstant();
  }
  return true;
}

/// The loop of the channels that lanes have, and whether these share the picture.
static std::optional<std::pair<unsigned, bool>> findChannels(WindowForm &form) {
  std::optional<std::pair<unsigned, bool>> found;
  for (unsigned loop : form.channels) {
    if (form.getExtent(loop).isConstant(1))
      continue;
    if (found)
      return std::nullopt;
    found = {loop, true};
  }
  if (!found && !form.outer.empty())
    found = {form.outer.back(), false};
  return found;
}

std::optional<ChannelVectors> ChannelVectors::get(WindowForm &form) {
  constexpr int64_t mostTaps = 512;
  ComputeOp compute = form.compute;
  graph::TensorType type = compute.getInputType(form.picture);
  std::optional<int64_t> taps = form.getNumTaps().asConstant();
  auto channels = findChannels(form);
  if (!channels || !taps || *taps < 1 || *taps > mostTaps || !form.elementType.isF32() ||
      type.getElementType() != form.elementType || compute.getInit(0).getType() != form.elementType)
    return std::nullopt;
  ChannelVectors vectors;
  std::tie(vectors.loop, vectors.sharesPicture) = *channels;
  vectors.taps = *taps;
  for (unsigned input = 0; input < compute.getInputs().size(); ++input) {
    if (input == form.picture)
      continue;
    vectors.mirrored = areWeights(form, input, -1);
    if (vectors.weights || !(vectors.mirrored || areWeights(form, input, 1)))
      return std::nullopt;
    vectors.weights = input;
  }
  vectors.order = form.outer;
  if (vectors.weights && !vectors.sharesPicture) {
    // Lanes with weights of their own, also where the innermost loop goes along pictures.
    LinearIndex linear = *getStrides(compute, *vectors.weights);
    auto isOfWeights = [&](unsigned loop) { return moves(form, linear, loop); };
    if (auto last = llvm::find_if(llvm::reverse(form.outer), isOfWeights); last != form.outer.rend()) {
      vectors.loop = *last;
      llvm::erase(vectors.order, vectors.loop);
      vectors.order.push_back(vectors.loop);
    }
  }

  LinearIndex picture = *getStrides(compute, form.picture);
  unsigned loops = compute.getNumLoops(), pixelDim = type.getRank() - 1;
  Expr one = Expr::constant(compute.getContext(), 1);
  vectors.firstRow = vectors.planeStride = one - 1;
  vectors.pictureRows = vectors.boxRows = one;
  for (auto [dim, index] : llvm::enumerate(getIndices(compute, form.picture))) {
    LinearIndex coordinate = *asLinear(index, loops);
    bool isRow = form.rowDim == dim, isPixel = dim == pixelDim;
    for (unsigned loop = 0; loop < loops; ++loop) {
      bool isTap = !compute.isParallel(loop), isOwn = isRow ? loop == form.rowLoop : loop == form.pixelLoop;
      if (!moves(form, coordinate, loop) || (isRow || isPixel ? isTap || isOwn : !isTap))
        continue;
      // A loop over planes moves over no other dimension.
      if (isRow || isPixel || !vectors.sharesPicture || vectors.planeLoop || !coordinate.strides[loop].isConstant(1))
        return std::nullopt;
      vectors.planeLoop = loop;
      vectors.planes = *form.getExtent(loop).asConstant();
      vectors.planeStride = picture.strides[loop];
    }
    // Beside its rows and pixels, all of the picture's elements exist.
    if (!isRow && !isPixel && compute.getFill(form.picture)) {
      std::optional<Expr> last = getLast(form, coordinate);
      if (!last)
        return std::nullopt;
      if (*last + 1 != type.getShape()[dim])
        vectors.ends.push_back({*last + 1, type.getShape()[dim]});
    }
    if (isRow) {
      vectors.firstRow = coordinate.offset;
      vectors.pictureRows = type.getShape()[dim];
      vectors.boxRows = (form.getRows() - 1) * form.rowStride + form.getSpan(dim);
    }
    if (isPixel) {
      vectors.firstPixel = coordinate.offset;
      vectors.picturePixels = type.getShape()[dim];
      vectors.boxPixels = (form.getPixels() - 1) * form.pixelStride + form.getSpan(dim);
    }
  }
  for (auto [dim, index] : llvm::enumerate(getIndices(compute, form.picture)))
    if (vectors.planeLoop && (dim == pixelDim || form.rowDim == dim) &&
        !asLinear(index, loops)->strides[*vectors.planeLoop].isConstant(0))
      return std::nullopt;
  // Rows follow each other in memory.
  if (!picture.strides[form.pixelLoop].isConstant(form.pixelStride) ||
      (form.rowLoop && picture.strides[*form.rowLoop] != vectors.picturePixels * form.rowStride))
    return std::nullopt;
  vectors.results = form.getRows() * form.getPixels();
  return vectors;
}

Expr ChannelVectors::getBlocks(WindowForm &form, int64_t lanes) const {
  return Expr::ceilDiv(form.getExtent(loop), lanes);
}

SmallVector<unsigned> ChannelVectors::getWeightLoops(WindowForm &form) const {
  SmallVector<unsigned> loops;
  if (!weights)
    return loops;
  LinearIndex linear = *getStrides(form.compute, *weights);
  for (unsigned outer : form.outer)
    if (outer != loop && moves(form, linear, outer))
      loops.push_back(outer);
  return loops;
}

Expr ChannelVectors::getWeightBlocks(WindowForm &form, int64_t lanes) const {
  Expr blocks = getBlocks(form, lanes);
  for (unsigned outer : getWeightLoops(form))
    blocks = blocks * form.getExtent(outer);
  return blocks;
}

Expr ChannelVectors::getWeightElements(WindowForm &form, int64_t lanes) const {
  return getWeightBlocks(form, lanes) * (weights ? getPaddedTaps(lanes) * lanes : 0);
}

SmallVector<std::pair<Expr, Expr>> ChannelVectors::getLimits(WindowForm &form, WindowTilingAttr tiling) const {
  WindowTiles tiles = WindowTiles::get(form, tiling);
  auto constant = [&](int64_t value) { return Expr::constant(form.compute.getContext(), value); };
  SmallVector<std::pair<Expr, Expr>> limits = ends;
  limits.push_back({getPositions(), constant(tiling.getChannelVectors())});
  limits.push_back({tiles.rowBlocks * tiles.pixelBlocks, constant(1)});
  return limits;
}

Expr ChannelVectors::getScratch(WindowForm &form, int64_t most, int64_t lanes) const {
  MLIRContext *context = form.compute.getContext();
  auto getBytes = [&](int64_t elements, Type type) { return getScratchBytes(Expr::constant(context, elements), type); };
  Type word = IntegerType::get(context, 64);
  return getBytes(getBoxElements(most, lanes), form.elementType) + getBytes(getNumPlaces(most, lanes), word) * 2 +
         getBytes(taps, word) + getBytes(lanes * lanes, form.elementType) +
         getScratchBytes(getWeightBlocks(form, lanes), word) +
         getScratchBytes(getWeightElements(form, lanes), form.elementType);
}
