#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/dialect/tile/WinogradTransforms.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

using EmitError = function_ref<InFlightDiagnostic()>;

/// Refuses a size of code below `least`.
static LogicalResult verifySize(EmitError emitError, StringRef name, int64_t value, int64_t least = 1) {
  if (value >= least)
    return success();
  return emitError() << name << " is at least " << least << ", not " << value;
}

static LogicalResult verifyMultiple(EmitError emitError, StringRef name, int64_t value, int64_t unit, StringRef of) {
  if (failed(verifySize(emitError, name, value)))
    return failure();
  if (value % unit == 0)
    return success();
  return emitError() << name << " is a multiple of the " << unit << " " << of << ", not " << value;
}

static LogicalResult verifySize(EmitError emitError, StringRef name, sym::Expr value) {
  if (std::optional<int64_t> constant = value.asConstant())
    return verifySize(emitError, name, *constant);
  return success();
}

static LogicalResult verifyLanes(EmitError emitError, int64_t lanes) {
  if (lanes >= 1 && lanes <= 64 && llvm::isPowerOf2_64(lanes))
    return success();
  return emitError() << "lanes are a power of two up to 64, not " << lanes;
}

LogicalResult MicroKernelAttr::verify(EmitError emitError, int64_t rows, int64_t vectors, int64_t lanes, int64_t unroll,
                                      int64_t lastVectors, bool) {
  constexpr int64_t mostRows = 62;
  if (rows < 2 || rows > mostRows || rows % 2)
    return emitError() << "a micro-kernel has an even number of rows up to " << mostRows << ", not " << rows;
  if (vectors != 2)
    return emitError() << "a row of a micro-kernel has 2 vectors, not " << vectors;
  if (unroll < 2 || unroll > 8 || !llvm::isPowerOf2_64(unroll))
    return emitError() << "a turn of a micro-kernel has 2, 4 or 8 steps, not " << unroll;
  if (lastVectors < 0 || lastVectors >= vectors)
    return emitError() << "a last panel has fewer vectors than the others, not " << lastVectors;
  return verifyLanes(emitError, lanes);
}

LogicalResult DotProductKernelAttr::verify(EmitError emitError, DotProductUnit unit, int64_t groups, int64_t parts,
                                           int64_t lastVectors) {
  if (parts != 1 && !(parts == 3 && unit == DotProductUnit::tiles))
    return emitError() << "an element has 1 part, or 3 on tiles, not " << parts;
  if (lastVectors < 0 || lastVectors > (unit == DotProductUnit::vectors ? 1 : 0))
    return emitError() << "a last panel is one vector at least, of the two that others are, and on vectors alone, not "
                       << lastVectors;
  return verifySize(emitError, "groups", groups);
}

LogicalResult ConvolutionTilingAttr::verify(EmitError emitError, MicroKernelAttr, int64_t pixels, int64_t area,
                                            int64_t panels, int64_t channels, int64_t leastTiles,
                                            int64_t prefetchChannels, int64_t inPlace, int64_t transformed, bool,
                                            int64_t pictures, bool, int64_t copyAhead) {
  if (transformed && pictures > 1)
    return emitError() << "pictures that are transformed go one by one, not " << pictures << " together";
  if (area < pixels)
    return emitError() << "the area of a tile holds its row of " << pixels << " pixels, not " << area;
  return success(succeeded(verifySize(emitError, "pixels", pixels)) &&
                 succeeded(verifySize(emitError, "panels", panels)) &&
                 succeeded(verifySize(emitError, "channels", channels)) &&
                 succeeded(verifySize(emitError, "least_tiles", leastTiles)) &&
                 succeeded(verifySize(emitError, "prefetch_channels", prefetchChannels)) &&
                 succeeded(verifySize(emitError, "in_place", inPlace)) &&
                 succeeded(verifySize(emitError, "transformed", transformed, 0)) &&
                 succeeded(verifySize(emitError, "pictures", pictures)) &&
                 succeeded(verifySize(emitError, "copy_ahead", copyAhead, 0)));
}

LogicalResult WeightGradientTilingAttr::verify(EmitError emitError, MicroKernelAttr, int64_t places, int64_t plane,
                                               int64_t sums, int64_t leastTiles, int64_t outputs, int64_t channels,
                                               int64_t transformed, bool, int64_t bringBeyond) {
  if (outputs && !WinogradTransforms::isSupported(outputs))
    return emitError() << "squares of positions have 2 or 4 a side, not " << outputs;
  if (outputs && (failed(verifySize(emitError, "channels", channels)) ||
                  failed(verifySize(emitError, "transformed", transformed))))
    return failure();
  return success(succeeded(verifySize(emitError, "places", places)) &&
                 succeeded(verifySize(emitError, "plane", plane)) && succeeded(verifySize(emitError, "sums", sums)) &&
                 succeeded(verifySize(emitError, "least_tiles", leastTiles)) &&
                 succeeded(verifySize(emitError, "bring_beyond", bringBeyond, 0)));
}

/// Where elements follow each other one by one, there is one accumulator.
static LogicalResult verifyAccumulators(EmitError emitError, int64_t accumulators, int64_t lanes) {
  constexpr int64_t most = 16;
  if (accumulators >= 1 && accumulators <= (lanes > 1 ? most : 1))
    return success();
  return emitError() << "accumulators are 1 to " << most << ", 1 where lanes are 1, not " << accumulators;
}

LogicalResult WindowTilingAttr::verify(EmitError emitError, int64_t channels, int64_t rows, int64_t vectors,
                                       int64_t lanes, int64_t pixels, int64_t copy, int64_t unroll,
                                       int64_t channelVectors, int64_t bringBeyond, bool, bool) {
  // All of a block stands in registers, and is written out.
  constexpr int64_t largestBlock = 64;
  for (auto [name, value] : {std::pair("channels", channels), {"rows", rows}, {"vectors", vectors}})
    if (failed(verifySize(emitError, name, value)))
      return failure();
  if (channels > largestBlock || rows > largestBlock || vectors > largestBlock ||
      channels * rows * vectors > largestBlock)
    return emitError() << "a block of registers has at most " << largestBlock << " vectors, not " << channels << " x "
                       << rows << " x " << vectors;
  return success(succeeded(verifyLanes(emitError, lanes)) &&
                 succeeded(verifyMultiple(emitError, "pixels", pixels, lanes, "lanes of a vector")) &&
                 succeeded(verifySize(emitError, "copy", copy)) && succeeded(verifySize(emitError, "unroll", unroll)) &&
                 succeeded(verifySize(emitError, "channel_vectors", channelVectors, 0)) &&
                 succeeded(verifySize(emitError, "bring_beyond", bringBeyond, 0)));
}

LogicalResult RowsTilingAttr::verify(EmitError emitError, int64_t rowLoops, sym::Expr rows, ArrayRef<int64_t> runLoops,
                                     ArrayRef<int64_t> lanes, ArrayRef<int64_t> accumulators, int64_t blockRows,
                                     int64_t blockColumns, int64_t packed, int64_t together, int64_t shortRow,
                                     int64_t prefetching) {
  // A block stands in registers, and is written out.
  constexpr int64_t largestBlock = 32;
  for (auto [name, value] : {std::pair("block_rows", blockRows), {"block_columns", blockColumns}})
    if (failed(verifySize(emitError, name, value)))
      return failure();
  if (blockRows > largestBlock || blockColumns > largestBlock || blockRows * blockColumns > largestBlock)
    return emitError() << "a block of results has at most " << largestBlock << ", not " << blockRows << " x "
                       << blockColumns;
  if (failed(verifySize(emitError, "packed", packed, -1)))
    return failure();
  if (packed >= 0 && blockRows * blockColumns == 1 &&
      (!rowLoops || !llvm::all_equal(lanes) || lanes.empty() || lanes[0] == 1))
    return emitError() << "operand " << packed << " is packed for vectors of one width along rows, but there are none";
  if (!llvm::isPowerOf2_64(together) || together > largestBlock)
    return emitError() << "rows together are a power of two up to " << largestBlock << ", not " << together;
  if (together > 1 && (!rowLoops || packed >= 0 || blockRows * blockColumns > 1))
    return emitError() << "rows in blocks, of packed operands or without a loop do not go together";
  for (int64_t width : lanes)
    if (together > 1 && width < together)
      return emitError() << together << " rows together are the lanes of a vector, which has " << width;
  if (prefetching != -1 && (prefetching < 1 || prefetching >= int64_t(lanes.size()) || !rowLoops))
    return emitError() << "what prefetches rows is a pass behind the first of several rows, not " << prefetching;
  if (failed(verifySize(emitError, "short_row", shortRow, together > 1)))
    return failure();
  if (runLoops.size() != lanes.size() || accumulators.size() != lanes.size())
    return emitError() << "run_loops, lanes and accumulators have an entry for every pass, not " << runLoops.size()
                       << ", " << lanes.size() << " and " << accumulators.size();
  for (auto [loops, width, kept] : llvm::zip_equal(runLoops, lanes, accumulators))
    if (failed(verifySize(emitError, "run_loops", loops)) || failed(verifyLanes(emitError, width)) ||
        failed(verifyAccumulators(emitError, kept, width)))
      return failure();
  return success(succeeded(verifySize(emitError, "row_loops", rowLoops, 0)) &&
                 succeeded(verifySize(emitError, "rows", rows)));
}

static LogicalResult verifyEnds(EmitError emitError, ArrayRef<sym::Expr> ends) {
  for (auto [end, next] : llvm::zip(ends, ends.drop_front()))
    if (end.isConstant() && next.isConstant() && *end.asConstant() >= *next.asConstant())
      return emitError() << "ends of segments must ascend, not go from " << *end.asConstant() << " to "
                         << *next.asConstant();
  return success();
}

LogicalResult MapTilingAttr::verify(EmitError emitError, sym::Expr rows, sym::Expr columns, int64_t lanes,
                                    int64_t vectors, ArrayRef<sym::Expr> ends) {
  return success(succeeded(verifyEnds(emitError, ends)) && succeeded(verifySize(emitError, "rows", rows)) &&
                 succeeded(verifySize(emitError, "columns", columns)) && succeeded(verifyLanes(emitError, lanes)) &&
                 succeeded(verifySize(emitError, "vectors", vectors)));
}

LogicalResult TranspositionTilingAttr::verify(EmitError emitError, int64_t across, int64_t rows, int64_t columns,
                                              int64_t width, int64_t lanes) {
  if (width > lanes || (width < lanes && width != columns))
    return emitError() << "a block has the " << lanes << " columns of a vector, or all " << columns << ", not "
                       << width;
  return success(succeeded(verifySize(emitError, "across", across, 0)) &&
                 succeeded(verifySize(emitError, "width", width)) && succeeded(verifyLanes(emitError, lanes)) &&
                 succeeded(verifyMultiple(emitError, "rows", rows, lanes, "rows of a block")) &&
                 succeeded(verifyMultiple(emitError, "columns", columns, width, "columns of a block")));
}

LogicalResult ShareAttr::verify(EmitError emitError, int64_t elements, int64_t mostRows, int64_t leastTiles) {
  return success(succeeded(verifySize(emitError, "elements", elements)) &&
                 succeeded(verifySize(emitError, "most_rows", mostRows)) &&
                 succeeded(verifySize(emitError, "least_tiles", leastTiles)));
}

LogicalResult BlocksAttr::verify(EmitError emitError, int64_t axis, sym::Expr step, int64_t unit, bool dealt,
                                 int64_t together, ShareAttr share, int64_t mostDepth, ArrayAttr, int64_t,
                                 bool alternate) {
  if (failed(verifySize(emitError, "axis", axis, 0)) || failed(verifySize(emitError, "step", step)) ||
      failed(verifySize(emitError, "unit", unit)) || failed(verifySize(emitError, "together", together)) ||
      failed(verifySize(emitError, "most_depth", mostDepth, 0)))
    return failure();
  std::optional<int64_t> known = step.asConstant();
  if (known && failed(verifyMultiple(emitError, "step", *known, unit, "of a unit")))
    return failure();
  if (dealt && mostDepth)
    return emitError() << "strips are blocks within a tile, not dealt";
  if (!dealt && (together > 1 || share || alternate))
    return emitError()
           << "tiles that are together or alternate, or a share for all sizes, are of blocks that are dealt";
  if (share && !known)
    return emitError() << "a share has whole steps of a constant size, not of " << step.attr();
  return share ? verifyMultiple(emitError, "most_rows", share.getMostRows(), *known, "of a step") : success();
}

LogicalResult VectorsAttr::verify(EmitError emitError, int64_t axis, int64_t lanes, int64_t together, ArrayAttr,
                                  ArrayRef<sym::Expr> ends) {
  return success(succeeded(verifySize(emitError, "axis", axis, 0)) && succeeded(verifyLanes(emitError, lanes)) &&
                 succeeded(verifySize(emitError, "together", together)) && succeeded(verifyEnds(emitError, ends)));
}

LogicalResult PackedAttr::verify(EmitError emitError, int64_t compute, int64_t input, int64_t kept, int64_t most,
                                 bool whole, int64_t inPlace, bool, int64_t together, int64_t far) {
  if (most && !kept)
    return emitError() << "a copy of at most " << most << " elements is kept for no tiles";
  if (whole && !most)
    return emitError() << "a copy is kept whole up to a number of elements";
  return success(
      succeeded(verifySize(emitError, "compute", compute, 0)) && succeeded(verifySize(emitError, "input", input, 0)) &&
      succeeded(verifySize(emitError, "kept", kept, 0)) && succeeded(verifySize(emitError, "most", most, 0)) &&
      succeeded(verifySize(emitError, "in_place", inPlace, 0)) &&
      succeeded(verifySize(emitError, "together", together)) && succeeded(verifySize(emitError, "far", far, 0)));
}

LogicalResult MultiplyAttr::verify(EmitError emitError, int64_t compute, int64_t columns, int64_t wordSteps, bool,
                                   int64_t bringBeyond, bool) {
  if (wordSteps != 1 && wordSteps != 2)
    return emitError() << "a word has 1 or 2 steps of k, not " << wordSteps;
  return success(succeeded(verifySize(emitError, "compute", compute, 0)) &&
                 succeeded(verifySize(emitError, "columns", columns, 0)) &&
                 succeeded(verifySize(emitError, "bring_beyond", bringBeyond, 0)));
}

LogicalResult EvaluateAttr::verify(EmitError emitError, ArrayRef<int64_t> computes, int64_t lanes, int64_t along,
                                   int64_t ahead) {
  for (int64_t compute : computes)
    if (failed(verifySize(emitError, "compute", compute, 0)))
      return failure();
  if (lanes == along)
    return emitError() << "vectors and passes run along different axes, not both along " << lanes;
  return success(succeeded(verifySize(emitError, "lanes", lanes, 0)) &&
                 succeeded(verifySize(emitError, "along", along, 0)) &&
                 succeeded(verifySize(emitError, "ahead", ahead, 0)));
}

LogicalResult TreeTilingAttr::verify(EmitError emitError, Attribute kernel, ArrayAttr body) {
  if (!isa_and_nonnull<MicroKernelAttr, DotProductKernelAttr>(kernel))
    return emitError() << "a tree has a kernel of multiply-adds or of dot products, not " << kernel;
  if (body.empty())
    return emitError() << "a tree of tiles has a node";
  return success();
}

LogicalResult EdgeAttr::verify(EmitError emitError, int64_t level, int64_t elements, bool) {
  return success(succeeded(verifySize(emitError, "level", level)) &&
                 succeeded(verifySize(emitError, "elements", elements)));
}

static bool isStage(Attribute node) {
  if (auto choice = dyn_cast<ChoiceAttr>(node))
    return llvm::all_of(choice.getTilings(), isStage);
  return isa<TreeTilingAttr, ConvolutionTilingAttr, WindowTilingAttr>(node);
}

LogicalResult StagesAttr::verify(EmitError emitError, ArrayRef<Attribute> stages, ArrayRef<EdgeAttr> edges,
                                 int64_t rowUnit, int64_t leastTiles) {
  if (stages.size() < 2 || edges.size() + 1 != stages.size())
    return emitError() << "a chain has several stages and an edge between each two, not " << stages.size()
                       << " stages and " << edges.size() << " edges";
  for (Attribute stage : stages)
    if (!isStage(stage))
      return emitError() << "a stage is a contraction, a convolution, a window or a choice of these, not " << stage;
  return success(succeeded(verifySize(emitError, "row_unit", rowUnit)) &&
                 succeeded(verifySize(emitError, "least_tiles", leastTiles)));
}

LogicalResult StageAttr::verify(EmitError emitError, int64_t number, int64_t loop) {
  return success(succeeded(verifySize(emitError, "number", number, 0)) &&
                 succeeded(verifySize(emitError, "loop", loop, 0)));
}

LogicalResult OuterLoopAttr::verify(EmitError emitError, ArrayRef<Attribute> stages, int64_t elements,
                                    int64_t leastTiles) {
  if (stages.size() < 2)
    return emitError() << "several stages share an outer loop, not " << stages.size();
  for (Attribute stage : stages)
    if (!isa<TreeTilingAttr, WindowTilingAttr, RowsTilingAttr, MapTilingAttr, TranspositionTilingAttr>(stage))
      return emitError() << "a stage under an outer loop is a tree, a window, rows or a map, not " << stage;
  return success(succeeded(verifySize(emitError, "elements", elements)) &&
                 succeeded(verifySize(emitError, "least_tiles", leastTiles)));
}

/// Refuses what can't be the root of a program's tree.
static LogicalResult verifyNode(EmitError emitError, StringRef what, Attribute node) {
  if (isa<ChoiceAttr, StagesAttr, OuterLoopAttr, TreeTilingAttr, ConvolutionTilingAttr, WeightGradientTilingAttr,
          WindowTilingAttr, RowsTilingAttr, MapTilingAttr, TranspositionTilingAttr, OpaqueTilingAttr>(node))
    return success();
  return emitError() << what << " needs a tiling, not " << node;
}

LogicalResult VariantAttr::verify(EmitError emitError, sym::Expr size, int64_t most, Attribute tiling) {
  if (size.isInvalid() || size.isConstant())
    return emitError() << "a variant is chosen by a size that a run brings, not by " << size.attr();
  return success(succeeded(verifySize(emitError, "most", most, 0)) &&
                 succeeded(verifyNode(emitError, "a variant", tiling)));
}

LogicalResult ChoiceAttr::verify(EmitError emitError, ArrayRef<VariantAttr> variants, Attribute otherwise) {
  if (variants.empty())
    return emitError() << "variants are several tilings";
  for (auto [number, variant] : llvm::enumerate(variants))
    for (VariantAttr earlier : variants.take_front(number))
      if (variant.getSize() == earlier.getSize() && variant.getMost() <= earlier.getMost())
        return emitError() << "a variant for " << variant.getSize().attr() << " of at most " << variant.getMost()
                           << " is never chosen after one of at most " << earlier.getMost();
  return verifyNode(emitError, "what suits all other sizes", otherwise);
}

SmallVector<Attribute> ChoiceAttr::getTilings() const {
  SmallVector<Attribute> tilings =
      llvm::map_to_vector(getVariants(), [](VariantAttr variant) { return variant.getTiling(); });
  tilings.push_back(getOtherwise());
  return tilings;
}

LogicalResult PlanAttr::verify(EmitError emitError, Attribute tiling, sym::Expr, sym::Expr, ArrayAttr reads,
                               ArrayAttr writes) {
  if (failed(verifyNode(emitError, "a plan", tiling)))
    return failure();
  for (ArrayAttr accesses : {reads, writes})
    for (Attribute access : accesses)
      if (!isa<sym::ExprAttr, SharedBlockAttr, UnitAttr>(access))
        return emitError() << "a tile touches so many elements, a shared block or unit, not " << access;
  return success();
}

LogicalResult SharedBlockAttr::verify(EmitError emitError, sym::Expr elements, sym::Expr tiles) {
  if (elements.isInvalid() || tiles.isInvalid() || tiles.isConstant(1))
    return emitError() << "a block of " << elements.str() << " elements is shared by several tiles, not by "
                       << tiles.str();
  return success();
}

Attribute SharedBlockAttr::getAccess(sym::Expr elements, sym::Expr tiles) {
  if (elements.isInvalid() || tiles.isInvalid())
    return UnitAttr::get(elements.context());
  if (tiles.isConstant(1))
    return elements.attr();
  return get(elements.context(), elements, tiles);
}
