#include "compiler/plan/Accesses.h"

#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The elements of `count` consecutive outer points, in a tensor whose first dimensions are the outer loops; unit for
/// other tensors.
static Attribute getRun(graph::TensorType type, unsigned outer, Expr count) {
  if (type.getLayout() || type.getRank() < static_cast<int64_t>(outer))
    return UnitAttr::get(type.getContext());
  for (Expr extent : type.getShape().drop_front(outer))
    count = count * extent;
  return count.attr();
}

/// As getRun, if all uses read the tensor's first dimensions at the outer loops.
static Attribute getRead(BlockArgument argument, unsigned outer, Expr count) {
  MLIRContext *context = argument.getContext();
  auto type = cast<graph::TensorType>(argument.getType());
  if (type.getRank() < static_cast<int64_t>(outer))
    return UnitAttr::get(context);
  for (OpOperand &use : argument.getUses()) {
    auto compute = dyn_cast<ComputeOp>(use.getOwner());
    unsigned number = use.getOperandNumber();
    if (!compute || number >= compute.getInputs().size())
      return UnitAttr::get(context);
    SmallVector<Expr> indices = getIndices(compute, number);
    for (unsigned loop = 0; loop < outer; ++loop)
      if (indices[loop] != getLoopSymbol(context, loop) || compute.getExtents()[loop] != type.getDim(loop))
        return UnitAttr::get(context);
  }
  return getRun(type, outer, count);
}

/// The number of first loops that all computes share: each reads the others' results at its own point of them.
static unsigned countSharedLoops(ProgramOp program) {
  SmallVector<ComputeOp> computes = program.getComputes();
  SmallVector<Expr> extents = computes.front().getExtents();
  unsigned shared = computes.front().getNumParallel();
  for (ComputeOp compute : computes) {
    if (llvm::any_of(compute.getReads(), [](Value read) { return !isa<BlockArgument>(read); }))
      return 0;
    shared = std::min<unsigned>(shared, compute.getNumParallel());
    SmallVector<Expr> own = compute.getExtents();
    while (ArrayRef(own).take_front(shared) != ArrayRef(extents).take_front(shared))
      --shared;
    for (auto [number, input] : llvm::enumerate(compute.getInputs())) {
      if (isa<BlockArgument>(input))
        continue;
      SmallVector<Expr> indices = getIndices(compute, number);
      for (unsigned loop = 0; loop < shared; ++loop)
        if (loop >= indices.size() || indices[loop] != getLoopSymbol(compute.getContext(), loop))
          shared = loop;
    }
  }
  return shared;
}

TileGrid TileGrid::get(ComputeOp compute, ArrayRef<unsigned> loops, Expr inner) {
  TileGrid grid;
  SmallVector<Expr> extents = compute.getExtents();
  while (grid.outer.size() < loops.size() && loops[grid.outer.size()] == grid.outer.size())
    grid.outer.push_back(extents[grid.outer.size()]);
  grid.rowBlocks = Expr::constant(compute.getContext(), 1);
  grid.inner = inner;
  for (unsigned loop : loops.drop_front(grid.outer.size()))
    grid.inner = grid.inner * extents[loop];
  return grid;
}

Accesses Accesses::getUnknown(ProgramOp program) {
  Attribute unit = UnitAttr::get(program.getContext());
  return {SmallVector<Attribute>(program.getArgumentTypes().size(), unit),
          SmallVector<Attribute>(program.getResultTypes().size(), unit)};
}

Accesses Accesses::get(ProgramOp program, unsigned outer, Expr perTile) {
  Accesses accesses;
  for (BlockArgument argument : program.getBody()->getArguments())
    accesses.reads.push_back(getRead(argument, outer, perTile));
  for (Value result : program.getBody()->getTerminator()->getOperands())
    accesses.writes.push_back(getRun(cast<graph::TensorType>(result.getType()), outer, perTile));
  return accesses;
}

Accesses Accesses::get(ProgramOp program, const TileGrid &grid) {
  Accesses accesses = getUnknown(program);
  unsigned shared = countSharedLoops(program);
  Expr one = Expr::constant(program.getContext(), 1);
  // What the points of as few loops as possible tell holds as well, of more tiles.
  auto add = [&](unsigned loops, Expr points, Expr tiles) {
    if (loops == 0 || loops > shared)
      return;
    Accesses ofPoints = get(program, loops, points);
    for (auto [all, each] : {std::pair(&accesses.reads, &ofPoints.reads), {&accesses.writes, &ofPoints.writes}})
      for (auto [access, run] : llvm::zip_equal(*all, *each))
        if (auto elements = dyn_cast<sym::ExprAttr>(run))
          access = SharedBlockAttr::getAccess(elements.getExpr(), tiles);
  };
  Expr tiles = grid.rowBlocks * grid.inner;
  SmallVector<Expr> ofLoop;
  for (Expr extent : llvm::reverse(grid.outer)) {
    ofLoop.push_back(tiles);
    tiles = tiles * extent;
  }
  for (unsigned loops = 1; loops <= grid.outer.size(); ++loops)
    add(loops, one, ofLoop[grid.outer.size() - loops]);
  if (grid.outer.empty() && grid.rowLoops > 0)
    add(grid.rowLoops, grid.rows, grid.inner);
  return accesses;
}
