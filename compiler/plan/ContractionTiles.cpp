#include "compiler/plan/ContractionTiles.h"

#include "compiler/plan/Scratch.h"
#include "compiler/plan/SizeOperations.h"
#include "compiler/plan/Variants.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

ContractionTiles ContractionTiles::get(ContractionForm &form, const ContractionTree &tree) {
  MLIRContext *context = tree.kernel.getContext();
  auto constant = [&](int64_t value) { return Expr::constant(context, value); };
  MicroKernelAttr kernel = tree.kernel;
  int64_t width = kernel.getWidth(), height = kernel.getRows(), elements = tree.share.getElements();
  Expr outer = form.getExtent(form.outer), rows = form.getExtent(form.m), columns = form.getExtent(form.n),
       depth = form.getDepth(tree.multiply.getWordSteps());
  std::optional<int64_t> windowTaps = form.getWindowTaps();

  ContractionTiles tiles;
  tiles.kernel = kernel;
  tiles.packedType = tiles.sumType = form.elementType;
  tiles.wordSteps = tree.multiply.getWordSteps();
  tiles.streamedRows = tree.multiply.getStreamedRows();
  tiles.stripPanels = tree.multiply.getStripPanels();
  tiles.stripDepth = tree.multiply.getStripDepth();
  tiles.prefetchRows = tree.evaluate ? tree.evaluate.getAhead() : 0;
  tiles.mayGroup = tree.columns.has_value();
  tiles.slices = form.slices;
  tiles.epilogueRows = form.slices > 1 ? sliceRows : 1;
  int64_t runTiles = llvm::divideCeil(tree.panels, form.slices);
  tiles.runTiles = constant(runTiles);
  tiles.columnCopies = tree.columns ? Copies::ofPanel : Copies::none;
  tiles.keepsSums = static_cast<bool>(tree.evaluate);
  tiles.keptRows = constant(tree.keptRows);
  tiles.keptColumns = constant(tree.keptColumns);
  tiles.taps = windowTaps.value_or(1);
  tiles.depthUnit = tree.depthUnit * tiles.taps;
  RowShare share{height, width, tree.depth, elements, tree.share.getMostRows(), tree.share.getLeastTiles()};
  tiles.rowBlocks = Expr::ceilDiv(rows, getMostRows<Expr>(share, outer, rows, columns, depth, ExprOperations{context}));
  tiles.columnTiles = Expr::ceilDiv(columns, tiles.getTileWidth());
  // A window is packed tap by tap, so that all steps within one outermost step are in one block.
  Expr steps = windowTaps ? form.getExtent(form.k.front()) : depth;
  int64_t mostSteps = std::max<int64_t>(1, tree.depth / tiles.taps);
  tiles.depthBlocks = Expr::max(constant(1), Expr::ceilDiv(steps, mostSteps));
  tiles.tiles = outer * tiles.rowBlocks * tiles.columnTiles;

  // Bounds of what blocks of about equal size take.
  int64_t mostDepth = llvm::divideCeil(mostSteps * tiles.taps, tiles.depthUnit) * tiles.depthUnit;
  int64_t rowsOfBlock = elements / tree.depth + height;
  int64_t ofBlock = std::max(elements + height * mostDepth, rowsOfBlock * mostDepth);
  int64_t ofSums = std::max(elements + height * width, std::max(rowsOfBlock, tiles.epilogueRows) * width);
  // Each block of k ends in less than a unit more, all but the last are full, and all together hold less than one more.
  Expr rounded = tiles.depthBlocks.isConstant() ? tiles.depthBlocks * tiles.depthUnit
                                                : Expr::min(depth + tiles.depthUnit, constant(mostDepth));
  Expr allSteps = depth + rounded;
  Expr allRows = (rows + height) * allSteps, allColumns = (columns + width) * allSteps;
  // The transposition packs whole squares, also at the end of k.
  tiles.packedRows = Expr::min(allRows, constant(std::max(tree.keptRows, ofBlock))) + kernel.getLanes() * height;
  int64_t ofStrips = tiles.stripPanels * width * std::min(mostDepth, tiles.stripDepth);
  int64_t ofColumns = tiles.mayGroup ? std::max({tree.keptColumns, mostDepth * width, ofStrips}) : 0;
  tiles.packedColumns = Expr::min(allColumns, constant(ofColumns));
  // Tiles share the space for sums where k is one block.
  int64_t tileWidth = tiles.getTileWidth();
  Expr further = Expr::min(tiles.depthBlocks - 1, constant(1)) * ((runTiles - 1) * rowsOfBlock * tileWidth);
  Expr ofPiece = further + form.slices * ofSums;
  if (tiles.stripDepth > 0)
    ofPiece = Expr::max(ofPiece, constant(tiles.stripPanels * height * width));
  tiles.sums = Expr::min((rows + height) * (columns + width), ofPiece);
  tiles.columnSums = constant(0);
  return tiles;
}

ContractionTiles ContractionTiles::get(ContractionForm &form, DotProductTilingAttr tiling) {
  MLIRContext *context = tiling.getContext();
  auto constant = [&](int64_t value) { return Expr::constant(context, value); };
  constexpr int64_t unit = DotProductLayout::unit;
  Expr rows = form.getExtent(form.m), columns = form.getExtent(form.n), depth = form.getExtent(form.k);

  ContractionTiles tiles;
  tiles.dotProducts = DotProductLayout::get(form, tiling);
  tiles.kernel = MicroKernelAttr::get(context, unit, 2, unit / 2, 1);
  tiles.packedType = tiles.dotProducts->factors.getElementType(context);
  tiles.sumType = tiles.dotProducts->factors.getSumType(context);
  tiles.prefetchRows = tiling.getPrefetchRows();
  tiles.slices = form.slices;
  tiles.epilogueRows = form.slices > 1 ? sliceRows : 1;
  int64_t runTiles = llvm::divideCeil(tiling.getColumns() / unit, form.slices);
  tiles.runTiles = constant(runTiles);
  tiles.parts = tiles.dotProducts->factors.parts;
  // Rows that are split are worth keeping, also where they leave L2.
  int64_t ofRows = tiling.getRows() * tiling.getDepth();
  tiles.keptRows = constant(tiles.parts > 1 ? std::max(ofRows, tiling.getKeptColumns()) : ofRows);
  tiles.keptColumns = constant(tiling.getKeptColumns());
  tiles.mayGroup = false;
  // Panels that are split come one by one, while the memory of the next does.
  bool arePacked = tiles.parts > 1 && form.getParts();
  tiles.columnCopies = arePacked ? Copies::none : tiles.parts > 1 ? Copies::ofPanel : Copies::ofRun;
  tiles.keepsSums = true;
  tiles.rowUnit = unit;
  tiles.depthUnit = tiles.dotProducts->getStepsOfGroup();
  tiles.rowBlocks = Expr::ceilDiv(rows, tiling.getRows());
  tiles.columnTiles = Expr::ceilDiv(columns, tiles.getTileWidth());
  tiles.depthBlocks = Expr::max(constant(1), Expr::ceilDiv(depth, tiling.getDepth()));
  tiles.tiles = form.getExtent(form.outer) * tiles.rowBlocks * tiles.columnTiles;

  // All blocks of k but the last are full; an empty sum has one group of zeros.
  Expr allSteps = depth + Expr::min(depth + tiles.depthUnit, constant(tiling.getDepth()));
  Expr rowsOfBlock = Expr::min(rows + unit, constant(llvm::alignTo(tiling.getRows(), unit)));
  tiles.packedRows = Expr::min(rowsOfBlock * allSteps, tiles.keptRows) * tiles.parts;
  int64_t columnsAtOnce = tiles.columnCopies == Copies::ofPanel ? tiles.kernel.getWidth() : tiling.getColumns();
  Expr allColumns = (columns + unit) * allSteps;
  Expr ofRun = Expr::min(allColumns, constant(columnsAtOnce * tiling.getDepth()));
  // Columns stay packed for the row blocks that follow.
  Expr ofKept = Expr::min(tiles.rowBlocks - 1, constant(1)) * Expr::min(allColumns, tiles.keptColumns);
  tiles.packedColumns = Expr::max(ofRun, ofKept) * tiles.parts;
  if (arePacked)
    tiles.packedColumns = constant(0);
  // Tiles share the space for sums where k is one block.
  int64_t tileWidth = tiles.getTileWidth();
  Expr further = Expr::min(tiles.depthBlocks - 1, constant(1)) * ((runTiles - 1) * tileWidth);
  tiles.sums = Expr::min((rows + unit) * (columns + unit),
                         (further + tileWidth) * std::max(tiling.getRows(), tiles.epilogueRows));
  tiles.columnSums = tiles.dotProducts->flipsRows() ? columns + unit : constant(0);
  return tiles;
}

ContractionTiles ContractionTiles::get(ContractionForm &form, ChoiceAttr tiling) {
  ContractionTiles tiles = get(form, getContractions(tiling).front());
  // No contraction is computed where another kind of tiling is chosen.
  auto all = llvm::map_to_vector<4>(tiling.getTilings(), [&](Attribute each) {
    std::optional<ContractionTree> tree = ContractionTree::get(each);
    return tree ? get(form, *tree) : tiles;
  });
  for (Expr ContractionTiles::*size :
       {&ContractionTiles::runTiles, &ContractionTiles::keptRows, &ContractionTiles::keptColumns,
        &ContractionTiles::rowBlocks, &ContractionTiles::depthBlocks, &ContractionTiles::tiles,
        &ContractionTiles::packedRows, &ContractionTiles::packedColumns, &ContractionTiles::sums})
    tiles.*size = chooseVariant(tiling, llvm::map_to_vector(all, [&](ContractionTiles &each) { return each.*size; }));
  return tiles;
}

Expr ContractionTiles::getScratch() const {
  return getScratchBytes(packedRows, packedType) + getScratchBytes(packedColumns, packedType) +
         getScratchBytes(sums, sumType) + getScratchBytes(columnSums, sumType);
}
