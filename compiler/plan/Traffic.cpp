#include "compiler/plan/Traffic.h"

#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

static int64_t getElementBytes(graph::TensorType type) {
  return getStorageType(type.getElementType()).getIntOrFloatBitWidth() / 8;
}

Expr tile::getStorageBytes(graph::TensorType type) { return getStorageElements(type) * getElementBytes(type); }

/// The elements at an operand's indices: in a dimension, one for each turn of the loop that is its index, or all that
/// there are where a window moves.
static Expr countElements(ComputeOp compute, unsigned input) {
  Expr elements = Expr::constant(compute.getContext(), 1);
  for (auto [index, size] : llvm::zip_equal(getIndices(compute, input), compute.getInputType(input).getShape())) {
    SmallVector<unsigned> loops = getLoops(index);
    if (loops.size() > 1)
      elements = elements * size;
    else if (!loops.empty())
      elements = elements * compute.getExtents()[loops.front()];
  }
  return elements;
}

/// The elements that a compute reads where data say: one for each point and read of its body.
static Expr countElements(ComputeOp compute, BlockArgument tensor) {
  Expr elements = Expr::constant(compute.getContext(), std::distance(tensor.use_begin(), tensor.use_end()));
  for (Expr extent : compute.getExtents())
    elements = elements * extent;
  return elements;
}

Expr tile::getReadBytes(BlockArgument argument) {
  auto type = cast<graph::TensorType>(argument.getType());
  Expr all = type.getNumElements(), whole = getStorageBytes(type);
  llvm::SmallSetVector<Expr, 4> parts;
  for (OpOperand &use : argument.getUses()) {
    auto compute = dyn_cast<ComputeOp>(use.getOwner());
    if (!compute)
      return whole;
    unsigned number = use.getOperandNumber(), inputs = compute.getInputs().size();
    Expr part = number < inputs ? countElements(compute, number)
                                : countElements(compute, compute.getReadArgs()[number - inputs]);
    if (part == all)
      return whole;
    parts.insert(part);
  }
  Expr elements = Expr::constant(argument.getContext(), 0);
  for (Expr part : parts)
    elements = elements + part;
  return Expr::min(elements * getElementBytes(type), whole);
}

Traffic Traffic::get(ProgramOp program) {
  Expr zero = Expr::constant(program.getContext(), 0);
  Traffic traffic = {zero, zero};
  for (BlockArgument argument : program.getBody()->getArguments())
    traffic.read = traffic.read + getReadBytes(argument);
  for (Value result : program.getBody()->getTerminator()->getOperands())
    traffic.written = traffic.written + getStorageBytes(cast<graph::TensorType>(result.getType()));
  return traffic;
}
