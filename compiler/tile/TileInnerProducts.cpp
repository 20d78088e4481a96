#include "compiler/tile/TileInnerProducts.h"

#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/RowBlocks.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/TileLoops.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The cost of all that follows from one result.
static int64_t getEpilogueCost(ProgramOp program) {
  SmallVector<ComputeOp> computes = program.getComputes();
  int64_t cost = 0;
  for (ComputeOp compute : ArrayRef(computes).drop_front())
    cost += getBodyCost(compute);
  return cost;
}

std::optional<InnerProducts> InnerProducts::get(ContractionForm &form, const DeviceDescription &device) {
  ComputeOp compute = form.compute;
  auto program = compute->getParentOfType<ProgramOp>();
  unsigned parallel = compute.getNumParallel();
  if (!program || parallel < 2 || ArrayRef(form.m) != ArrayRef({parallel - 2}) ||
      ArrayRef(form.n) != ArrayRef({parallel - 1}) || form.k.size() != 1 || getEpilogueCost(program) > 2 * cheapBody)
    return std::nullopt;
  // Vectors of AVX-512 have twice the registers.
  InnerProducts inner{device.vectorRegisters >= 32 ? 4 : 2, 4, {}};
  for (Value factor : {form.lhs, form.rhs}) {
    auto argument = dyn_cast<BlockArgument>(factor);
    std::optional<unsigned> input = form.getInput(factor);
    std::optional<LinearIndex> linear = argument && input ? getStrides(compute, *input) : std::nullopt;
    if (!linear || compute.getFill(*input) || !compute.getInputType(*input).getElementType().isF32())
      return std::nullopt;
    if (linear->strides[form.k.front()].isConstant(1))
      continue;
    // Columns are copied in vectors.
    if (factor == form.lhs || !linear->strides[form.n.front()].isConstant(1))
      return std::nullopt;
    inner.packed = *input;
  }
  if (form.getExtent(form.n).isConstant(1))
    inner = inner.getOfColumn();
  else if (form.getExtent(form.m).isConstant(1))
    inner = inner.getOfRow();
  std::string why;
  FailureOr<RowPasses> passes = getRowPasses(program, parallel, why);
  if (failed(passes) || failed(RowBlocks::get(*passes, inner.getTiling(form, device), why)))
    return std::nullopt;
  return inner;
}

RowsTilingAttr InnerProducts::getTiling(ContractionForm &form, const DeviceDescription &device) const {
  constexpr int64_t accumulators = 8;
  MLIRContext *context = form.compute.getContext();
  auto constant = [&](int64_t value) { return Expr::constant(context, value); };
  Expr ofBlock = Expr::max(form.getExtent(form.k), constant(1)) * (rows * columns);
  Expr blocks = Expr::max(Expr::floorDiv(constant(rows * columns * getTileElements(device)), ofBlock), constant(1));
  return RowsTilingAttr::get(context, form.compute.getNumParallel(), blocks, /*run_loops=*/{1},
                             {getCommonLanes(device)}, {accumulators}, rows, columns, packed ? int64_t(*packed) : -1,
                             /*together=*/1, /*short_row=*/0, /*prefetching=*/-1);
}
