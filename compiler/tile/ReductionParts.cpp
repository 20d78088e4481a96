#include "compiler/tile/ReductionParts.h"

#include "compiler/plan/Combiner.h"
#include "compiler/plan/ContractionTiles.h"
#include "compiler/plan/SizeOperations.h"
#include "compiler/plan/WeightGradientForm.h"
#include "compiler/tile/RewriteLoops.h"
#include "compiler/tile/TileContraction.h"
#include "compiler/tile/TileLoops.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Tiles enough to occupy all workers of a large machine.
static constexpr int64_t enoughTiles = 32;

/// Typical value of run-time sizes for reductions along memory: they are split, and short runs compute one part.
static constexpr int64_t unknownSize = 1 << 20;

/// Other reductions over a run-time size, such as a batch, are split into more than this many parts at typical sizes,
/// or not at all: short runs would pay for a copy of the results.
static constexpr int64_t fewParts = 3;

namespace {

/// Bounds of the number of parts.
struct PartBounds {
  /// The number of parts that makes enough tiles; 1 if the results do.
  int64_t most = 1;
  /// Least steps of all reduction loops, and points of all loops, of a part.
  int64_t leastSteps, leastPoints;
};

} // namespace

static bool canBeParts(ComputeOp op) {
  if (!op.getNumReductions() || !op.getReads().empty() || !canKeepLanes(op) || !op.getBody()->getOps<CheckOp>().empty())
    return false;
  // Narrow partial results would round the sums, which are accumulated in a wider type.
  return llvm::none_of(op.getResultTypes(), [](Type type) {
    Type element = cast<graph::TensorType>(type).getElementType();
    return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  });
}

/// For a contraction in a micro-kernel: the largest tiles, so that operands are packed once.
static PartBounds getBounds(ContractionForm &form, const TypicalSizes &sizes, const DeviceDescription &device) {
  auto count = [&](ArrayRef<unsigned> loops, int64_t step) {
    return llvm::divideCeil(*form.getExtent(loops).asConstant(), step);
  };
  PartBounds bounds{.leastSteps = 1024, .leastPoints = 1 << 18};
  int64_t tiles, largest;
  TypicalRuns runs(sizes);
  if (isDotProductContraction(form, device)) {
    ContractionTree tiling = *ContractionTree::get(tileDotProducts(form, runs, device, {.strips = false}));
    auto extent = [&](ArrayRef<unsigned> loops) { return *form.getExtent(loops).asConstant(); };
    int64_t rows = getMostRows<int64_t>(RowShare::get(form, tiling), extent(form.outer) * enoughTiles, extent(form.m),
                                        extent(form.n), bounds.leastSteps, IntegerOperations());
    int64_t columns = tiling.panels * tiling.kernel.getWidth();
    tiles = largest = count(form.outer, 1) * count(form.m, rows) * count(form.n, columns);
  } else {
    ContractionTree tiling =
        *ContractionTree::get(tileContraction(form, runs, device, {.innerProducts = false, .variants = false}));
    // Parts are outer loops, so that rows need not be divided.
    ContractionProblem part =
        getContractionProblems(form, tiling.kernel, tiling.multiply.getWordSteps(), runs, {}).front();
    part.outer *= enoughTiles;
    part.k = bounds.leastSteps;
    int64_t rowBlocks = count(form.outer, 1) * count(form.m, getMostRows(part, ContractionShares::get(tiling)));
    int64_t width = tiling.kernel.getWidth();
    tiles = rowBlocks * count(form.n, width);
    largest = rowBlocks * count(form.n, tiling.panels * width);
  }
  if (tiles > 0 && tiles < enoughTiles)
    bounds.most = enoughTiles / largest;
  return bounds;
}

/// For other reductions. Along contiguous memory, every result is a tile. Otherwise tiles are runs of results; whole
/// rows for results of split reductions.
static PartBounds getBounds(ComputeOp op, int64_t results, const DeviceDescription &device) {
  PartBounds bounds{.leastSteps = 64, .leastPoints = 1 << 14};
  bool alongMemory = reducesAlongMemory(op);
  int64_t tiles = alongMemory ? results : llvm::divideCeil(results, 8 * device.getLanes(32));
  if (tiles > 0 && tiles < enoughTiles)
    bounds.most = alongMemory ? enoughTiles / tiles : enoughTiles;
  return bounds;
}

/// The reduction loop with the most steps.
static unsigned getLongestLoop(ComputeOp op, const TypicalSizes &sizes) {
  SmallVector<Expr> extents = op.getExtents();
  auto lengthOf = [&](unsigned loop) { return sizes.evaluate(extents[loop]).value_or(0); };
  unsigned longest = op.getNumParallel();
  for (unsigned loop = longest + 1; loop < op.getNumLoops(); ++loop)
    if (lengthOf(loop) > lengthOf(longest))
      longest = loop;
  return longest;
}

/// As many parts, or fewer if that makes them equal without a remainder.
static Expr preferEqualParts(Expr parts, Expr length) {
  std::optional<int64_t> most = parts.asConstant(), steps = length.asConstant();
  if (!most || !steps)
    return parts;
  for (int64_t count = *most; count > *most / 2; --count)
    if (*steps % count == 0)
      return Expr::constant(parts.context(), count);
  return parts;
}

std::optional<ReductionParts> tile::chooseReductionParts(ComputeOp op, const TypicalSizes &sizes,
                                                         const DeviceDescription &device) {
  if (!canBeParts(op))
    return std::nullopt;
  MLIRContext *context = op.getContext();
  std::optional<ContractionForm> form = ContractionForm::get(op);
  // Words are read in whole groups of steps, and strips are not divided.
  int64_t unit = 1;
  if (form && form->areColumnsWords()) {
    auto words = cast<WordsAttr>(op.getInputType(*form->getInput(form->rhs)).getLayout());
    unit = WordsAttr::words * words.getOf();
  }
  if (form && (form->areRowsStrips() || (unit > 1 && form->k.size() > 1)))
    return std::nullopt;
  if (form && (classify(op, getSizeBounds(op)) == ProgramClass::convolution || WeightGradientForm::get(op)))
    return std::nullopt;
  bool hasKernel = form && (isDotProductContraction(*form, device) ||
                            isMicroKernelContraction(*form, getMicroKernel(device, form->elementType).getWidth()));
  SmallVector<Expr> extents = op.getExtents();
  std::optional<int64_t> results =
      getNumPoints(ArrayRef(extents).take_front(op.getNumParallel()), context).asConstant();
  // With a data-dependent number of results, a single part would be a copy.
  if (!results)
    return std::nullopt;
  PartBounds bounds = hasKernel ? getBounds(*form, sizes, device) : getBounds(op, *results, device);
  if (bounds.most < 2)
    return std::nullopt;

  ReductionParts parts;
  parts.loop = getLongestLoop(op, sizes);
  Expr steps = extents[parts.loop], perStep = Expr::constant(context, 1);
  for (unsigned loop = op.getNumParallel(); loop < op.getNumLoops(); ++loop)
    if (loop != parts.loop)
      perStep = perStep * extents[loop];
  int64_t leastSteps = std::max<int64_t>(bounds.leastSteps, llvm::divideCeil(bounds.leastPoints, *results));
  Expr least = Expr::ceilDiv(Expr::constant(context, leastSteps), perStep);
  Expr most = Expr::min(Expr::constant(context, bounds.most), Expr::floorDiv(steps, least) + 1);
  parts.parts = preferEqualParts(most, Expr::floorDiv(steps, unit));
  bool alongMemory = !hasKernel && reducesAlongMemory(op);
  std::optional<int64_t> count = alongMemory ? sizes.evaluate(parts.parts, unknownSize) : sizes.evaluate(parts.parts);
  if (count.value_or(1) <= (alongMemory || steps.isConstant() ? 1 : fewParts))
    return std::nullopt;
  parts.length = Expr::floorDiv(steps, parts.parts * unit) * unit;
  parts.rest = steps - parts.length * parts.parts;
  return parts;
}
