#include "compiler/tile/NeighbourLoops.h"

#include "compiler/plan/Axes.h"
#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Whether each element of a row is an operand's for the few steps of the last loop.
static bool isRepeated(ComputeOp op, unsigned input, unsigned outer, unsigned dim) {
  constexpr int64_t mostTimes = 4;
  std::optional<int64_t> times = op.getExtents()[outer + 1].asConstant();
  graph::TensorType type = op.getInputType(input);
  return times && *times > 1 && *times <= mostTimes && outer + 2 == op.getNumLoops() && op.isParallel(outer + 1) &&
         dim + 1 == type.getShape().size() && !type.getLayout() && !op.getFill(input) &&
         !dependsOnLoops(getIndices(op, input)[dim] - getLoopSymbol(op.getContext(), outer));
}

NeighbourAccess tile::getNeighbourAccess(ComputeOp op, unsigned input, unsigned outer, unsigned &first) {
  SmallVector<Expr> extents = op.getExtents();
  SmallVector<Expr> indices = getIndices(op, input);
  ArrayRef<Expr> shape = op.getInputType(input).getShape();
  MLIRContext *context = op.getContext();
  Expr outerLoop = getLoopSymbol(context, outer), innerLoop = getLoopSymbol(context, outer + 1);
  SmallVector<unsigned> users;
  for (auto [dim, index] : llvm::enumerate(indices))
    if (llvm::any_of(getLoops(index), [&](unsigned loop) { return loop == outer || loop == outer + 1; }))
      users.push_back(dim);
  if (users.empty())
    return NeighbourAccess::none;
  auto areWhole = [&](Expr along, Expr inner) {
    return !dependsOnLoops(indices[users[0]] - along) && indices[users[1]] == inner;
  };
  // Forwards, or both backwards, as the taps of a filter that a gradient reads.
  if (users.size() == 2 && users[1] == users[0] + 1 && shape[users[1]] == extents[outer + 1] &&
      !op.getInputType(input).getLayout() &&
      (areWhole(outerLoop, innerLoop) || areWhole(outerLoop * -1, extents[outer + 1] - 1 - innerLoop))) {
    first = users[0];
    return NeighbourAccess::twoDimensions;
  }
  if (users.size() != 1)
    return NeighbourAccess::apart;
  if (isRepeated(op, input, outer, users[0]))
    return NeighbourAccess::repeated;
  std::optional<LinearIndex> linear = asLinear(indices[users[0]], op.getNumLoops());
  if (!linear || linear->strides[outer] != linear->strides[outer + 1] * extents[outer + 1])
    return NeighbourAccess::apart;
  return NeighbourAccess::oneDimension;
}

static bool canMerge(ComputeOp op, unsigned outer, bool isAlone) {
  if (op.getNumLoops() <= outer)
    return true;
  if (op.getNumLoops() == outer + 1 || op.isParallel(outer) != op.isParallel(outer + 1))
    return false;
  for (IndexOp index : op.getBody()->getOps<IndexOp>())
    if (index.getLoop() == outer || index.getLoop() == outer + 1)
      return false;
  // A result with a layout keeps its dimensions.
  if (op.isParallel(outer) &&
      llvm::any_of(op.getResultTypes(), [](Type type) { return cast<graph::TensorType>(type).getLayout(); }))
    return false;
  for (unsigned input = 0; input < op.getInputs().size(); ++input) {
    unsigned first;
    NeighbourAccess access = getNeighbourAccess(op, input, outer, first);
    if (access == NeighbourAccess::apart || (access == NeighbourAccess::repeated && !isAlone))
      return false;
  }
  return true;
}

/// Members of a group read each other at the loops themselves, so that loops of the same number are the same axis, but
/// where several of them are contractions.
static bool areSameAxes(ArrayRef<ComputeOp> computes, unsigned outer) {
  if (!areConnected(computes))
    return true;
  std::string why;
  FailureOr<Axes> axes = Axes::get(computes, why);
  if (failed(axes))
    return false;
  std::optional<std::pair<unsigned, unsigned>> common;
  return llvm::all_of(computes, [&](ComputeOp compute) {
    if (compute.getNumLoops() <= outer + 1)
      return true;
    std::pair<unsigned, unsigned> own(axes->of(compute)[outer], axes->of(compute)[outer + 1]);
    common = common.value_or(own);
    return common == own;
  });
}

bool tile::canMerge(ArrayRef<ComputeOp> computes, unsigned outer) {
  bool isAlone = computes.size() == 1;
  return llvm::all_of(computes, [&](ComputeOp compute) { return ::canMerge(compute, outer, isAlone); }) &&
         areSameAxes(computes, outer);
}
