#include "compiler/tile/InliningCost.h"

#include "compiler/plan/Classify.h"
#include "compiler/plan/ColumnSegments.h"
#include "compiler/plan/ConvolutionForm.h"
#include "compiler/tile/TileMap.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using freestone::sym::Expr;

bool tile::isSumOfProducts(ComputeOp op) { return getContractionDims(op).has_value(); }

/// A cheap map of tensors that other computes read as well: recomputing it for its one consumer is cheaper than storing
/// it beside them.
static bool isCheapViewOfKept(ComputeOp op) {
  if (op.getInputs().empty() || !op.getReads().empty() || !op->hasOneUse() || op.getNumResults() != 1)
    return false;
  return llvm::none_of(op.getInputs(), [](Value input) { return input.hasOneUse(); }) && getBodyCost(op) <= cheapBody;
}

/// A map over the result of a contraction: an epilogue, computed before the elements leave the registers.
static bool isEpilogue(ComputeOp op) {
  for (unsigned input = 0; input < op.getInputs().size(); ++input) {
    std::optional<ProducedTensor> producer = getProducer(op.getInputs()[input]);
    if (producer && isSumOfProducts(producer->op) && isReadAtParallelLoops(op, input))
      return true;
  }
  return false;
}

/// A map of a convolution's result whose only consumer pools it: inlined into the pooling, it can be fused with the
/// convolution.
static bool isPooled(ComputeOp op, ComputeOp consumer) {
  if (!op->hasOneUse() || !consumer.getNumReductions())
    return false;
  for (unsigned input = 0; input < op.getInputs().size(); ++input) {
    auto producer = op.getInputs()[input].getDefiningOp<ComputeOp>();
    if (!producer || !producer->hasOneUse())
      continue;
    std::optional<ConvolutionForm> form = ConvolutionForm::get(producer);
    if (form && form->getPooling(consumer, op.getResult(0)))
      return llvm::all_of(llvm::seq<unsigned>(op.getInputs().size()),
                          [&](unsigned other) { return other == input || form->readsByChannel(op, other); });
  }
  return false;
}

/// Whether a tensor is in memory for others than its one user: a value of the forward pass that is kept for the
/// backward pass.
static bool isKept(Value tensor) { return isa_and_nonnull<graph::BarrierOp>(getReshapeSource(tensor).getDefiningOp()); }

/// A map of one tensor that is in memory in any case, and of much smaller tensors. Every consumer reads that tensor
/// instead, and the result is never stored; but contractions need it in memory. A map that costs more than a load is
/// recomputed only if it would have to wait in memory otherwise: an epilogue read by maps elsewhere, such as a
/// derivative for the backward pass. The exponentials of a softmax stay in cache until their row is done.
static bool isViewOfOneTensor(ComputeOp op, const TypicalSizes &sizes) {
  int64_t cost = getBodyCost(op);
  if (!isMap(op) || op.getNumResults() != 1 || cost > costOfStoring)
    return false;
  constexpr int64_t muchSmaller = 8;
  int64_t bytes = sizes.getBytes(op.getResultType(0));
  Value large;
  for (auto [input, tensor] : llvm::enumerate(op.getInputs())) {
    if (sizes.getBytes(op.getInputType(input)) * muchSmaller <= bytes)
      continue;
    if (large || (tensor.hasOneUse() && !isKept(tensor)) || !op.getMap(input).isPermutation() || op.getFill(input))
      return false;
    large = tensor;
  }
  std::optional<ProducedTensor> source = large ? getProducer(large) : std::nullopt;
  if (!large || (cost > cheapBody && !(source && isEpilogue(source->op))))
    return false;
  return llvm::all_of(op->getUses(), [&](OpOperand &use) {
    auto consumer = dyn_cast<ComputeOp>(use.getOwner());
    unsigned input = use.getOperandNumber();
    return consumer && input < consumer.getInputs().size() && !consumer.getFill(input) && !isSumOfProducts(consumer) &&
           (cost <= cheapBody || !consumer.getNumReductions());
  });
}

bool tile::unpacksBytes(ComputeOp op) {
  auto view = op.getInputs().size() == 1 ? op.getInputs()[0].getDefiningOp<ViewOp>() : ViewOp();
  return view && isa_and_nonnull<graph::PackedAttr>(cast<graph::TensorType>(view.getTensor().getType()).getLayout());
}

/// Whether the producer's only use is this input.
static bool isReadOnce(ComputeOp consumer, unsigned input, const ProducedTensor &producer) {
  ComputeOp source = producer.op;
  return llvm::hasSingleElement(source->getUses()) && source.getNumResults() == 1 &&
         llvm::all_of(producer.reshapes, [](Operation *reshape) { return reshape->hasOneUse(); }) &&
         llvm::count(consumer.getInputs(), consumer.getInputs()[input]) == 1;
}

/// Whether a transposition leaves the innermost dimension in place, along which memory is read.
static bool keepsInnermost(ComputeOp copy) {
  std::optional<SmallVector<unsigned>> order = getOrder(copy);
  return order && order->back() + 1 == order->size();
}

/// Whether a copy goes along memory as what it reads does, such as a slice.
static bool copiesRuns(ComputeOp op) {
  return isCopy(op) && op.getNumLoops() && !op.getInputType(0).getShape().empty() &&
         getIndices(op, 0).back() == getLoopSymbol(op.getContext(), op.getNumLoops() - 1);
}

/// Whether neighbours in what a copy makes are far from each other in what it reads, as in a transposition, also of a
/// reshaped tensor.
static bool exchangesInnermost(ComputeOp copy) {
  constexpr int64_t near = 8;
  std::optional<LinearIndex> linear = copy.getNumLoops() ? getStrides(copy, 0) : std::nullopt;
  return linear && std::abs(linear->strides.back().asConstant().value_or(near + 1)) > near;
}

/// Whether a sum of products without rows or without columns, such as that of a depthwise convolution or of its
/// weight's gradient, reads elements of an operand several times. Nothing packs them.
static bool readsAgainUnpacked(ComputeOp sum, unsigned input) {
  std::optional<ContractionDims> dims = getContractionDims(sum);
  if (!dims || (!dims->m.empty() && !dims->n.empty()))
    return false;
  llvm::SmallBitVector moves(sum.getNumLoops());
  for (Expr index : getIndices(sum, input)) {
    SmallVector<unsigned> loops = getLoops(index);
    if (loops.size() > 1)
      return true;
    for (unsigned loop : loops)
      moves.set(loop);
  }
  return llvm::any_of(llvm::enumerate(sum.getExtents()),
                      [&](auto loop) { return !moves[loop.index()] && !loop.value().isConstant(1); });
}

/// Whether windows that overlap read the operand of a product: each of their taps would pack its elements anew, instead
/// of reading them from a picture whose rows are contiguous.
static bool readsOverlappingWindows(ComputeOp product, unsigned input) {
  std::optional<ContractionDims> dims = getContractionDims(product);
  if (!dims || dims->m.empty() || dims->n.empty())
    return false;
  constexpr int64_t longExtent = 1 << 20;
  SmallVector<Expr> extents = product.getExtents();
  return llvm::any_of(getIndices(product, input), [&](Expr index) {
    std::optional<LinearIndex> linear = asLinear(index, product.getNumLoops());
    if (!linear)
      return false;
    // Nothing overlaps where each loop's steps reach beyond all of the smaller ones.
    SmallVector<std::pair<int64_t, int64_t>> steps;
    for (auto [stride, extent] : llvm::zip_equal(linear->strides, extents))
      if (int64_t step = stride.asConstant().value_or(0))
        steps.push_back({std::abs(step), extent.asConstant().value_or(longExtent)});
    llvm::sort(steps);
    int64_t reach = 0;
    return llvm::any_of(steps, [&](auto step) {
      bool overlaps = step.first <= reach;
      reach += step.first * (step.second - 1);
      return overlaps;
    });
  });
}

/// A map that makes a piece of its one reader's rows, such as an operand of Concat. Each segment of these rows has code
/// of its own, which computes its piece alone, out of bounds too where vectors pass them. A map over the result of a
/// reduction stays beside that.
static bool makesPieceOfRows(ComputeOp op, ComputeOp consumer, unsigned input) {
  constexpr int64_t shortRow = 32;
  if (!isMap(op) || !isMap(consumer) || op.getInputs().empty() || !op.getReads().empty() ||
      consumer.getExtents().back().asConstant().value_or(shortRow) < shortRow || !isPieceOfRows(consumer, input))
    return false;
  for (unsigned operand = 0; operand < op.getInputs().size(); ++operand)
    if (std::optional<ProducedTensor> producer = getProducer(op.getInputs()[operand]);
        producer && producer->op.getNumReductions())
      return false;
  return llvm::all_of(*op.getBody(), [](Operation &inner) { return isSpeculatable(&inner); }) &&
         hasShortSegments(consumer, getBodyCost(op));
}

bool InliningCost::isProfitable(ComputeOp consumer, unsigned input, const ProducedTensor &producer,
                                bool settlesCopies) const {
  ComputeOp source = producer.op;
  // Pictures with padding, of which images and channels were exchanged, as for the gradient of a convolution's weight,
  // or which are slices.
  if (consumer.getFill(input))
    return keepsInnermost(source) || (isMap(consumer) && copiesRuns(source)) ||
           (isReadOnce(consumer, input, producer) && makesPieceOfRows(source, consumer, input));
  if (!source.getReads().empty() && (consumer.getNumReductions() || !source->hasOneUse()))
    return false;
  if (isCopy(source))
    return !exchangesInnermost(source) ||
           !(readsAgainUnpacked(consumer, input) || readsOverlappingWindows(consumer, input));
  if (isSumOfProducts(consumer) || (isCopy(consumer) && !settlesCopies))
    return false;
  if (isViewOfOneTensor(source, sizes) && llvm::count(consumer.getInputs(), consumer.getInputs()[input]) == 1)
    return !isWeightOnly(source);
  if (pools && isPooled(source, consumer))
    return true;
  if (isEpilogue(source) && (consumer.getNumReductions() || !isReadAtParallelLoops(consumer, input)))
    return consumer.getNumReductions() && isCheapViewOfKept(source);
  // Values that are computed once for all runs are not recomputed at every point.
  if (isWeightOnly(source) && !isWeightOnly(consumer))
    return getBodyCost(source) == 0;
  // Computed from loop positions and sizes alone, such as a mask: cheaper than a load.
  if (source.getInputs().empty() && source.getReads().empty())
    return getBodyCost(source) <= cheapBody;
  if (!isReadOnce(consumer, input, producer))
    return false;
  // Either no element is computed twice, or recomputation is cheap.
  Expr points = getNumPoints(consumer.getExtents(), consumer.getContext());
  bool once = points == getNumPoints(source.getExtents(), consumer.getContext());
  return once || getBodyCost(source) <= cheapBody;
}
