#include "compiler/plan/FormTrees.h"

#include "compiler/plan/TreeNodes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The numbers of computes behind the first ones.
static SmallVector<int64_t> getLater(size_t computes, int64_t first = 1) {
  return llvm::to_vector(llvm::seq<int64_t>(first, static_cast<int64_t>(computes)));
}

/// Dealt blocks, within those of outer points if there are any.
static ArrayAttr getRoot(TreeNodes &nodes, bool hasOuter, BlocksAttr dealt) {
  return nodes.body({hasOuter ? nodes.deal(/*axis=*/0, nodes.constant(1), {dealt}) : dealt});
}

ArrayAttr tile::getTree(const ConvolutionForm &form, const ConvolutionTiles &tiles, size_t computes) {
  using Axis = ConvolutionAxis;
  MicroKernelAttr kernel = tiles.kernel;
  TreeNodes nodes(kernel.getContext());
  BlocksAttr panels = nodes.divide(
      Axis::columns, nodes.constant(kernel.getWidth()),
      {nodes.multiply(/*compute=*/0, Axis::columns, /*wordSteps=*/1, tiles.tiling.getSkipTaps()),
       nodes.evaluate(getLater(computes), Axis::pixels, Axis::columns, tiles.tiling.getPrefetchChannels())});
  PackedAttr picture = nodes.pack(/*compute=*/0, form.picture, /*kept=*/0, /*most=*/0, /*whole=*/false,
                                  tiles.pictureStride ? tiles.tiling.getInPlace() : 0);
  BlocksAttr channels = nodes.divide(Axis::channels, nodes.constant(tiles.tiling.getChannels()), {picture, panels});
  BlocksAttr dealt = nodes.deal(Axis::pixels, tiles.pixelStep, {channels});
  dealt = nodes.deal(Axis::columns, tiles.columnStep, {nodes.deal(Axis::rows, tiles.rowStep, {dealt})});
  if (!tiles.pictureLoops.empty())
    dealt = nodes.deal(Axis::pictures, tiles.pictureStep, {dealt});
  return getRoot(nodes, !tiles.otherLoops.empty(), dealt);
}

ArrayAttr tile::getTree(const WeightGradientForm &form, const WeightGradientTiles &tiles, size_t computes) {
  using Axis = WeightGradientAxis;
  TreeNodes nodes(tiles.tiling.getContext());
  auto forPanels = [&](ArrayRef<Attribute> body) { return nodes.divide(Axis::panels, nodes.constant(1), body); };
  BlocksAttr products =
      forPanels({nodes.pack(/*compute=*/0, form.gradient), nodes.multiply(/*compute=*/0, Axis::panels)});
  PackedAttr picture = nodes.pack(/*compute=*/0, form.picture, /*kept=*/0, /*most=*/0, /*whole=*/false,
                                  /*inPlace=*/0, tiles.tiling.getApart());
  BlocksAttr rows = nodes.divide(Axis::rows, tiles.rowStep, {picture, products});
  BlocksAttr sums = nodes.divide(Axis::images, tiles.imageStep, {rows});
  Attribute results = nodes.vectors(Axis::columns, tiles.kernel.getLanes(), /*together=*/1,
                                    {nodes.evaluate(getLater(computes), Axis::columns, Axis::channels)});
  // Taps inside: those of a channel are neighbours in memory.
  for (unsigned axis : {Axis::pixelTaps, Axis::rowTaps, Axis::channels})
    results = nodes.divide(axis, nodes.constant(1), {results});
  results = forPanels({results});
  BlocksAttr dealt = nodes.deal(Axis::panels, tiles.panelStep, {sums, results});
  return getRoot(nodes, !form.outer.empty(), nodes.deal(Axis::channels, tiles.channelStep, {dealt}));
}

ArrayAttr tile::getTree(const WindowForm &form, const WindowTiles &tiles, size_t computes) {
  using Axis = WindowAxis;
  TreeNodes nodes(tiles.tiling.getContext());
  BlocksAttr taps = nodes.divide(Axis::taps, nodes.constant(tiles.tiling.getUnroll()),
                                 {nodes.evaluate({0}, Axis::pixels, Axis::rows)});
  VectorsAttr vectors = nodes.vectors(Axis::pixels, tiles.tiling.getLanes(), tiles.tiling.getVectors(),
                                      {taps, nodes.evaluate(getLater(computes), Axis::pixels, Axis::rows)});
  BlocksAttr rows = nodes.divide(Axis::rows, nodes.constant(tiles.tiling.getRows()), {vectors});
  BlocksAttr channels = nodes.divide(Axis::channels, nodes.constant(tiles.tiling.getChannels()), {rows});
  SmallVector<Attribute> tile = {channels};
  if (!tiles.tiling.getInPlace())
    tile.insert(tile.begin(), nodes.pack(/*compute=*/0, form.picture));
  BlocksAttr pixels = nodes.deal(Axis::pixels, tiles.pixelStep, tile);
  return getRoot(nodes, !form.outer.empty(), nodes.deal(Axis::rows, tiles.rowStep, {pixels}));
}

ArrayAttr tile::getTree(WindowForm &form, const ChannelVectors &vectors, int64_t lanes, size_t computes) {
  using Axis = ChannelVectorAxis;
  TreeNodes nodes(form.compute.getContext());
  Expr ofLanes = nodes.constant(lanes);
  SmallVector<Attribute> tile, block;
  (vectors.sharesPicture ? tile : block).push_back(nodes.pack(/*compute=*/0, form.picture));
  if (vectors.weights)
    block.insert(block.begin(), nodes.pack(/*compute=*/0, *vectors.weights));
  block.push_back(nodes.divide(Axis::results, ofLanes,
                               {nodes.evaluate(getLater(computes, /*first=*/0), Axis::channels, Axis::results)}));
  if (!vectors.sharesPicture) {
    BlocksAttr channels = nodes.deal(Axis::channels, nodes.constant(1), block, /*unit=*/1, /*together=*/lanes);
    return getRoot(nodes, vectors.order.size() > 1, channels);
  }
  tile.push_back(nodes.divide(Axis::channels, ofLanes, block));
  return nodes.body({nodes.deal(Axis::outer, nodes.constant(1), tile)});
}

ArrayAttr tile::getTree(const TranspositionTiles &tiles, TranspositionTilingAttr tiling, size_t computes) {
  using Axis = TranspositionAxis;
  TreeNodes nodes(tiling.getContext());
  unsigned lanes = tiling.interleaves() ? Axis::rows : Axis::columns,
           along = tiling.interleaves() ? Axis::columns : Axis::rows;
  BlocksAttr columns = nodes.divide(Axis::columns, nodes.constant(tiling.getWidth()),
                                    {nodes.evaluate(getLater(computes, /*first=*/0), lanes, along)});
  BlocksAttr rows = nodes.divide(Axis::rows, nodes.constant(tiling.getLanes()), {columns});
  BlocksAttr dealt = nodes.deal(Axis::columns, nodes.constant(tiling.getColumns()), {rows});
  return getRoot(nodes, !tiles.planes.empty(), nodes.deal(Axis::rows, nodes.constant(tiling.getRows()), {dealt}));
}

namespace {

/// The passes over a row, as nodes.
class RowPassNodes {
public:
  RowPassNodes(const RowForm &form, ArrayRef<ComputeOp> computes)
      : form(form), computes(computes), nodes(form.grid.rows.context()) {}

  SmallVector<Attribute> get();
  int64_t getNumber(ComputeOp compute) const { return llvm::find(computes, compute) - computes.begin(); }

private:
  using Axis = RowAxis;
  using Entries = ArrayRef<RowPasses::Entry>;

  Attribute getElements(unsigned pass, Entries entries);
  SmallVector<Attribute> evaluate(Entries entries, unsigned lanes, unsigned along, int64_t ahead = 0);
  /// Whether a compute reduces within an element, or a whole row's value, in loops of its own.
  static bool reducesWithin(const RowPasses::Entry &entry) {
    return entry.role != RowRole::reduction && tile::ComputeOp(entry.compute).getNumReductions() > 0;
  }
  static bool canShareLoops(Entries before, const RowPasses::Entry &entry);

  const RowForm &form;
  ArrayRef<ComputeOp> computes;
  TreeNodes nodes;
};

} // namespace

SmallVector<Attribute> RowPassNodes::get() {
  SmallVector<Attribute> body;
  for (unsigned pass = 0; pass <= form.passes.passes; ++pass) {
    SmallVector<RowPasses::Entry> ofRows, ofElements;
    for (const RowPasses::Entry &entry : form.passes.entries)
      if (entry.pass == pass)
        (entry.role == RowRole::scalar ? ofRows : ofElements).push_back(entry);
    llvm::append_range(body, evaluate(ofRows, Axis::rows, Axis::elements));
    if (!ofElements.empty())
      body.push_back(getElements(pass, ofElements));
  }
  return body;
}

/// The loops over the elements of a pass.
Attribute RowPassNodes::getElements(unsigned pass, Entries entries) {
  const RowGrid &grid = form.grid;
  const RowGrid::Pass &numbers = grid.passes[pass];
  unsigned rowLoops = grid.rowExtents.size(),
           loops = numbers.runLoops > 1 ? getPassExtents(form.passes, pass, rowLoops)->size() : 1;
  Attribute node =
      nodes.vectors(Axis::elements, numbers.lanes, numbers.vectors,
                    evaluate(entries, Axis::elements, Axis::rows, /*ahead=*/pass == grid.prefetching), grid.ends);
  for (unsigned loop = rowLoops + loops - 1; loop > rowLoops; --loop)
    node = nodes.divide(Axis::loops + loop - 1, nodes.constant(1), {node});
  return node;
}

/// Whether reductions within the same elements may share their loops: none reads another.
bool RowPassNodes::canShareLoops(Entries before, const RowPasses::Entry &entry) {
  tile::ComputeOp first = before.front().compute, compute = entry.compute;
  bool reads = llvm::any_of(compute.getInputs(), [&](Value input) {
    return llvm::any_of(before, [&](const RowPasses::Entry &other) { return input.getDefiningOp() == other.compute; });
  });
  return !reads && compute.getExtents() == first.getExtents() && compute.getNumParallel() == first.getNumParallel();
}

/// Computes one after another, and within the loops of their own reductions.
SmallVector<Attribute> RowPassNodes::evaluate(Entries entries, unsigned lanes, unsigned along, int64_t ahead) {
  SmallVector<Attribute> body;
  while (!entries.empty()) {
    bool isWithin = reducesWithin(entries.front());
    size_t count = 1;
    while (count < entries.size() && reducesWithin(entries[count]) == isWithin &&
           (!isWithin || canShareLoops(entries.take_front(count), entries[count])))
      ++count;
    auto numbers = llvm::map_to_vector(entries.take_front(count),
                                       [&](const RowPasses::Entry &entry) { return getNumber(entry.compute); });
    Attribute node = nodes.evaluate(numbers, lanes, along, ahead);
    tile::ComputeOp first = entries.front().compute;
    for (unsigned loop = first.getNumLoops(); isWithin && loop > first.getNumParallel(); --loop)
      node = nodes.divide(Axis::loops + loop - 1, nodes.constant(1), {node});
    body.push_back(node);
    entries = entries.drop_front(count);
  }
  return body;
}

ArrayAttr tile::getTree(const RowForm &form, ArrayRef<ComputeOp> computes) {
  using Axis = RowAxis;
  const RowGrid &grid = form.grid;
  TreeNodes nodes(grid.rows.context());
  RowPassNodes passes(form, computes);
  SmallVector<Attribute> body = passes.get();
  if (form.blocks) {
    BlocksAttr columns = nodes.divide(Axis::resultColumns, nodes.constant(form.blocks->mostColumns), body);
    body = {nodes.divide(Axis::resultRows, nodes.constant(form.blocks->mostRows), {columns})};
    if (std::optional<unsigned> copied = form.blocks->getCopiedInput())
      body.insert(body.begin(), nodes.pack(passes.getNumber(form.blocks->reduction), *copied));
  } else if (form.across) {
    body.insert(body.begin(), nodes.pack(passes.getNumber(form.across->reader), form.across->input));
  }
  bool hasRows = !grid.rowExtents.empty();
  if (hasRows)
    body = {nodes.divide(Axis::rows, nodes.constant(grid.together), body)};
  if (grid.columns)
    body = {nodes.deal(Axis::elements, *grid.columns, body)};
  if (hasRows)
    body = {nodes.deal(Axis::rows, grid.rows, body)};
  return nodes.body(body);
}

ArrayAttr tile::getFormTree(ProgramOp program) {
  size_t computes = program.getComputes().size();
  return llvm::TypeSwitch<Attribute, ArrayAttr>(program.getPlan()->getTiling())
      .Case([&](ConvolutionTilingAttr tiling) {
        ConvolutionForm form = *ConvolutionForm::get(program);
        return getTree(form, ConvolutionTiles::get(form, tiling), computes);
      })
      .Case([&](WeightGradientTilingAttr tiling) {
        WeightGradientForm form = *WeightGradientForm::get(program.getComputes().front());
        return getTree(form, WeightGradientTiles::get(form, tiling), computes);
      })
      .Case([&](WindowTilingAttr tiling) {
        WindowForm form = *WindowForm::get(program);
        return getTree(form, WindowTiles::get(form, tiling), computes);
      })
      .Case([&](TranspositionTilingAttr tiling) {
        return getTree(TranspositionTiles::get(program.getComputes().front(), tiling), tiling, computes);
      })
      .Case<MapTilingAttr, RowsTilingAttr>(
          [&](Attribute) { return getTree(RowForm::get(program), program.getComputes()); })
      .Case([&](OpaqueTilingAttr tiling) {
        TreeNodes nodes(tiling.getContext());
        return nodes.body({nodes.deal(/*axis=*/0, nodes.constant(1), {tiling})});
      })
      .Default([](Attribute) { return ArrayAttr(); });
}
