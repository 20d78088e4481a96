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
