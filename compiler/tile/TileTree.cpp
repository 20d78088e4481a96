#include "compiler/tile/TileTree.h"

#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/MaskedBlocks.h"
#include "compiler/plan/TreeNodes.h"
#include "compiler/tile/ConnectedForm.h"
#include "compiler/tile/TileContraction.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// Builds the tree of a connection.
class TreeBuilder {
public:
  TreeBuilder(ProgramOp program, const Axes &axes, const ConnectedForm &form, const DeviceDescription &device,
              bool skipMasked)
      : make(program.getContext()), computes(program.getComputes()), axes(axes), form(form), device(device),
        skipMasked(skipMasked), kernel(getMicroKernel(device, Float32Type::get(program.getContext()))) {}

  TreeTilingAttr build();

private:
  using Nodes = SmallVector<Attribute>;

  int64_t find(ComputeOp compute) { return llvm::find(computes, compute) - computes.begin(); }
  Attribute pack(const ContractionForm &contraction, Value factor, int64_t kept = 0) {
    ContractionForm copy = contraction;
    return make.pack(find(copy.compute), *copy.getInput(factor), kept);
  }
  Value getFactor(const ContractionForm &product, unsigned axis) {
    return axes.of(product.compute)[product.m.front()] == axis ? product.lhs : product.rhs;
  }
  Attribute multiply(const ContractionForm &contraction, unsigned columns) {
    return make.multiply(find(contraction.compute), columns);
  }
  /// In vectors, as many at a time as a panel has.
  void evaluate(Nodes &body, ArrayRef<ComputeOp> evaluated, unsigned lanes, unsigned along) {
    if (evaluated.empty())
      return;
    SmallVector<int64_t> numbers = llvm::map_to_vector(evaluated, [&](ComputeOp compute) { return find(compute); });
    body.push_back(make.vectors(lanes, kernel.getLanes(), kernel.getVectors(), {make.evaluate(numbers, lanes, along)}));
  }
  /// In whole panels where these fit.
  Attribute divide(unsigned axis, int64_t step, ArrayRef<Attribute> body, int64_t maskedBy = -1) {
    int64_t width = kernel.getWidth(), unit = step % width ? 1 : width;
    return make.divide(axis, make.constant(step), body, unit, maskedBy);
  }
  int64_t getColumns();
  int64_t getRowsOfBlock(int64_t columns);
  Expr getRows();
  Nodes getBlock(int64_t rows, bool deals);
  Nodes getTile(bool deals);
  void packAcross(Nodes &body);
  int64_t findMask();

  TreeNodes make;
  SmallVector<ComputeOp> computes;
  const Axes &axes;
  const ConnectedForm &form;
  const DeviceDescription &device;
  bool skipMasked;
  MicroKernelAttr kernel;
};

} // namespace

/// Columns of intermediates in a block: a panel of them takes half of L1, the packed rows that stream past it the rest.
/// Whole blocks of the micro-kernel's rows.
int64_t TreeBuilder::getColumns() {
  int64_t rowBytes = kernel.getWidth() * int64_t(sizeof(float)), rows = kernel.getRows();
  return std::max<int64_t>(1, device.getL1Bytes() / 2 / rowBytes / rows) * rows;
}

/// Rows of intermediates in a block along which they are summed: a product and a sum of so many rows stay in half of
/// L2. The sums are read and written once a block, hence many rows; more than `mostRows` save nothing further.
int64_t TreeBuilder::getRowsOfBlock(int64_t columns) {
  constexpr int64_t mostRows = 128;
  int64_t values = 2 * int64_t(form.products.size()), width = kernel.getWidth();
  int64_t rows = device.getL2Bytes() / 2 / (values * columns * int64_t(sizeof(float)));
  return std::clamp<int64_t>(rows / width, 1, std::max<int64_t>(1, mostRows / width)) * width;
}

/// Rows of a tile, in panels: so many that their multiply-adds take as long as reading, from behind L2, the operands
/// that stream past them, with ample room; fewer where workers would be without tiles.
Expr TreeBuilder::getRows() {
  constexpr int64_t leastTiles = 32, mostRows = 256;
  constexpr double room = 10;
  int64_t width = kernel.getWidth();
  double rows = room * double(sizeof(float)) * device.getMultiplyAdds(32) / device.getBandwidth(2);
  int64_t panels = std::clamp<int64_t>(int64_t(rows) / width, 1, mostRows / width);
  Expr all = Expr::ceilDiv(axes.getExtent(form.row), width);
  for (unsigned axis : form.outer)
    all = all * axes.getExtent(axis);
  Expr further = Expr::min(Expr::floorDiv(all, leastTiles), make.constant(panels - 1));
  return (further + 1) * width;
}

/// Operands in memory that are contiguous along the passes rather than the vectors are transposed first.
void TreeBuilder::packAcross(Nodes &body) {
  for (ComputeOp compute : form.inside) {
    for (auto [input, tensor] : llvm::enumerate(compute.getInputs())) {
      Type type = compute.getInputType(input).getElementType();
      std::optional<LinearIndex> linear = getStrides(compute, input);
      if (!isa<BlockArgument>(tensor) || !linear || (!type.isF32() && !type.isInteger(1)))
        continue;
      auto strideOf = [&](unsigned axis) -> std::optional<Expr> {
        auto loop = llvm::find(axes.of(compute), axis);
        return loop == axes.of(compute).end() ? std::nullopt
                                              : std::optional(linear->strides[loop - axes.of(compute).begin()]);
      };
      std::optional<Expr> across = strideOf(form.row), next = strideOf(form.column);
      bool isApart = across && !across->isConstant(0) && !across->isConstant(1);
      if (isApart && next && next->isConstant(1))
        body.push_back(make.pack(find(compute), input));
    }
  }
}

/// The compute whose values are masked by their positions or by an operand; -1 without one.
int64_t TreeBuilder::findMask() {
  for (ComputeOp compute : form.inside)
    if (skipMasked && (!getMask(compute).isEmpty() || !getVanishingMask(compute).isEmpty()))
      return find(compute);
  return -1;
}

/// The nodes for a block of columns. It serves all rows of a tile, and, where rows are dealt, is kept for the tiles of
/// the same matrices.
SmallVector<Attribute> TreeBuilder::getBlock(int64_t rows, bool deals) {
  Nodes nodes, panel;
  // Vectors run along the rows of intermediates: they stand as sums along columns read them.
  for (const ContractionForm &product : form.products) {
    nodes.push_back(pack(product, getFactor(product, form.column), deals));
    panel.push_back(multiply(product, form.row));
  }
  packAcross(panel);
  evaluate(panel, form.inside, form.row, form.column);
  for (const ConnectedForm::Sum &sum : form.sums) {
    if (sum.reduced == form.column)
      nodes.push_back(pack(sum.form, sum.factor, deals));
    panel.push_back(multiply(sum.form, sum.column));
  }
  nodes.push_back(divide(form.row, rows, panel, findMask()));
  for (const ConnectedForm::Sum &sum : form.sums)
    if (sum.reduced == form.row)
      evaluate(nodes, sum.epilogue, sum.column, form.column);
  return nodes;
}

SmallVector<Attribute> TreeBuilder::getTile(bool deals) {
  Nodes nodes;
  for (const ContractionForm &product : form.products)
    nodes.push_back(pack(product, getFactor(product, form.row)));
  for (const ConnectedForm::Sum &sum : form.sums)
    if (sum.reduced == form.row)
      nodes.push_back(pack(sum.form, sum.factor));
  evaluate(nodes, form.before, form.row, form.column);
  int64_t columns = getColumns(), rows = deals ? kernel.getWidth() : getRowsOfBlock(columns);
  nodes.push_back(divide(form.column, columns, getBlock(rows, deals)));
  evaluate(nodes, form.behind, form.row, form.sums.front().column);
  for (const ConnectedForm::Sum &sum : form.sums)
    if (sum.reduced == form.column)
      evaluate(nodes, sum.epilogue, sum.column, form.row);
  return nodes;
}

TreeTilingAttr TreeBuilder::build() {
  // Rows are dealt unless they are summed.
  bool deals = llvm::none_of(form.sums, [&](const ConnectedForm::Sum &sum) { return sum.reduced == form.row; });
  Nodes body = getTile(deals);
  if (deals)
    body = {make.deal(form.row, getRows(), body)};
  const ContractionForm &first = form.products.front();
  for (unsigned loop : llvm::reverse(first.outer))
    body = {make.deal(axes.of(first.compute)[loop], make.constant(1), body)};
  return TreeTilingAttr::get(kernel.getContext(), kernel, make.body(body));
}

TreeTilingAttr tile::tileTree(ProgramOp program, const DeviceDescription &device, bool skipMasked) {
  std::string why;
  FailureOr<Axes> axes = Axes::get(program.getComputes(), why);
  if (failed(axes))
    return {};
  std::optional<ConnectedForm> form = ConnectedForm::get(program.getComputes(), *axes);
  return form ? TreeBuilder(program, *axes, *form, device, skipMasked).build() : TreeTilingAttr();
}

bool tile::leavesOutBlocks(TreeTilingAttr tree) {
  return tree
      .walk(
          [](BlocksAttr blocks) { return blocks.getMaskedBy() < 0 ? WalkResult::advance() : WalkResult::interrupt(); })
      .wasInterrupted();
}
