#include "compiler/plan/ContractionTiles.h"

#include "compiler/plan/MatrixInPlace.h"
#include "compiler/plan/Scratch.h"
#include "compiler/plan/SizeOperations.h"
#include "compiler/plan/Variants.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

RowShare RowShare::get(ContractionForm &form, const ContractionTree &tree) {
  int64_t width = tree.kernel.getWidth(), ofSum = 1;
  if (tree.dotProducts)
    ofSum = DotProductLayout::get(form, tree.dotProducts).factors.getStepsOfWord();
  return {.height = tree.kernel.getRows(),
          .width = width,
          .sums = width * ofSum,
          .depth = tree.depth,
          .elements = tree.share.getElements(),
          .mostRows = tree.share.getMostRows(),
          .leastTiles = tree.share.getLeastTiles()};
}

ContractionTiles ContractionTiles::get(ContractionForm &form, const ContractionTree &tree) {
  MLIRContext *context = tree.kernel.getContext();
  auto constant = [&](int64_t value) { return Expr::constant(context, value); };
  Expr outer = form.getExtent(form.outer), rows = form.getExtent(form.m), columns = form.getExtent(form.n),
       depth = form.getDepth(tree.multiply.getWordSteps());
  std::optional<int64_t> windowTaps;

  ContractionTiles tiles;
  tiles.kernel = tree.kernel;
  tiles.packedType = tiles.sumType = form.elementType;
  if (tree.dotProducts) {
    tiles.dotProducts = DotProductLayout::get(form, tree.dotProducts);
    tiles.packedType = tiles.dotProducts->factors.getElementType(context);
    tiles.sumType = tiles.dotProducts->factors.getSumType(context);
    tiles.parts = tiles.dotProducts->factors.parts;
    if (tree.multiply.getDirect())
      tiles.directType = DotProductLayout::getDirectType(form, tree.dotProducts);
  } else if (tree.multiply.getWordSteps() == 1) {
    windowTaps = form.getWindowTaps();
  }
  tiles.wordSteps = tree.multiply.getWordSteps();
  tiles.bringBeyond = tree.multiply.getBringBeyond();
  tiles.streamedRows = tree.streamedRows;
  tiles.streamedColumns = tree.streamedColumns;
  if (!tree.dotProducts && tree.streamedRows > 0 && !form.getStreamedInput())
    tiles.stepsOfRow = AlongDepth::stepsOfRow;
  tiles.packedTogether = tree.packedTogether;
  tiles.farColumns = tree.farColumns;
  tiles.stripPanels = tree.stripPanels;
  tiles.stripDepth = tree.stripDepth;
  tiles.prefetchRows = tree.evaluate ? tree.evaluate.getAhead() : 0;
  tiles.mayGroup = tree.columns && !tree.keepsWhole;
  tiles.slices = form.slices;
  tiles.epilogueRows = form.slices > 1 ? sliceRows : 1;
  int64_t runTiles = llvm::divideCeil(tree.panels, form.slices);
  tiles.runTiles = constant(runTiles);
  tiles.keepsSums = static_cast<bool>(tree.evaluate);
  tiles.keptRows = constant(tree.keptRows);
  tiles.keptColumns = constant(tree.keptColumns);
  tiles.rowUnit = tree.getRowUnit();
  tiles.taps = windowTaps.value_or(1);
  tiles.depthUnit = tree.depthUnit * tiles.taps;
  Expr mostRows = constant(tree.mostRows);
  if (tree.share)
    mostRows = getMostRows<Expr>(RowShare::get(form, tree), outer, rows, columns, depth, ExprOperations{context});
  tiles.rowBlocks = Expr::ceilDiv(rows, mostRows);
  tiles.columnTiles = Expr::ceilDiv(columns, tiles.getTileWidth());
  // A window is packed tap by tap, so that all steps within one outermost step are in one block.
  Expr steps = windowTaps ? form.getExtent(form.k.front()) : depth;
  int64_t mostSteps = std::max<int64_t>(1, tree.depth / tiles.taps);
  tiles.depthBlocks = Expr::max(constant(1), Expr::ceilDiv(steps, mostSteps));
  tiles.tiles = outer * tiles.rowBlocks * tiles.columnTiles;

  tiles.setScratch(tree, rows, columns, depth);
  return tiles;
}

void ContractionTiles::setScratch(const ContractionTree &tree, Expr rows, Expr columns, Expr depth) {
  auto constant = [&](int64_t value) { return Expr::constant(kernel.getContext(), value); };
  int64_t width = kernel.getWidth(), height = kernel.getRows();
  int64_t elements = tree.share ? tree.share.getElements() : 0;
  int64_t rowsOfBlock = tree.share ? elements / tree.depth + height : tree.mostRows;
  int64_t mostDepth = llvm::divideCeil(std::max(tree.depth, taps) / taps * taps, depthUnit) * depthUnit;
  // Each block of k ends in less than a unit more, all but the last are full, and all together hold less than one more.
  Expr allSteps =
      depth + (depthBlocks.isConstant() ? depthBlocks * depthUnit : Expr::min(depth + depthUnit, constant(mostDepth)));

  int64_t ofBlock = std::max(elements + height * mostDepth, rowsOfBlock * mostDepth);
  Expr rowsAtOnce = tree.share ? rows + height : Expr::min(rows + height, constant(tree.mostRows));
  packedRows = Expr::min(rowsAtOnce * allSteps, Expr::max(keptRows, constant(ofBlock))) * parts;
  // Transpositions of single elements pack whole squares, also at the end of k.
  if (!dotProducts)
    packedRows = packedRows + kernel.getLanes() * height;

  int64_t panelsAtOnce = tree.packsRuns ? tree.panels : packedTogether;
  int64_t ofPanels = width * std::max(panelsAtOnce * mostDepth, stripPanels * std::min(mostDepth, stripDepth));
  Expr allColumns = (columns + width) * allSteps;
  packedColumns = Expr::min(allColumns, Expr::max(constant(ofPanels), keptColumns));
  // Columns stay packed for the row blocks that follow, whose number is a long expression where rows have a share: of
  // runs of panels, which take little without them, it is worth that.
  if (!tree.share || tree.packsRuns) {
    Expr ofKept = Expr::min(rowBlocks - 1, constant(1)) * Expr::min(allColumns, keptColumns);
    packedColumns = Expr::max(Expr::min(allColumns, constant(ofPanels)), ofKept) * parts;
  }
  if (!tree.columns)
    packedColumns = constant(0);
  if (!tree.rows)
    packedRows = constant(0);

  // Tiles share the space for sums where k is one block.
  // Panels that pass by are multiplied in pairs, and so may be two tiles, where rows are a strip at most.
  int64_t ofPairs = dotProducts && !tree.columns ? 2 * height : 0;
  int64_t ofShare = elements / (dotProducts ? dotProducts->getStepsOfWord() : 1);
  int64_t ofSums = std::max(ofShare + height * width, std::max({rowsOfBlock, epilogueRows, ofPairs}) * width);
  // Updates have the sums of all columns of a run.
  if (dotProducts)
    ofSums = std::max(ofSums, streamedRows * updatedColumns);
  int64_t otherTiles = *runTiles.asConstant() - 1;
  Expr further = Expr::min(depthBlocks - 1, constant(1)) * (otherTiles * rowsOfBlock * getTileWidth());
  Expr ofPiece = further + slices * ofSums;
  if (stripDepth > 0)
    ofPiece = Expr::max(ofPiece, constant(stripPanels * height * width));
  sums = Expr::min((rows + height) * (columns + width), ofPiece);
  columnSums = dotProducts && dotProducts->flipsRows() ? columns + width : constant(0);
}

ContractionTiles ContractionTiles::get(ContractionForm &form, ChoiceAttr tiling) {
  ContractionTiles tiles = get(form, getContractions(tiling).front());
  // No contraction is computed where another kind of tiling is chosen.
  auto all = llvm::map_to_vector<4>(tiling.getTilings(), [&](Attribute each) {
    std::optional<ContractionTree> tree = ContractionTree::getMultiplyAdds(each);
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
