#include "compiler/tile/RowOrder.h"

#include "compiler/plan/Classify.h"
#include "compiler/tile/RewriteLoops.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The reductions whose results a tensor is made of, element by element.
static void findReductions(Value tensor, SmallVectorImpl<ComputeOp> &found) {
  SmallVector<Value> open = {tensor};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    auto compute = open.pop_back_val().getDefiningOp<ComputeOp>();
    if (!compute || !seen.insert(compute).second)
      continue;
    if (compute.getNumReductions()) {
      found.push_back(compute);
      continue;
    }
    for (unsigned input = 0; input < compute.getInputs().size(); ++input)
      if (isReadAtParallelLoops(compute, input))
        open.push_back(compute.getInputs()[input]);
  }
}

/// The order of a map's loops in which it reads a tensor as the reduction does; nothing where one of them does not read
/// it at all loops, one each.
static std::optional<SmallVector<unsigned>> getOrderOf(ComputeOp reduction, ComputeOp map, Value tensor) {
  auto find = [&](ComputeOp reader) {
    auto input = llvm::find(reader.getInputs(), tensor);
    unsigned number = input - reader.getInputs().begin();
    bool isRead = input != reader.getInputs().end() && !reader.getFill(number);
    return isRead && reader.getMap(number).isPermutation() ? reader.getMap(number) : AffineMap();
  };
  AffineMap ofReduction = find(reduction), ofMap = find(map);
  if (!ofReduction || !ofMap || ofReduction.getNumDims() != ofMap.getNumDims())
    return std::nullopt;
  SmallVector<unsigned> order(ofMap.getNumDims());
  for (auto [from, to] : llvm::zip_equal(ofReduction.getResults(), ofMap.getResults()))
    order[cast<AffineDimExpr>(from).getPosition()] = cast<AffineDimExpr>(to).getPosition();
  return order;
}

/// Whether `tensor` is read at the first of these loops alone.
static bool isReadAtFirst(ComputeOp map, unsigned input, ArrayRef<unsigned> order, unsigned rowLoops) {
  AffineMap read = map.getMap(input);
  return read.getNumResults() == rowLoops && llvm::all_of(llvm::enumerate(read.getResults()), [&](auto result) {
           auto loop = dyn_cast<AffineDimExpr>(result.value());
           return loop && loop.getPosition() == order[result.index()];
         });
}

/// Whether a map follows on elements that nothing else reads, other than those of `tensor`: as an epilogue, or in one
/// map with what makes them, it saves more.
static bool followsOnElements(ComputeOp map, Value tensor) {
  return llvm::any_of(llvm::enumerate(map.getInputs()), [&](auto input) {
    auto producer = input.value().template getDefiningOp<ComputeOp>();
    return producer && input.value() != tensor && input.value().hasOneUse() &&
           producer.getNumParallel() == map.getNumParallel() && isReadAtParallelLoops(map, input.index());
  });
}

/// The order in which a map's loops are those of a reduction over the rows that it reads.
static std::optional<SmallVector<unsigned>> findOrder(ComputeOp map, const RowLengths &lengths) {
  for (auto [input, scalars] : llvm::enumerate(map.getInputs())) {
    SmallVector<ComputeOp> reductions;
    if (cast<graph::TensorType>(scalars.getType()).getRank() < map.getNumParallel())
      findReductions(scalars, reductions);
    for (ComputeOp reduction : reductions) {
      unsigned rowLoops = reduction.getNumParallel();
      for (Value tensor : map.getInputs()) {
        std::optional<SmallVector<unsigned>> order = getOrderOf(reduction, map, tensor);
        bool isInner = order && rowLoops > 0 && order->back() + 1 == order->size();
        if (isInner && !llvm::is_sorted(*order) && isReadAtFirst(map, input, *order, rowLoops) &&
            !followsOnElements(map, tensor) && lengths.fitReduced(reduction) != RowLengths::Fit::never)
          return order;
      }
    }
  }
  return std::nullopt;
}

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

/// Whether only computes read a tensor, at places of the loops, if need be without a reshape: they can read it in any
/// order.
static bool isReadByLoops(Value tensor, graph::ReshapeOp reshape = {}) {
  return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
    if (auto another = dyn_cast<graph::ReshapeOp>(use.getOwner()))
      return !reshape && isReadByLoops(another.getResult(), another);
    auto reader = dyn_cast<ComputeOp>(use.getOwner());
    return reader && use.getOperandNumber() < reader.getInputs().size() &&
           (!reshape || getMapWithout(reshape, reader.getMap(use.getOperandNumber())));
  });
}

static void readBy(OpOperand &use, Value tensor, AffineMap map) {
  auto reader = cast<ComputeOp>(use.getOwner());
  SmallVector<Attribute> maps(reader.getIndexMaps().getValue());
  maps[use.getOperandNumber()] = AffineMapAttr::get(map);
  reader.setIndexMapsAttr(ArrayAttr::get(map.getContext(), maps));
  use.set(tensor);
}

/// Lets computes read a map's result without reshapes.
static void dropReshapes(ComputeOp map) {
  for (Operation *user : llvm::make_early_inc_range(map->getUsers()))
    if (auto reshape = dyn_cast<graph::ReshapeOp>(user)) {
      for (OpOperand &use : llvm::make_early_inc_range(reshape->getUses()))
        readBy(use, map->getResult(0),
               getMapWithout(reshape, cast<ComputeOp>(use.getOwner()).getMap(use.getOperandNumber())));
      reshape->erase();
    }
}

static LogicalResult reorder(ComputeOp map, ArrayRef<unsigned> order) {
  OpBuilder builder(map);
  FailureOr<ComputeOp> permuted = permuteLoops(builder, map, order);
  if (failed(permuted))
    return failure();
  dropReshapes(map);
  for (OpOperand &use : llvm::make_early_inc_range(map->getUses())) {
    AffineMap read = cast<ComputeOp>(use.getOwner()).getMap(use.getOperandNumber());
    SmallVector<AffineExpr> results = llvm::map_to_vector(order, [&](unsigned dim) { return read.getResult(dim); });
    readBy(use, permuted->getResult(0),
           AffineMap::get(read.getNumDims(), read.getNumSymbols(), results, builder.getContext()));
  }
  map->erase();
  return success();
}

int64_t tile::orderMapsByRows(func::FuncOp function, const RowLengths &lengths) {
  int64_t ordered = 0;
  for (auto map : llvm::make_early_inc_range(function.getBody().front().getOps<ComputeOp>())) {
    if (!isMap(map) || map.getNumResults() != 1 || map.getResultType(0).getLayout() ||
        !isReadByLoops(map->getResult(0)))
      continue;
    std::optional<SmallVector<unsigned>> order = findOrder(map, lengths);
    ordered += order && succeeded(reorder(map, *order));
  }
  return ordered;
}
