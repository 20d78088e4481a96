#include "compiler/plan/ContractionTree.h"

#include "compiler/plan/MatrixInPlace.h"
#include "compiler/plan/TreeNodes.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// Reads a tree from its root down.
class Reader {
public:
  Reader(TreeTilingAttr tiling, std::string &why)
      : tree(tiling.getKernel()), nodes(tiling.getBody().getValue()), why(why) {}

  LogicalResult read();

  ContractionTree tree;

private:
  LogicalResult refuse(const Twine &reason) {
    why = reason.str();
    return failure();
  }
  /// The next node here, if it is such a one; else null.
  template <typename Node>
  Node take() {
    Node node = nodes.empty() ? Node() : dyn_cast<Node>(nodes.front());
    if (node)
      nodes = nodes.drop_front();
    return node;
  }
  /// The blocks of an axis, if these are all that is left here; what comes next is in their body.
  BlocksAttr enter(unsigned axis, bool isDealt) {
    auto blocks = nodes.size() == 1 ? dyn_cast<BlocksAttr>(nodes.front()) : BlocksAttr();
    if (!blocks || blocks.getAxis() != axis || blocks.getDealt() != isDealt || blocks.getMaskedBy() >= 0)
      return {};
    nodes = blocks.getBody().getValue();
    return blocks;
  }
  LogicalResult readDealt();
  LogicalResult readRows(BlocksAttr rows);
  LogicalResult readColumns();
  LogicalResult readStrips();
  LogicalResult readKept(PackedAttr node, int64_t axes, int64_t &elements);
  LogicalResult readEvaluated(bool isOfStrip);

  ArrayRef<Attribute> nodes;
  std::string &why;
};

} // namespace

LogicalResult Reader::readDealt() {
  BlocksAttr outer = enter(ContractionAxis::outer, /*isDealt=*/true);
  tree.hasOuter = static_cast<bool>(outer);
  if (outer && (!outer.getStep().isConstant(1) || outer.getShare() || outer.getTogether() > 1))
    return refuse("outer points are dealt one by one");
  BlocksAttr rows = enter(ContractionAxis::rows, /*isDealt=*/true);
  if (!rows || failed(readRows(rows)))
    return rows ? failure() : refuse("rows are dealt first");
  BlocksAttr columns = enter(ContractionAxis::columns, /*isDealt=*/true);
  if (!columns || columns.getShare() || !columns.getStep().isConstant(tree.kernel.getWidth()))
    return refuse("columns are dealt within rows, panel by panel of " + Twine(tree.kernel.getWidth()));
  tree.panels = columns.getTogether();
  tree.alternates = columns.getAlternate();
  return success();
}

LogicalResult Reader::readRows(BlocksAttr rows) {
  int64_t height = tree.kernel.getRows();
  tree.share = rows.getShare();
  tree.mostRows = rows.getStep().asConstant().value_or(0);
  if (rows.getTogether() > 1 || rows.getAlternate())
    return refuse("tiles that are together, or alternate, have the same rows");
  bool isSplit = tree.dotProducts && tree.dotProducts.getParts() > 1;
  if (isSplit && (tree.share || !tree.mostRows))
    return refuse("rows of products that are split are dealt in blocks of so many");
  if (!isSplit && (!tree.share || tree.mostRows != height))
    return refuse("rows are dealt in a share of steps of the micro-kernel's " + Twine(height));
  if (rows.getUnit() != tree.getRowUnit())
    return refuse("blocks of rows have whole units of " + Twine(tree.getRowUnit()));
  return success();
}

/// Rows are kept for the innermost dealt axis, that of columns; columns for that of rows as well.
LogicalResult Reader::readKept(PackedAttr node, int64_t axes, int64_t &elements) {
  elements = node.getMost();
  if (axes == 1 && (node.getTogether() > 1 || node.getFar() > 0))
    return refuse("panels of columns alone are packed together, or far");
  if (node.getApart())
    return refuse("pictures that are copied apart are those of weight gradients");
  if (node.getCompute() != 0 || (node.getKept() && (node.getKept() != axes || !elements)))
    return refuse("operand " + Twine(node.getInput()) + " of compute 0 is kept for " + Twine(axes) +
                  " dealt axes, up to a number of elements");
  return success();
}

LogicalResult Reader::readColumns() {
  auto columns = take<PackedAttr>();
  if (!columns)
    return success();
  if (tree.columns)
    return refuse("columns are packed twice");
  tree.columns = columns.getInput();
  tree.streamedRows = columns.getInPlace();
  tree.keepsWhole = columns.getWhole();
  tree.packedTogether = columns.getTogether();
  tree.farColumns = columns.getFar();
  return readKept(columns, 2, tree.keptColumns);
}

/// The blocks of strips and of their rows, if there are any.
LogicalResult Reader::readStrips() {
  auto strips = nodes.empty() ? BlocksAttr() : dyn_cast<BlocksAttr>(nodes.front());
  if (!strips || !strips.getMostDepth())
    return success();
  tree.stripDepth = strips.getMostDepth();
  tree.stripPanels = strips.getStep().asConstant().value_or(0) / tree.kernel.getWidth();
  bool areStrips = tree.stripPanels > 0 && strips.getStep().isConstant(tree.stripPanels * tree.kernel.getWidth()) &&
                   enter(ContractionAxis::columns, /*isDealt=*/false);
  BlocksAttr rows = areStrips ? enter(ContractionAxis::rows, /*isDealt=*/false) : BlocksAttr();
  if (!rows || !rows.getStep().isConstant(tree.kernel.getRows()))
    return refuse("strips are blocks of several panels' columns, and of the micro-kernel's " +
                  Twine(tree.kernel.getRows()) + " rows");
  return success();
}

/// Rows, of a strip its panels, vectors, and the computes.
LogicalResult Reader::readEvaluated(bool isOfStrip) {
  MicroKernelAttr kernel = tree.kernel;
  BlocksAttr rows = enter(ContractionAxis::rows, /*isDealt=*/false);
  bool isByRow = rows && rows.getStep().isConstant(1);
  if (isByRow && isOfStrip) {
    BlocksAttr panels = enter(ContractionAxis::columns, /*isDealt=*/false);
    isByRow = panels && panels.getStep().isConstant(kernel.getWidth());
  }
  auto vectors = isByRow ? take<VectorsAttr>() : VectorsAttr();
  if (!vectors || !nodes.empty())
    return refuse("behind its product, a panel has what is evaluated, in vectors of each row, and nothing else");
  if (vectors.getAxis() != ContractionAxis::columns || vectors.getLanes() != kernel.getLanes() ||
      kernel.getVectors() % vectors.getTogether() || !vectors.getEnds().empty())
    return refuse("sums are evaluated in vectors of " + Twine(kernel.getLanes()) + " columns, as many at a time as " +
                  "divide the " + Twine(kernel.getVectors()) + " of a panel");
  tree.together = vectors.getTogether();
  nodes = vectors.getBody().getValue();
  tree.evaluate = take<EvaluateAttr>();
  if (!tree.evaluate || !nodes.empty() || tree.evaluate.getLanes() != ContractionAxis::columns ||
      tree.evaluate.getAlong() != ContractionAxis::rows)
    return refuse("sums are evaluated with lanes along columns, row by row");
  return success();
}

LogicalResult Reader::read() {
  if (failed(readDealt()))
    return failure();
  BlocksAttr steps = enter(ContractionAxis::steps, /*isDealt=*/false);
  if (!steps || !steps.getStep().isConstant())
    return refuse("tiles are computed in blocks of steps of a constant size");
  tree.depth = *steps.getStep().asConstant();
  tree.depthUnit = steps.getUnit();
  // What is kept for two axes is columns: rows are stored in strips.
  auto first = nodes.empty() ? PackedAttr() : dyn_cast<PackedAttr>(nodes.front());
  if (!tree.dotProducts || !first || first.getKept() != 2) {
    auto rows = take<PackedAttr>();
    if (!rows)
      return refuse("a block of steps begins with packed rows");
    tree.streamedColumns = rows.getInPlace();
    if (failed(readKept(rows, 1, tree.keptRows)))
      return failure();
    tree.rows = rows.getInput();
  }
  if (failed(readColumns()))
    return failure();
  tree.packsRuns = tree.columns.has_value();
  if (failed(readStrips()))
    return failure();
  ArrayRef<Attribute> ofStrip = nodes;
  if (tree.stripDepth)
    nodes = nodes.take_front();
  BlocksAttr panels = enter(ContractionAxis::columns, /*isDealt=*/false);
  if (!panels || !panels.getStep().isConstant(tree.kernel.getWidth()) || panels.getUnit() != 1)
    return refuse("behind what is packed, columns are computed panel by panel of " + Twine(tree.kernel.getWidth()));
  if (failed(readColumns()))
    return failure();
  tree.multiply = take<MultiplyAttr>();
  if (!tree.multiply || tree.multiply.getCompute() != 0 || tree.multiply.getColumns() != ContractionAxis::columns)
    return refuse("compute 0 is multiplied panel by panel, with vectors along columns");
  if (tree.multiply.getSkipTaps())
    return refuse("taps that are skipped are those of a convolution");
  bool isOfStrip = tree.stripDepth && nodes.empty();
  if (isOfStrip)
    nodes = ofStrip.drop_front();
  return nodes.empty() ? success() : readEvaluated(isOfStrip);
}

FailureOr<ContractionTree> ContractionTree::get(TreeTilingAttr tiling, std::string &why) {
  Reader reader(tiling, why);
  if (failed(reader.read()))
    return failure();
  return reader.tree;
}

std::optional<ContractionTree> ContractionTree::get(Attribute tiling) {
  auto tree = dyn_cast<TreeTilingAttr>(tiling);
  if (!tree)
    return std::nullopt;
  std::string why;
  FailureOr<ContractionTree> read = get(tree, why);
  return failed(read) ? std::nullopt : std::optional(*read);
}

std::optional<ContractionTree> ContractionTree::getMultiplyAdds(Attribute tiling) {
  std::optional<ContractionTree> tree = get(tiling);
  return tree && !tree->dotProducts ? tree : std::nullopt;
}

bool ContractionTree::alternate(Attribute tiling) {
  if (auto choice = dyn_cast<ChoiceAttr>(tiling))
    return llvm::any_of(choice.getTilings(), alternate);
  std::optional<ContractionTree> tree = get(tiling);
  return tree && tree->alternates;
}

ContractionTree::ContractionTree(Attribute attribute) : dotProducts(dyn_cast<DotProductKernelAttr>(attribute)) {
  kernel = dotProducts ? DotProductLayout::getBlock(attribute.getContext(), dotProducts.getLastVectors())
                       : cast<MicroKernelAttr>(attribute);
}

bool ContractionTree::areColumnsStored(ContractionForm &form) const {
  if (dotProducts)
    return dotProducts.getParts() > 1 ? form.getParts() != nullptr : form.areColumnsWords();
  return form.getPackedInput(kernel.getWidth()).has_value();
}

ContractionTree ContractionTree::of(ContractionForm &form, Attribute kernel, int64_t ahead) {
  ContractionTree tree(kernel);
  tree.hasOuter = !form.outer.empty();
  if (!tree.areRowsStored(form))
    tree.rows = form.getInput(form.lhs);
  if (!tree.areColumnsStored(form))
    tree.columns = form.getInput(form.rhs);
  if (!tree.dotProducts && form.getDirectStride(tree.kernel.getWidth()))
    return tree;
  // Outside of programs, sizes alone are asked for.
  auto program = form.compute->getParentOfType<ProgramOp>();
  int64_t computes = program ? program.getComputes().size() : 1;
  tree.evaluate = EvaluateAttr::get(kernel.getContext(), llvm::to_vector(llvm::seq<int64_t>(1, computes)),
                                    ContractionAxis::columns, ContractionAxis::rows, ahead);
  // Two vectors share what the constants of the computes cost.
  tree.together = tree.kernel.getVectors() % 2 ? 1 : 2;
  return tree;
}

TreeTilingAttr ContractionTree::build() const {
  TreeNodes nodes(kernel.getContext());
  auto pack = [&](int64_t input, int64_t axes, int64_t most, bool whole, int64_t inPlace, int64_t atOnce, int64_t far) {
    return nodes.pack(/*compute=*/0, input, most ? axes : 0, most, most && whole, inPlace, /*apart=*/false, atOnce,
                      far);
  };
  SmallVector<Attribute> block, panel, strip;
  if (rows)
    block.push_back(pack(*rows, 1, keptRows, /*whole=*/false, streamedColumns, /*atOnce=*/1, /*far=*/0));
  if (columns)
    (packsRuns ? block : panel)
        .push_back(pack(*columns, 2, keptColumns, keepsWhole, streamedRows, packedTogether, farColumns));
  panel.push_back(multiply);
  Expr width = nodes.constant(kernel.getWidth());
  if (evaluate) {
    Attribute evaluated = nodes.vectors(ContractionAxis::columns, kernel.getLanes(), together, {evaluate});
    if (stripDepth)
      evaluated = nodes.divide(ContractionAxis::columns, width, {evaluated});
    (stripDepth ? strip : panel).push_back(nodes.divide(ContractionAxis::rows, nodes.constant(1), {evaluated}));
  }
  Attribute ofPanels = nodes.divide(ContractionAxis::columns, width, panel);
  if (stripDepth) {
    strip.insert(strip.begin(), ofPanels);
    ofPanels = nodes.divide(ContractionAxis::columns, nodes.constant(stripPanels * kernel.getWidth()),
                            {nodes.divide(ContractionAxis::rows, nodes.constant(kernel.getRows()), strip)}, /*unit=*/1,
                            /*maskedBy=*/-1, stripDepth);
  }
  block.push_back(ofPanels);
  Attribute tile = nodes.divide(ContractionAxis::steps, nodes.constant(depth), block, depthUnit);
  Attribute dealt = nodes.deal(ContractionAxis::columns, width, {tile}, /*unit=*/1, panels, ShareAttr(), alternates);
  dealt = nodes.deal(ContractionAxis::rows, nodes.constant(share ? kernel.getRows() : mostRows), {dealt}, getRowUnit(),
                     /*together=*/1, share);
  if (hasOuter)
    dealt = nodes.deal(ContractionAxis::outer, nodes.constant(1), {dealt});
  Attribute used = dotProducts ? Attribute(dotProducts) : Attribute(kernel);
  return TreeTilingAttr::get(kernel.getContext(), used, nodes.body({dealt}));
}

LogicalResult ContractionTree::verifyDotProducts(ContractionForm &form, std::string &why) const {
  auto refuse = [&](const Twine &reason) {
    why = reason.str();
    return failure();
  };
  bool isSplit = dotProducts.getParts() > 1;
  if (!DotProductLayout::getFactors(form, dotProducts))
    return refuse(isSplit ? "it has no factors of f32 that can be split"
                          : "it has no factors of bf16 or 8-bit integers");
  int64_t group = DotProductLayout::get(form, dotProducts).getStepsOfGroup();
  if (depthUnit != group)
    return refuse("dot products are summed in groups of " + Twine(group) + " steps, not in blocks of whole units of " +
                  Twine(depthUnit));
  if (form.areColumnsWords() && !form.areWordsWhole(group))
    return refuse("columns of words are read from a whole group of " + Twine(group) + " steps on");
  if (multiply.getWordSteps() > 1 || multiply.getBringBeyond() > 0)
    return refuse("dot products have words of their own, and bring no results");
  bool areVectors = dotProducts.getUnit() == DotProductUnit::vectors;
  bool readInPlace = !isSplit && (areVectors || !DotProductLayout::getFactors(form, dotProducts)->areIntegers);
  if ((streamedRows > 0 || streamedColumns > 0) && !readInPlace)
    return refuse(
        "dot products of single words on vectors alone, or of bf16 beside a matrix unit, read operands in place");
  int64_t mostRows = ReadsInPlace::getMostRows(form), mostColumns = ReadsInPlace::getMostColumns(form, !areVectors);
  if (streamedRows > mostRows || streamedColumns > mostColumns)
    return refuse("no more than " + Twine(mostRows) + " rows and " + Twine(mostColumns) +
                  " columns read the other operand in place");
  if (multiply.getDirect() && !DotProductLayout::getDirectType(form, dotProducts))
    return refuse("vectors of sums, or of these as bf16, are no rows of the result that the product could write");
  if (isSplit && stripDepth > 0)
    return refuse("panels of columns that are split pass by, in no strips");
  if (columns && packsRuns == isSplit)
    return refuse(isSplit ? "columns that are split are packed panel by panel"
                          : "columns of words are packed before the panels of a run are computed");
  if (isSplit && columns && keptColumns && !keepsWhole)
    return refuse("columns that are split are kept whole");
  return evaluate ? success() : refuse("sums of dot products are evaluated");
}

LogicalResult ContractionTree::verify(ContractionForm &form, size_t computes, std::string &why) const {
  auto refuse = [&](const Twine &reason) {
    why = reason.str();
    return failure();
  };
  if (dotProducts && failed(verifyDotProducts(form, why)))
    return failure();
  if (!dotProducts && multiply.getDirect())
    return refuse("dot products alone are told to write their results");
  if (!dotProducts && packsRuns)
    return refuse("columns that are multiplied and added are packed panel by panel");
  if (packedTogether > 1 && !mayPackTogether(form, multiply.getWordSteps()))
    return refuse(
        "panels that are packed together are of contiguous columns, whole pages apart, that are multiplied and added");
  if (farColumns > 0 && (dotProducts || !form.getStreamedInput()))
    return refuse("columns that may be far are contiguous, and multiplied and added");
  if (hasOuter == form.outer.empty())
    return refuse(hasOuter ? "it deals outer points, of which there are none" : "outer points are not dealt");
  if ((rows && *rows != *form.getInput(form.lhs)) || (columns && *columns != *form.getInput(form.rhs)))
    return refuse("operand " + Twine(*form.getInput(form.lhs)) + " has the rows, operand " +
                  Twine(*form.getInput(form.rhs)) + " the columns");
  if (alternates && (dotProducts || columns))
    return refuse("panels that alternate are stored, and multiplied and added");
  if (rows.has_value() == areRowsStored(form))
    return refuse(rows ? "rows that are stored in strips are packed again"
                       : "rows that are not stored in strips are not packed");
  if (columns.has_value() == areColumnsStored(form))
    return refuse(columns ? "columns that are stored in panels are packed again"
                          : "columns that are not stored in panels are not packed");
  if (multiply.getWordSteps() > 1 && !form.multipliesPairs())
    return refuse("products of pairs need factors that fit 16 bits");
  if (!dotProducts && streamedRows > 0 && !form.getStreamedInput()) {
    std::optional<AlongDepth> along = AlongDepth::get(form, kernel.getWidth());
    if (!along)
      return refuse("columns that are read in place are neighbours in memory, or lie along the steps of k as rows do");
    if (along->arePanels && depthUnit % kernel.getWidth())
      return refuse("panels along the steps of k are read in place whole");
  }
  if (!dotProducts && streamedColumns > RowsInPlace::getMostColumns(form, kernel))
    return refuse("no more than " + Twine(RowsInPlace::getMostColumns(form, kernel)) +
                  " columns read in place rows that lie along the steps of k");
  if (!dotProducts && streamedColumns > 0 && (form.slices > 1 || multiply.getWordSteps() > 1))
    return refuse("neither slices nor pairs read rows in place");
  if (form.slices > 1 && stripDepth > 0)
    return refuse("strips have panels that are neighbours, but what follows reads slices of columns together");
  if (form.slices > 1 && !form.mayHaveSlices(form.slices, kernel.getWidth()))
    return refuse("what follows reads " + Twine(form.slices) + " slices of columns together, which are no whole panels of " +
                  Twine(kernel.getWidth()));
  if (!evaluate)
    return form.getDirectStride(kernel.getWidth()) ? success()
                                                   : refuse("the product is not the result, but nothing evaluates it");
  if (!llvm::equal(evaluate.getComputes(), llvm::seq<int64_t>(1, computes)))
    return refuse("all computes behind the product are evaluated, in their order");
  return success();
}

bool ContractionTree::mayPackTogether(ContractionForm &form, int64_t wordSteps) const {
  std::optional<StreamedInput> columns = form.getStreamedInput();
  if (dotProducts || wordSteps > 1 || form.slices > 1 || !columns)
    return false;
  std::optional<int64_t> stride = columns->stride.asConstant();
  return !stride || *stride * form.elementType.getIntOrFloatBitWidth() / 8 % pageBytes == 0;
}

bool ContractionTree::sharesCode(const ContractionTree &other) const {
  return kernel == other.kernel && dotProducts == other.dotProducts && depthUnit == other.depthUnit &&
         rows == other.rows && columns == other.columns && alternates == other.alternates &&
         keepsWhole == other.keepsWhole && multiply == other.multiply && streamedRows == other.streamedRows &&
         packedTogether == other.packedTogether && farColumns == other.farColumns &&
         streamedColumns == other.streamedColumns && stripPanels == other.stripPanels &&
         stripDepth == other.stripDepth && evaluate == other.evaluate && together == other.together;
}
