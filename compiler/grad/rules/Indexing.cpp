// Gathering and scattering: each is the other's gradient.
#include "compiler/grad/Rule.h"

using namespace mlir;

namespace freestone::grad {

namespace {

/// `indices` [batch…, …, n] with the coordinates along the first `batch` dimensions put before its own.
Tensor prependCoordinates(Tensor indices, int64_t batch) {
  SmallVector<Tensor> parts;
  Shape shape(indices.shape());
  shape.back() = indices.builder().size(1);
  for (int64_t dim = 0; dim < batch; ++dim)
    parts.push_back(iota(indices.builder(), shape, dim, indices.elementType()));
  parts.push_back(indices);
  return parts.size() == 1 ? indices : concat(parts, indices.rank() - 1);
}

/// The gradients of equal indices are summed.
LogicalResult differentiateGather(graph::GatherOp op, Backward &backward) {
  Tensor x = backward.operand(0), indices = backward.operand(1), g = backward.gradient();
  int64_t axis = op.getAxis(), batch = op.getBatchDims(), chosen = indices.rank() - batch;
  // With the axis right behind the batch dimensions, indices become vectors [batch…, axis], and the rest are slices.
  SmallVector<int64_t> operandOrder = llvm::to_vector(llvm::seq<int64_t>(x.rank()));
  operandOrder.erase(operandOrder.begin() + axis);
  operandOrder.insert(operandOrder.begin() + batch, axis);
  SmallVector<int64_t> resultOrder = llvm::to_vector(llvm::seq<int64_t>(batch));
  llvm::append_range(resultOrder, llvm::seq<int64_t>(axis, axis + chosen));
  llvm::append_range(resultOrder, llvm::seq<int64_t>(batch, axis));
  llvm::append_range(resultOrder, llvm::seq<int64_t>(axis + chosen, g.rank()));

  Shape vectors(indices.shape());
  vectors.push_back(x.builder().size(1));
  Shape moved = llvm::map_to_vector<4>(operandOrder, [&](int64_t dim) { return x.dim(dim); });
  Tensor zeros = backward.builder.splat(0, x.type().withShape(moved));
  Tensor total = scatterNd(zeros, prependCoordinates(reshape(indices, vectors), batch), transpose(g, resultOrder),
                           ScatterKind::add);
  backward.add(0u, transpose(total, invert(operandOrder)));
  return success();
}

LogicalResult differentiateGatherElements(graph::GatherElementsOp op, Backward &backward) {
  Tensor x = backward.operand(0), indices = backward.operand(1);
  backward.add(0u, scatterElements(splatLike(0, x), indices, backward.gradient(), op.getAxis(), ScatterKind::add));
  return success();
}

LogicalResult differentiateGatherNd(graph::GatherNdOp op, Backward &backward) {
  Tensor indices = prependCoordinates(backward.operand(1), op.getBatchDims());
  backward.add(0u, scatterNd(splatLike(0, backward.operand(0)), indices, backward.gradient(), ScatterKind::add));
  return success();
}

/// The gradients of a scatter. `scatter(data, updates, kind)` and `gather(data)` are those of its indices.
LogicalResult differentiateScatter(ScatterKind kind, Backward &backward,
                                   llvm::function_ref<Tensor(Tensor, Tensor, ScatterKind)> scatter,
                                   llvm::function_ref<Tensor(Tensor)> gather) {
  Tensor g = backward.gradient(), x = backward.operand(0), updates = backward.operand(2);
  switch (kind) {
  case ScatterKind::none:
    if (backward.wants(0u))
      backward.add(0u, scatter(g, splatLike(0, updates), ScatterKind::none));
    if (backward.wants(2u))
      backward.add(2u, gather(g));
    return success();
  case ScatterKind::add:
    backward.add(0u, g);
    if (backward.wants(2u))
      backward.add(2u, gather(g));
    return success();
  case ScatterKind::max:
  case ScatterKind::min: {
    // Ties share the gradient, as in PyTorch's scatter_reduce.
    Tensor result = backward.result();
    Tensor isKept = equal(x, result), isChosen = equal(updates, gather(result));
    Tensor share = g / scatter(cast(isKept, g.elementType()), cast(isChosen, g.elementType()), ScatterKind::add);
    backward.add(0u, select(isKept, share, 0.0));
    if (backward.wants(2u))
      backward.add(2u, select(isChosen, gather(share), 0.0));
    return success();
  }
  default:
    return backward.refuse("scatters by '" + graph::stringifyScatterKind(kind) +
                           "', which has no gradient here; 'none', 'add', 'max' and 'min' have one");
  }
}

LogicalResult differentiateScatterElements(graph::ScatterElementsOp op, Backward &backward) {
  Tensor indices = backward.operand(1);
  int64_t axis = op.getAxis();
  return differentiateScatter(
      op.getKind(), backward,
      [&](Tensor data, Tensor updates, ScatterKind kind) {
        return scatterElements(data, indices, updates, axis, kind);
      },
      [&](Tensor data) { return gatherElements(data, indices, axis); });
}

LogicalResult differentiateScatterNd(graph::ScatterNdOp op, Backward &backward) {
  Tensor indices = backward.operand(1);
  return differentiateScatter(
      op.getKind(), backward,
      [&](Tensor data, Tensor updates, ScatterKind kind) { return scatterNd(data, indices, updates, kind); },
      [&](Tensor data) { return gatherNd(data, indices); });
}

} // namespace

void addIndexingRules(RuleTable &table) {
  table.add<graph::GatherOp, differentiateGather>();
  table.add<graph::GatherElementsOp, differentiateGatherElements>();
  table.add<graph::GatherNdOp, differentiateGatherNd>();
  table.add<graph::ScatterElementsOp, differentiateScatterElements>();
  table.add<graph::ScatterNdOp, differentiateScatterNd>();
}

} // namespace freestone::grad
