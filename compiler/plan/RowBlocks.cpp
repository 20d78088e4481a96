#include "compiler/plan/RowBlocks.h"

#include "compiler/plan/Combiner.h"
#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The packed operand of a rows tiling; nothing, with a reason in `why`, if it can't be packed.
static FailureOr<RowBlocks::Packed> getPacked(RowBlocks &blocks, unsigned input, int64_t lanes, std::string &why) {
  ComputeOp compute = blocks.reduction;
  if (input >= compute.getInputs().size() || !isa<BlockArgument>(compute.getInputs()[input])) {
    why = "what is packed is no operand in memory";
    return failure();
  }
  graph::TensorType type = compute.getInputType(input);
  std::optional<LinearIndex> linear = getStrides(compute, input);
  if (!linear || compute.getFill(input) || !linear->strides[blocks.rowLoop].isConstant(0) ||
      !type.getElementType().isF32()) {
    why = "an operand is packed that depends on rows, may be out of bounds or is no f32";
    return failure();
  }
  SmallVector<Expr> extents = compute.getExtents();
  RowBlocks::Packed packed{input, linear->strides[blocks.columnLoop], linear->strides[blocks.reducedLoop], {}, {}};
  packed.pitch = Expr::ceilDiv(extents[blocks.reducedLoop], lanes) * lanes;
  packed.elements = packed.pitch * extents[blocks.columnLoop];
  return packed;
}

FailureOr<RowBlocks> RowBlocks::get(const RowPasses &passes, RowsTilingAttr tiling, std::string &why) {
  RowPasses::Entry first = passes.entries.front();
  unsigned rowLoops = tiling.getRowLoops();
  bool isReduction = first.role == RowRole::reduction && passes.passes == 1 && getCombiners(first.compute) &&
                     first.compute.getNumLoops() == rowLoops + 1;
  bool areScalars = llvm::all_of(llvm::drop_begin(passes.entries), [](const RowPasses::Entry &entry) {
    return entry.role == RowRole::scalar && entry.pass == 1;
  });
  if (rowLoops < 2 || !isReduction || !areScalars) {
    why = "blocks of results are those of one reduction of one loop, with two row loops at least";
    return failure();
  }
  SmallVector<Expr> extents = first.compute.getExtents();
  RowBlocks blocks{first.compute,          rowLoops - 2,
                   rowLoops - 1,           rowLoops,
                   tiling.getBlockRows(), tiling.getBlockColumns(),
                   {},                     {},
                   {},                     {}};
  blocks.outer = llvm::to_vector(ArrayRef(extents).take_front(rowLoops - 2));
  blocks.rowBlocks = Expr::ceilDiv(extents[blocks.rowLoop], tiling.getBlockRows());
  blocks.columnBlocks = Expr::ceilDiv(extents[blocks.columnLoop], tiling.getBlockColumns());
  if (tiling.getPacked() < 0)
    return blocks;
  FailureOr<Packed> packed = getPacked(blocks, tiling.getPacked(), tiling.getLanes().front(), why);
  if (failed(packed))
    return failure();
  blocks.packed = *packed;
  return blocks;
}

Expr RowBlocks::getCount() const {
  Expr count = rowBlocks * columnBlocks;
  for (Expr extent : outer)
    count = count * extent;
  return count;
}
