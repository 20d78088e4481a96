#include "compiler/plan/ContractionTree.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// Reads a tree from its root down.
class Reader {
public:
  Reader(TreeTilingAttr tiling, std::string &why) : nodes(tiling.getBody().getValue()), why(why) {
    tree.kernel = tiling.getKernel();
  }

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
  LogicalResult readKept(PackedAttr node, int64_t axes, int64_t &elements);

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
  if (!rows || !rows.getShare() || !rows.getStep().isConstant(tree.kernel.getRows()) || rows.getTogether() > 1)
    return refuse("rows are dealt first, in a share of steps of the micro-kernel's " + Twine(tree.kernel.getRows()));
  tree.share = rows.getShare();
  BlocksAttr columns = enter(ContractionAxis::columns, /*isDealt=*/true);
  if (!columns || columns.getShare() || !columns.getStep().isConstant(tree.kernel.getWidth()))
    return refuse("columns are dealt within rows, panel by panel of " + Twine(tree.kernel.getWidth()));
  tree.panels = columns.getTogether();
  return success();
}

/// Rows are kept for the innermost dealt axis, that of columns; columns for that of rows as well.
LogicalResult Reader::readKept(PackedAttr node, int64_t axes, int64_t &elements) {
  elements = node.getMost();
  if (node.getCompute() != 0 || (node.getKept() && (node.getKept() != axes || !elements)))
    return refuse("operand " + Twine(node.getInput()) + " of compute 0 is kept for " + Twine(axes) +
                  " dealt axes, up to a number of elements");
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
  auto rows = take<PackedAttr>();
  if (!rows || failed(readKept(rows, 1, tree.keptRows)))
    return rows ? failure() : refuse("a block of steps begins with packed rows");
  tree.rows = rows.getInput();
  BlocksAttr panels = enter(ContractionAxis::columns, /*isDealt=*/false);
  if (!panels || !panels.getStep().isConstant(tree.kernel.getWidth()) || panels.getUnit() != 1)
    return refuse("behind packed rows, columns are computed panel by panel of " + Twine(tree.kernel.getWidth()));
  if (auto columns = take<PackedAttr>()) {
    tree.columns = columns.getInput();
    if (failed(readKept(columns, 2, tree.keptColumns)))
      return failure();
  }
  tree.multiply = take<MultiplyAttr>();
  if (!tree.multiply || tree.multiply.getCompute() != 0 || tree.multiply.getColumns() != ContractionAxis::columns)
    return refuse("compute 0 is multiplied panel by panel, with vectors along columns");
  tree.evaluate = take<EvaluateAttr>();
  if (tree.evaluate &&
      (tree.evaluate.getLanes() != ContractionAxis::columns || tree.evaluate.getAlong() != ContractionAxis::rows))
    return refuse("sums are evaluated with vectors along columns, row by row");
  return nodes.empty() ? success() : refuse("a panel has further nodes behind its product and what follows on it");
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

TreeTilingAttr ContractionTree::build() const {
  MLIRContext *context = kernel.getContext();
  Builder builder(context);
  auto constant = [&](int64_t value) { return Expr::constant(context, value); };
  auto pack = [&](int64_t input, int64_t axes, int64_t most) {
    return PackedAttr::get(context, /*compute=*/0, input, most ? axes : 0, most);
  };
  auto deal = [&](unsigned axis, int64_t step, ShareAttr share, int64_t together, ArrayRef<Attribute> body) {
    return BlocksAttr::get(context, axis, constant(step), /*unit=*/1, /*dealt=*/true, together, share,
                           builder.getArrayAttr(body), /*maskedBy=*/-1);
  };
  auto divide = [&](unsigned axis, int64_t step, int64_t unit, ArrayRef<Attribute> body) {
    return BlocksAttr::get(context, axis, constant(step), unit, /*dealt=*/false, /*together=*/1, ShareAttr(),
                           builder.getArrayAttr(body), /*maskedBy=*/-1);
  };
  SmallVector<Attribute> panel;
  if (columns)
    panel.push_back(pack(*columns, 2, keptColumns));
  panel.push_back(multiply);
  if (evaluate)
    panel.push_back(evaluate);
  int64_t width = kernel.getWidth();
  Attribute block = divide(ContractionAxis::columns, width, /*unit=*/1, panel);
  Attribute tile = divide(ContractionAxis::steps, depth, depthUnit, {pack(rows, 1, keptRows), block});
  Attribute dealt = deal(ContractionAxis::columns, width, ShareAttr(), panels, tile);
  dealt = deal(ContractionAxis::rows, kernel.getRows(), share, /*together=*/1, dealt);
  if (hasOuter)
    dealt = deal(ContractionAxis::outer, /*step=*/1, ShareAttr(), /*together=*/1, dealt);
  return TreeTilingAttr::get(context, kernel, builder.getArrayAttr(dealt));
}

LogicalResult ContractionTree::verify(ContractionForm &form, size_t computes, std::string &why) const {
  auto refuse = [&](const Twine &reason) {
    why = reason.str();
    return failure();
  };
  if (hasOuter == form.outer.empty())
    return refuse(hasOuter ? "it deals outer points, of which there are none" : "outer points are not dealt");
  if (rows != *form.getInput(form.lhs) || (columns && *columns != *form.getInput(form.rhs)))
    return refuse("operand " + Twine(*form.getInput(form.lhs)) + " has the rows, operand " +
                  Twine(*form.getInput(form.rhs)) + " the columns");
  if (columns.has_value() == form.getPackedInput(kernel.getWidth()).has_value())
    return refuse(columns ? "columns that are stored in panels are packed again"
                          : "columns that are not stored in panels are not packed");
  if (multiply.getWordSteps() > 1 && !form.multipliesPairs())
    return refuse("products of pairs need factors that fit 16 bits");
  if (multiply.getStreamedRows() > 0 && !form.getStreamedInput())
    return refuse("columns that are read in place are packed or converted");
  if (form.slices > 1 && multiply.getStripDepth() > 0)
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

bool ContractionTree::sharesCode(const ContractionTree &other) const {
  return kernel == other.kernel && depthUnit == other.depthUnit && columns == other.columns &&
         multiply == other.multiply && evaluate == other.evaluate;
}
