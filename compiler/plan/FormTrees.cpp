#include "compiler/plan/FormTrees.h"

#include "compiler/plan/TreeNodes.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

static SmallVector<int64_t> getLater(size_t computes) {
  return llvm::to_vector(llvm::seq<int64_t>(1, static_cast<int64_t>(computes)));
}

/// The tree of dealt blocks, within those of outer points if there are any.
static TreeTilingAttr makeTree(TreeNodes &nodes, MicroKernelAttr kernel, bool hasOuter, BlocksAttr dealt) {
  if (hasOuter)
    dealt = nodes.deal(/*axis=*/0, nodes.constant(1), {dealt});
  return TreeTilingAttr::get(kernel.getContext(), kernel, nodes.body({dealt}));
}

TreeTilingAttr tile::getTree(const ConvolutionForm &form, const ConvolutionTiles &tiles, size_t computes) {
  using Axis = ConvolutionAxis;
  MicroKernelAttr kernel = tiles.tiling.getKernel();
  TreeNodes nodes(kernel.getContext());
  BlocksAttr panels = nodes.divide(
      Axis::columns, nodes.constant(kernel.getWidth()),
      {nodes.multiply(/*compute=*/0, Axis::columns),
       nodes.evaluate(getLater(computes), Axis::pixels, Axis::columns, tiles.tiling.getPrefetchChannels())});
  BlocksAttr channels = nodes.divide(Axis::channels, nodes.constant(tiles.tiling.getChannels()),
                                     {nodes.pack(/*compute=*/0, form.picture), panels});
  BlocksAttr dealt = nodes.deal(Axis::pixels, tiles.pixelStep, {channels});
  dealt = nodes.deal(Axis::columns, tiles.columnStep, {nodes.deal(Axis::rows, tiles.rowStep, {dealt})});
  return makeTree(nodes, kernel, !form.contraction.outer.empty(), dealt);
}

TreeTilingAttr tile::getTree(const WeightGradientForm &form, const WeightGradientTiles &tiles, size_t computes) {
  using Axis = WeightGradientAxis;
  MicroKernelAttr kernel = tiles.tiling.getKernel();
  TreeNodes nodes(kernel.getContext());
  auto forPanels = [&](ArrayRef<Attribute> body) {
    return nodes.divide(Axis::columns, nodes.constant(kernel.getWidth()), body);
  };
  BlocksAttr products =
      forPanels({nodes.pack(/*compute=*/0, form.gradient), nodes.multiply(/*compute=*/0, Axis::columns)});
  BlocksAttr rows = nodes.divide(Axis::rows, tiles.rowStep, {nodes.pack(/*compute=*/0, form.picture), products});
  BlocksAttr sums = nodes.divide(Axis::images, tiles.imageStep, {rows});
  BlocksAttr results = forPanels({nodes.evaluate(getLater(computes), Axis::columns, Axis::channels)});
  BlocksAttr dealt = nodes.deal(Axis::columns, tiles.panelStep * kernel.getWidth(), {sums, results});
  return makeTree(nodes, kernel, !form.outer.empty(), nodes.deal(Axis::channels, tiles.channelStep, {dealt}));
}
