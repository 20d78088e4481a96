#include "compiler/tile/RowOrder.h"

#include "compiler/plan/Classify.h"
#include "compiler/tile/ResultOrder.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The tensor that a barrier hides.
static Value getHidden(Value tensor) {
  while (auto barrier = tensor.getDefiningOp<graph::BarrierOp>())
    tensor = barrier.getOperand();
  return tensor;
}

/// The reductions whose results a tensor is made of, element by element.
static void findReductions(Value tensor, SmallVectorImpl<ComputeOp> &found) {
  SmallVector<Value> open = {tensor};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    auto compute = getHidden(open.pop_back_val()).getDefiningOp<ComputeOp>();
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
    auto input = llvm::find_if(reader.getInputs(), [&](Value read) { return getHidden(read) == getHidden(tensor); });
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
    if (cast<graph::TensorType>(scalars.getType()).getRank() < int64_t(map.getNumParallel()))
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

/// Whether a map goes along the rows of a reduction of the same pass, forward or backward, as it stands.
static bool goesAlongRows(ComputeOp map) {
  for (auto [input, scalars] : llvm::enumerate(map.getInputs())) {
    auto reduction = scalars.getDefiningOp<ComputeOp>();
    // What follows from the sums of a row is computed row by row.
    for (; reduction && isMap(reduction) && !reduction.getInputs().empty() &&
           reduction.getNumParallel() < map.getNumParallel() && isReadAtParallelLoops(reduction, 0);
         reduction = reduction.getInputs()[0].getDefiningOp<ComputeOp>()) {
    }
    if (!reduction || !reduction.getNumReductions())
      continue;
    for (Value tensor : map.getInputs())
      if (std::optional<SmallVector<unsigned>> order = getOrderOf(reduction, map, tensor);
          order && llvm::is_sorted(*order) && isReadAtFirst(map, input, *order, reduction.getNumParallel()))
        return true;
  }
  return false;
}

/// The order in which a map that computes elements again reads those that are kept; nothing where it reads others in
/// another order.
static std::optional<SmallVector<unsigned>> findKeptOrder(ComputeOp map) {
  std::optional<SmallVector<unsigned>> kept;
  bool isKept = false;
  for (auto [input, tensor] : llvm::enumerate(map.getInputs())) {
    if (!map.getMap(input).isPermutation())
      continue;
    SmallVector<unsigned> order = llvm::map_to_vector(
        map.getMap(input).getResults(), [](AffineExpr loop) { return cast<AffineDimExpr>(loop).getPosition(); });
    if (map.getFill(input) || (kept && kept != order))
      return std::nullopt;
    kept = order;
    isKept |= bool(tensor.getDefiningOp<graph::BarrierOp>());
  }
  return isKept && !llvm::is_sorted(*kept) ? kept : std::nullopt;
}

int64_t tile::orderMapsByRows(func::FuncOp function, const RowLengths &lengths) {
  int64_t ordered = 0;
  for (auto map : llvm::make_early_inc_range(function.getBody().front().getOps<ComputeOp>())) {
    if (!isMap(map) || map.getNumResults() != 1 || map.getResultType(0).getLayout() ||
        !isReadByLoops(map->getResult(0)))
      continue;
    std::optional<SmallVector<unsigned>> order = findOrder(map, lengths);
    if (!order && !goesAlongRows(map))
      order = findKeptOrder(map);
    ordered += order && succeeded(reorderResult(map, *order));
  }
  return ordered;
}
