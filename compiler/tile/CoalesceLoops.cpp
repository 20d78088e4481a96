#include "compiler/tile/Passes.h"

#include "compiler/plan/ChainForm.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/tile/Counters.h"
#include "compiler/tile/NeighbourLoops.h"
#include "compiler/tile/RewriteLoops.h"
#include "mlir/IR/IRMapping.h"

namespace freestone::tile {
#define GEN_PASS_DEF_COALESCELOOPS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using freestone::sym::Expr;

namespace {

/// A group, or a single compute.
struct Unit {
  explicit Unit(Operation *op) : op(op) {
    if (auto group = dyn_cast<GroupOp>(op))
      members = llvm::to_vector(group.getBody()->getOps<ComputeOp>());
    else
      members.push_back(cast<ComputeOp>(op));
  }

  bool isInside(Value tensor) { return llvm::is_contained(members, tensor.getDefiningOp<ComputeOp>()); }

  Operation *op;
  SmallVector<ComputeOp> members;
};

SmallVector<Expr> mergeDims(ArrayRef<Expr> shape, unsigned first) {
  SmallVector<Expr> merged(shape);
  merged[first] = merged[first] * merged[first + 1];
  merged.erase(merged.begin() + first + 1);
  return merged;
}

class CoalesceLoops : public tile::impl::CoalesceLoopsBase<CoalesceLoops> {
public:
  using CoalesceLoopsBase::CoalesceLoopsBase;

  void runOnOperation() override {
    if (!enable)
      return;
    SmallVector<Operation *> ops;
    for (Operation &op : getOperation().getBody().front())
      if (isa<ComputeOp, GroupOp>(op))
        ops.push_back(&op);
    for (Operation *op : ops)
      coalesce(op);
  }

private:
  void coalesce(Operation *op);
  Operation *merge(Unit &unit, unsigned outer);
  ComputeOp mergeMember(Unit &unit, ComputeOp op, unsigned outer, OpBuilder &outside, OpBuilder &inside,
                        IRMapping &mapping);
};

void CoalesceLoops::coalesce(Operation *op) {
  for (unsigned outer = 0;;) {
    Unit unit(op);
    unsigned loops = 0;
    for (ComputeOp member : unit.members)
      loops = std::max(loops, member.getNumLoops());
    // Groups contain only computes that read each other in order; a `tile.opaque` is left alone.
    if (unit.members.empty() || outer + 1 >= loops || areChained(unit.members))
      return;
    if (!canMerge(unit.members, outer)) {
      ++outer;
      continue;
    }
    op = merge(unit, outer);
    count(getOperation(), "coalesced", 1);
  }
}

/// Rebuilds the member with loops `outer` and `outer + 1` merged.
ComputeOp CoalesceLoops::mergeMember(Unit &unit, ComputeOp op, unsigned outer, OpBuilder &outside, OpBuilder &inside,
                                     IRMapping &mapping) {
  MLIRContext *context = &getContext();
  bool isMerged = op.getNumLoops() > outer;
  SmallVector<Expr> extents = op.getExtents(), loops;
  unsigned numParallel = op.getNumParallel();
  for (unsigned loop = 0; loop < extents.size(); ++loop) {
    unsigned moved = isMerged && loop > outer ? loop - 1 : loop;
    // Where an index is contiguous over both loops, the merged loop has the inner loop's stride.
    loops.push_back(isMerged && loop == outer ? Expr::constant(context, 0) : getLoopSymbol(context, moved));
  }
  if (isMerged) {
    numParallel -= op.isParallel(outer);
    extents = mergeDims(extents, outer);
  }
  ComputeBuilder builder(inside, op.getLoc(), ArrayRef(extents).take_front(numParallel),
                         ArrayRef(extents).drop_front(numParallel));
  SmallVector<unsigned> inputs, tables;
  for (auto [input, tensor] : llvm::enumerate(op.getInputs())) {
    SmallVector<Expr> indices = getIndices(op, input, loops);
    unsigned first;
    NeighbourAccess access = isMerged ? getNeighbourAccess(op, input, outer, first) : NeighbourAccess::none;
    if (access == NeighbourAccess::repeated) {
      SmallVector<Expr> repeated(loops);
      repeated[outer] = Expr::floorDiv(getLoopSymbol(context, outer), op.getExtents()[outer + 1]);
      inputs.push_back(builder.read(mapping.lookupOrDefault(tensor), getIndices(op, input, repeated)));
    } else if (access == NeighbourAccess::twoDimensions) {
      Expr start = indices[first] * op.getInputType(input).getShape()[first + 1];
      indices.erase(indices.begin() + first);
      indices[first] = indices[first] + start;
      Value shaped = unit.isInside(tensor)
                         ? mapping.lookup(tensor)
                         : reshapeTo(outside, op.getLoc(), tensor, mergeDims(graph::getShape(tensor), first));
      inputs.push_back(builder.read(shaped, indices, op.getFill(input)));
    } else {
      inputs.push_back(builder.read(mapping.lookupOrDefault(tensor), indices, op.getFill(input)));
    }
  }
  for (Value tensor : op.getReads())
    tables.push_back(builder.table(tensor));
  FailureOr<ComputeOp> result = createWithBody(builder, op, inputs, tables, loops);
  assert(succeeded(result) && "an index that was affine stays so");
  mapping.map(op.getResults(), result->getResults());
  return *result;
}

Operation *CoalesceLoops::merge(Unit &unit, unsigned outer) {
  OpBuilder outside(unit.op), inside(unit.op);
  IRMapping mapping;
  if (isa<ComputeOp>(unit.op)) {
    ComputeOp old = unit.members.front(), result = mergeMember(unit, old, outer, outside, inside, mapping);
    for (auto [from, to] : llvm::zip_equal(old.getResults(), result.getResults()))
      from.replaceAllUsesWith(reshapeTo(outside, old.getLoc(), to, graph::getShape(from)));
    old->erase();
    return result;
  }

  auto old = cast<GroupOp>(unit.op);
  Block scratch;
  inside.setInsertionPointToEnd(&scratch);
  for (ComputeOp member : unit.members)
    mergeMember(unit, member, outer, outside, inside, mapping);
  SmallVector<Value> yielded;
  for (Value value : old.getBody()->getTerminator()->getOperands())
    yielded.push_back(mapping.lookup(value));
  YieldOp::create(inside, old.getLoc(), yielded);
  auto group = GroupOp::create(outside, old.getLoc(), TypeRange(ValueRange(yielded)));
  Block *body = outside.createBlock(&group.getRegion());
  body->getOperations().splice(body->end(), scratch.getOperations());
  outside.setInsertionPointAfter(group);
  for (auto [from, to] : llvm::zip_equal(old.getResults(), group.getResults()))
    from.replaceAllUsesWith(reshapeTo(outside, old.getLoc(), to, graph::getShape(from)));
  old->erase();
  return group;
}

} // namespace
