#include "compiler/plan/RowsAcross.h"

#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Whether an operand is contiguous along the last row loop, and not along the only loop over the elements of a row.
static bool liesAcross(ComputeOp compute, unsigned input, unsigned rowLoops) {
  if (compute.getNumLoops() != rowLoops + 1 || compute.getFill(input))
    return false;
  std::optional<LinearIndex> linear = getStrides(compute, input);
  return linear && linear->strides[rowLoops - 1].isConstant(1) && !linear->strides[rowLoops].isConstant(1) &&
         !linear->strides[rowLoops].isConstant(0);
}

FailureOr<RowsAcross> RowsAcross::get(ProgramOp program, const RowPasses &passes, unsigned rowLoops, unsigned argument,
                                      int64_t lanes, std::string &why) {
  why = "rows are copied of an operand of f32 that all computes read at the same places, contiguous across rows alone";
  if (!rowLoops || argument >= program.getBody()->getNumArguments())
    return failure();
  RowsAcross across;
  across.argument = program.getBody()->getArgument(argument);
  auto type = cast<graph::TensorType>(across.argument.getType());
  if (!type.getElementType().isF32() || !hasStrides(type))
    return failure();
  for (const RowPasses::Entry &entry : passes.entries) {
    ComputeOp compute = entry.compute;
    if (llvm::is_contained(compute.getReads(), across.argument))
      return failure();
    for (auto [input, operand] : llvm::enumerate(compute.getInputs())) {
      if (operand != across.argument)
        continue;
      if (entry.role == RowRole::scalar || !liesAcross(compute, input, rowLoops) ||
          (across.reader && (getIndices(across.reader, across.input) != getIndices(compute, input) ||
                             across.reader.getExtents() != compute.getExtents())))
        return failure();
      across.reader = compute;
      across.input = input;
    }
  }
  if (!across.reader)
    return failure();
  across.length = across.reader.getExtents().back();
  across.pitch = Expr::ceilDiv(across.length, lanes) * lanes;
  across.elements = across.pitch * lanes;
  return across;
}
