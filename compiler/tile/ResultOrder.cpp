#include "compiler/tile/ResultOrder.h"

#include "compiler/tile/RewriteLoops.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The map by which a compute reads a tensor without a reshape that only adds or leaves out dimensions of one element;
/// null where there is none.
static AffineMap getMapWithout(graph::ReshapeOp reshape, AffineMap read) {
  ArrayRef<Expr> from = graph::getShape(reshape.getResult()), to = graph::getShape(reshape->getOperand(0));
  SmallVector<AffineExpr> results;
  auto isLeftOut = [&](unsigned dim) {
    auto index = dyn_cast<AffineConstantExpr>(read.getResult(dim));
    return from[dim].isConstant(1) && index && index.getValue() == 0;
  };
  unsigned dim = 0;
  for (Expr size : to) {
    while (dim < from.size() && from[dim] != size && isLeftOut(dim))
      ++dim;
    if (dim < from.size() && from[dim] == size)
      results.push_back(read.getResult(dim++));
    else if (size.isConstant(1))
      results.push_back(getAffineConstantExpr(0, read.getContext()));
    else
      return {};
  }
  for (; dim < from.size(); ++dim)
    if (!isLeftOut(dim))
      return {};
  return AffineMap::get(read.getNumDims(), read.getNumSymbols(), results, read.getContext());
}

/// As isReadByLoops, of a tensor or a reshape of it.
static bool isReadWithout(Value tensor, graph::ReshapeOp reshape) {
  return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
    if (auto barrier = dyn_cast<graph::BarrierOp>(use.getOwner()))
      return !reshape && isReadWithout(barrier.getResult(), {});
    if (auto another = dyn_cast<graph::ReshapeOp>(use.getOwner()))
      return !reshape && isReadWithout(another.getResult(), another);
    auto reader = dyn_cast<ComputeOp>(use.getOwner());
    return reader && use.getOperandNumber() < reader.getInputs().size() &&
           (!reshape || getMapWithout(reshape, reader.getMap(use.getOperandNumber())));
  });
}

bool tile::isReadByLoops(Value tensor) { return isReadWithout(tensor, {}); }

static void readBy(OpOperand &use, Value tensor, AffineMap map) {
  auto reader = cast<ComputeOp>(use.getOwner());
  SmallVector<Attribute> maps(reader.getIndexMaps().getValue());
  maps[use.getOperandNumber()] = AffineMapAttr::get(map);
  reader.setIndexMapsAttr(ArrayAttr::get(map.getContext(), maps));
  use.set(tensor);
}

/// Lets computes read a tensor without reshapes.
static void dropReshapes(Value tensor) {
  for (Operation *user : llvm::make_early_inc_range(tensor.getUsers())) {
    if (auto barrier = dyn_cast<graph::BarrierOp>(user))
      dropReshapes(barrier.getResult());
    auto reshape = dyn_cast<graph::ReshapeOp>(user);
    if (!reshape)
      continue;
    for (OpOperand &use : llvm::make_early_inc_range(reshape->getUses()))
      readBy(use, tensor, getMapWithout(reshape, cast<ComputeOp>(use.getOwner()).getMap(use.getOperandNumber())));
    reshape->erase();
  }
}

/// Lets the readers of a tensor read another one, whose dimensions are those of the first in this order.
static void readInOrder(Value tensor, Value reordered, ArrayRef<unsigned> order) {
  for (OpOperand &use : llvm::make_early_inc_range(tensor.getUses())) {
    if (auto barrier = dyn_cast<graph::BarrierOp>(use.getOwner())) {
      OpBuilder builder(barrier);
      auto another = graph::BarrierOp::create(builder, barrier.getLoc(), reordered);
      readInOrder(barrier.getResult(), another.getResult(), order);
      barrier.erase();
      continue;
    }
    AffineMap read = cast<ComputeOp>(use.getOwner()).getMap(use.getOperandNumber());
    SmallVector<AffineExpr> results = llvm::map_to_vector(order, [&](unsigned dim) { return read.getResult(dim); });
    readBy(use, reordered, AffineMap::get(read.getNumDims(), read.getNumSymbols(), results, read.getContext()));
  }
}

FailureOr<ComputeOp> tile::reorderResult(ComputeOp compute, ArrayRef<unsigned> order) {
  OpBuilder builder(compute);
  FailureOr<ComputeOp> permuted = permuteLoops(builder, compute, order);
  if (failed(permuted))
    return failure();
  dropReshapes(compute->getResult(0));
  readInOrder(compute->getResult(0), permuted->getResult(0), order);
  compute->erase();
  return permuted;
}
