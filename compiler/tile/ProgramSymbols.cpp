#include "compiler/tile/ProgramSymbols.h"

#include "compiler/tile/Classify.h"
#include "compiler/tile/IndexMaps.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

ProgramSymbols::ProgramSymbols(ArrayRef<ComputeOp> members, bool generalise, MLIRContext *context)
    : context(context), members(members) {
  if (!generalise)
    return;
  for (ComputeOp member : members)
    if (getContractionDims(member) || (members.size() == 1 && isCopy(member))) {
      nameLoops(member);
      return;
    }
}

Expr ProgramSymbols::addSymbol(Expr size) {
  StringAttr name = StringAttr::get(context, "s" + Twine(names.size()));
  names.push_back(name);
  sizes.push_back(size);
  return Expr::symbol(name);
}

/// The taps of a window and the last digit of a split index stay as they are: strides, and vectors, depend on them.
void ProgramSymbols::nameLoops(ComputeOp op) {
  named = op;
  SmallVector<bool> staysConstant(op.getNumLoops());
  for (unsigned input = 0; input < op.getInputs().size(); ++input)
    for (Expr index : getIndices(op, input)) {
      SmallVector<unsigned> loops = getLoops(index);
      std::optional<LinearIndex> linear = asLinear(index, op.getNumLoops());
      if (loops.size() > 1)
        for (unsigned loop : loops)
          staysConstant[loop] |= !linear || !op.isParallel(loop) || (isCopy(op) && linear->strides[loop].isConstant(1));
    }
  for (auto [loop, extent] : llvm::enumerate(op.getExtents())) {
    bool stays = extent.isConstant() && (extent.isConstant(1) || staysConstant[loop]);
    loopSymbols.push_back(stays ? extent : addSymbol(extent));
  }
}

Expr ProgramSymbols::convert(Expr size) {
  if (size.isConstant())
    return size;
  Expr &symbol = symbolOf[size];
  if (!symbol)
    symbol = addSymbol(size);
  return symbol;
}

Expr ProgramSymbols::convertLoop(ComputeOp op, unsigned loop) {
  // All members of a contraction's group run over its parallel loops.
  return named ? loopSymbols[loop] : convert(op.getExtents()[loop]);
}

graph::TensorType ProgramSymbols::convertResult(ComputeOp op, unsigned result) {
  SmallVector<Expr> shape;
  for (unsigned loop = 0; loop < op.getNumParallel(); ++loop)
    shape.push_back(convertLoop(op, loop));
  graph::TensorType type = op.getResultType(result);
  return graph::TensorType::get(context, shape, type.getElementType(), type.getLayout());
}

/// The loop that runs over a dimension of what comes from outside, alone and to its end.
std::optional<unsigned> ProgramSymbols::getLoopOf(Value tensor, unsigned dim) {
  for (ComputeOp member : members)
    for (auto [input, operand] : llvm::enumerate(member.getInputs())) {
      if (operand != tensor)
        continue;
      auto loop = dyn_cast<AffineDimExpr>(member.getMap(input).getResult(dim));
      if (loop && member.getExtents()[loop.getPosition()] == graph::getShape(tensor)[dim])
        return loop.getPosition();
    }
  return std::nullopt;
}

graph::TensorType ProgramSymbols::convertArgument(Value tensor) {
  auto type = cast<graph::TensorType>(tensor.getType());
  SmallVector<Expr> shape;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    std::optional<unsigned> loop = named ? getLoopOf(tensor, dim) : std::nullopt;
    if (loop)
      shape.push_back(loopSymbols[*loop]);
    else if (named && extent.isConstant() && !extent.isConstant(1))
      shape.push_back(addSymbol(extent));
    else
      shape.push_back(convert(extent));
  }
  return graph::TensorType::get(context, shape, type.getElementType(), type.getLayout());
}

} // namespace freestone::tile
