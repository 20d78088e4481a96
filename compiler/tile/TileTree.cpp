#include "compiler/tile/TileTree.h"

#include "compiler/plan/Axes.h"
#include "compiler/plan/ContractionForm.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/MaskedBlocks.h"
#include "compiler/tile/TileContraction.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// Builds the tree for two contractions.
class TreeBuilder {
public:
  TreeBuilder(ProgramOp program, Axes axes, const DeviceDescription &device)
      : builder(program.getContext()), computes(program.getComputes()), axes(std::move(axes)), device(device) {}

  TreeTilingAttr build();

private:
  unsigned find(ComputeOp compute) { return llvm::find(computes, compute) - computes.begin(); }
  bool hasAxis(ComputeOp compute, unsigned axis) { return llvm::is_contained(axes.of(compute), axis); }
  Attribute pack(const ContractionForm &form, Value factor, int64_t kept = 0) {
    ContractionForm copy = form;
    return PackedAttr::get(builder.getContext(), find(form.compute), *copy.getInput(factor), kept);
  }
  Attribute multiply(const ContractionForm &form, unsigned columns) {
    return MultiplyAttr::get(builder.getContext(), find(form.compute), columns);
  }
  void evaluate(SmallVector<Attribute> &body, ArrayRef<int64_t> numbers, unsigned lanes, unsigned along) {
    if (!numbers.empty())
      body.push_back(EvaluateAttr::get(builder.getContext(), numbers, lanes, along));
  }
  Attribute blocks(unsigned axis, Expr step, bool dealt, ArrayRef<Attribute> body, int64_t maskedBy = -1) {
    return BlocksAttr::get(builder.getContext(), axis, step, dealt, builder.getArrayAttr(body), maskedBy);
  }
  int64_t getColumns(MicroKernelAttr kernel);
  Expr getRows(const ContractionForm &first, int64_t width);
  void packAcross(SmallVector<Attribute> &body, ArrayRef<int64_t> numbers, unsigned lanes, unsigned along);
  int64_t findMask(ArrayRef<int64_t> numbers);

  Builder builder;
  SmallVector<ComputeOp> computes;
  Axes axes;
  const DeviceDescription &device;
};

} // namespace

/// Columns of the first contraction in a block: a panel of them takes half of L1, the packed rows that stream past it
/// the rest. Whole blocks of the micro-kernel's rows.
int64_t TreeBuilder::getColumns(MicroKernelAttr kernel) {
  int64_t rowBytes = kernel.getWidth() * int64_t(sizeof(float)), rows = kernel.getRows();
  return std::max<int64_t>(1, device.getL1Bytes() / 2 / rowBytes / rows) * rows;
}

/// Rows of a tile, in panels: so many that their multiply-adds take as long as reading, from behind L2, the operands
/// that stream past them, with ample room; fewer where workers would be without tiles.
Expr TreeBuilder::getRows(const ContractionForm &first, int64_t width) {
  constexpr int64_t leastTiles = 32, mostRows = 256;
  constexpr double room = 10;
  double rows = room * double(sizeof(float)) * device.getMultiplyAdds(32) / device.getBandwidth(2);
  int64_t panels = std::clamp<int64_t>(int64_t(rows) / width, 1, mostRows / width);
  ContractionForm form = first;
  Expr all = form.getExtent(form.outer) * Expr::ceilDiv(form.getExtent(form.m), width);
  Expr further = Expr::min(Expr::floorDiv(all, leastTiles), Expr::constant(builder.getContext(), panels - 1));
  return (further + 1) * width;
}

/// Operands in memory that are contiguous along the passes rather than the vectors are transposed first.
void TreeBuilder::packAcross(SmallVector<Attribute> &body, ArrayRef<int64_t> numbers, unsigned lanes, unsigned along) {
  for (int64_t number : numbers) {
    ComputeOp compute = computes[number];
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
      std::optional<Expr> across = strideOf(lanes), next = strideOf(along);
      bool isApart = across && !across->isConstant(0) && !across->isConstant(1);
      if (isApart && next && next->isConstant(1))
        body.push_back(PackedAttr::get(builder.getContext(), number, input, /*kept=*/0));
    }
  }
}

/// The maximum whose values are masked by their positions; -1 without one.
int64_t TreeBuilder::findMask(ArrayRef<int64_t> numbers) {
  for (int64_t number : numbers)
    if (!getMaskedRegions(computes[number]).empty())
      return number;
  return -1;
}

TreeTilingAttr TreeBuilder::build() {
  SmallVector<ContractionForm, 2> forms;
  for (ComputeOp compute : computes)
    if (std::optional<ContractionForm> form = ContractionForm::getOfMatrices(compute))
      forms.push_back(*form);
  if (forms.size() != 2)
    return {};
  const ContractionForm &first = forms[0], &second = forms[1];
  unsigned row = axes.of(first.compute)[first.m.front()], middle = axes.of(first.compute)[first.n.front()],
           column = axes.of(second.compute)[second.n.front()];
  // Values of each row before the blocks, within them and behind them; what follows the second contraction.
  SmallVector<int64_t> before, inside, behind, epilogue;
  llvm::SmallPtrSet<Operation *, 8> late;
  for (auto [number, compute] : llvm::enumerate(computes)) {
    if (compute == first.compute || compute == second.compute) {
      late.insert(compute);
      continue;
    }
    bool isLate = llvm::any_of(compute.getInputs(), [&](Value input) { return late.contains(input.getDefiningOp()); });
    if (isLate)
      late.insert(compute);
    (hasAxis(compute, column)   ? epilogue
     : hasAxis(compute, middle) ? inside
     : isLate                   ? behind
                                : before)
        .push_back(number);
  }
  MicroKernelAttr kernel = getMicroKernel(device, first.elementType);
  Expr one = Expr::constant(builder.getContext(), 1);
  // Vectors run along the rows of the first contraction: its result stands as the second one reads its rows.
  SmallVector<Attribute> panel = {multiply(first, row)};
  packAcross(panel, inside, row, middle);
  evaluate(panel, inside, row, middle);
  panel.push_back(multiply(second, column));
  // A block of columns serves all panels of rows in a tile, and is kept for the tiles of the same matrices.
  SmallVector<Attribute> block = {pack(first, first.rhs, /*kept=*/1), pack(second, second.rhs, /*kept=*/1),
                                  blocks(row, one * kernel.getWidth(), /*dealt=*/false, panel, findMask(inside))};
  SmallVector<Attribute> tile = {pack(first, first.lhs)};
  evaluate(tile, before, row, middle);
  tile.push_back(blocks(middle, one * getColumns(kernel), /*dealt=*/false, block));
  evaluate(tile, behind, row, column);
  evaluate(tile, epilogue, column, row);
  SmallVector<Attribute> body = {blocks(row, getRows(first, kernel.getWidth()), /*dealt=*/true, tile)};
  for (unsigned loop : llvm::reverse(first.outer))
    body = {blocks(axes.of(first.compute)[loop], one, /*dealt=*/true, body)};
  return TreeTilingAttr::get(builder.getContext(), kernel, builder.getArrayAttr(body));
}

TreeTilingAttr tile::tileTree(ProgramOp program, const DeviceDescription &device) {
  std::string why;
  FailureOr<Axes> axes = Axes::get(program.getComputes(), why);
  return succeeded(axes) ? TreeBuilder(program, *axes, device).build() : TreeTilingAttr();
}
