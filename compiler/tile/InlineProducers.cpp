#include "compiler/tile/Passes.h"

#include "compiler/plan/Classify.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/Counters.h"
#include "compiler/tile/FactorSums.h"
#include "compiler/tile/InliningCost.h"
#include "compiler/tile/RewriteLoops.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallBitVector.h"

namespace freestone::tile {
#define GEN_PASS_DEF_INLINEPRODUCERS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using freestone::sym::Expr;

namespace {

class InlineProducers : public tile::impl::InlineProducersBase<InlineProducers> {
public:
  using InlineProducersBase::InlineProducersBase;
  void runOnOperation() override;

private:
  LogicalResult settle();
  bool visit(ComputeOp consumer);
  bool visitAndNote(ComputeOp consumer);
  void noteAround(ArrayRef<Operation *> changed);
  bool inlineInto(ComputeOp consumer, unsigned input);
  bool inlineTables(ComputeOp consumer);
  bool permuteProducer(ComputeOp copy);
  bool permuteSum(ComputeOp copy);
  bool takeProducersShape(ComputeOp consumer);
  bool factorOut(ComputeOp contraction, unsigned input);
  bool dropUnusedLoops(ComputeOp reduction);
  void eraseUnused();

  template <typename Range> void replace(ComputeOp op, Range &&results) {
    op->replaceAllUsesWith(results);
    erase(op);
  }
  void erase(ComputeOp op) {
    erased.push_back(op);
    op->erase();
  }

  sym::Bounds sizes;
  InliningCost cost;
  /// True while copies are inlined into consumers as index maps, before all other inlining.
  bool settlesCopies = false;
  /// The computes that a change may concern, not visited since then; and what the visit of one of them has erased.
  DenseSet<Operation *> pending;
  SmallVector<Operation *, 2> erased;
  int64_t inlined, permuted, factored, factoredSums;
};

/// Whether the memory index of a contraction's operand is linear in the loops of rows, columns and sums. Batch loops
/// count matrices, as in heads that share keys (d1 floordiv 4): their part is computed once for each.
bool isLinearInMatrices(ComputeOp op, unsigned input) {
  std::optional<ContractionDims> dims = getContractionDims(op);
  if (!dims)
    return false;
  SmallVector<Expr> loops;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    loops.push_back(llvm::is_contained(dims->batch, loop)
                        ? Expr::symbol(op.getContext(), "%batch" + std::to_string(loop))
                        : getLoopSymbol(op.getContext(), loop));
  return asLinear(getLinearIndex(op.getInputType(input), getIndices(op, input, loops)), op.getNumLoops()).has_value();
}

/// Whether every memory index stays linear in the loops. Operands with a layout are read panel by panel.
bool isLinear(ComputeOp op, unsigned input) {
  if (!op.getInputType(input).getLayout())
    return getStrides(op, input).has_value() || isLinearInMatrices(op, input);
  return llvm::all_of(getIndices(op, input), [](Expr index) { return index.asSymbol() || index.isConstant(); });
}

bool InlineProducers::inlineInto(ComputeOp consumer, unsigned input) {
  std::optional<ProducedTensor> producer = getProducer(consumer.getInputs()[input]);
  if (!producer || producer->op.getNumReductions() || !cost.isProfitable(consumer, input, *producer, settlesCopies))
    return false;
  if (std::optional<SmallVector<unsigned>> order = getOrder(consumer);
      order && producer->reshapes.empty() && !readsAlongMemory(producer->op, *order))
    return false;
  OpBuilder builder(consumer);
  FailureOr<ComputeOp> result = inlineProducer(builder, consumer, input, *producer, sizes);
  if (failed(result))
    return false;
  // A contraction needs linear indices: others would be computed anew at every element. Packed bytes are loaded as
  // vectors, whose elements are repeated.
  bool mustStayLinear = isSumOfProducts(consumer) || !(isCopy(producer->op) || unpacksBytes(producer->op));
  if (mustStayLinear)
    for (unsigned number = 0; number < result->getInputs().size(); ++number)
      if (!isLinear(*result, number)) {
        result->erase();
        return false;
      }
  replace(consumer, result->getResults());
  ++inlined;
  return true;
}

/// Tables that are themselves read from tables, such as a picture that is padded in one dimension after the other, need
/// no memory.
bool InlineProducers::inlineTables(ComputeOp consumer) {
  for (auto [table, tensor] : llvm::enumerate(consumer.getReads())) {
    auto source = tensor.getDefiningOp<ComputeOp>();
    if (!source || !tensor.hasOneUse() || getBodyCost(source) > costOfStoring)
      continue;
    OpBuilder builder(consumer);
    FailureOr<ComputeOp> result = inlineTable(builder, consumer, table);
    if (failed(result))
      continue;
    replace(consumer, result->getResults());
    ++inlined;
    return true;
  }
  return false;
}

/// A transposition that is a compute's only use becomes the order of that compute's loops, if its reads stay
/// contiguous.
bool InlineProducers::permuteProducer(ComputeOp copy) {
  if (!isCopy(copy))
    return false;
  auto producer = copy.getInputs()[0].getDefiningOp<ComputeOp>();
  if (!producer || !producer->hasOneUse() || producer.getNumResults() != 1)
    return false;
  std::optional<SmallVector<unsigned>> order = getOrder(copy);
  if (!order || !readsAlongMemory(producer, *order))
    return false;
  OpBuilder builder(producer);
  FailureOr<ComputeOp> result = permuteLoops(builder, producer, *order);
  if (failed(result))
    return false;
  replace(copy, result->getResults());
  erase(producer);
  ++permuted;
  return true;
}

/// A transposed contraction, such as a gradient in the order of its weight, is computed in that order. Other
/// contractions may read it untransposed as well.
bool InlineProducers::permuteSum(ComputeOp copy) {
  if (!isCopy(copy))
    return false;
  auto producer = copy.getInputs()[0].getDefiningOp<ComputeOp>();
  bool isReadByLoops = llvm::all_of(copy->getUsers(), [](Operation *user) {
    auto consumer = dyn_cast<ComputeOp>(user);
    return consumer && !isSumOfProducts(consumer) && !isCopy(consumer);
  });
  return producer && isReadByLoops && isSumOfProducts(producer) && permuteProducer(copy);
}

/// A map over a reshaped result takes the shape of the result's producer, so that the two can be fused.
bool InlineProducers::takeProducersShape(ComputeOp consumer) {
  if (!isMap(consumer) || consumer.getNumResults() != 1)
    return false;
  // A map with the shape of one producer keeps it: two producers of different shapes would alternate forever.
  for (unsigned input = 0; input < consumer.getInputs().size(); ++input) {
    std::optional<ProducedTensor> producer = getProducer(consumer.getInputs()[input]);
    if (producer && producer->reshapes.empty() && producer->op.getNumReductions() &&
        isReadAtParallelLoops(consumer, input))
      return false;
  }
  for (unsigned input = 0; input < consumer.getInputs().size(); ++input) {
    std::optional<ProducedTensor> producer = getProducer(consumer.getInputs()[input]);
    if (!producer || producer->reshapes.empty() || !producer->op.getNumReductions() ||
        !isReadAtParallelLoops(consumer, input) || consumer.getFill(input))
      continue;
    if (ArrayRef(consumer.getExtents()) != consumer.getInputType(input).getShape())
      continue;
    SmallVector<Expr> shape(producer->op.getResultType(producer->result).getShape());
    OpBuilder builder(consumer);
    FailureOr<ComputeOp> result = reshapeLoops(builder, consumer, shape, sizes);
    if (failed(result))
      continue;
    Value reshaped = reshapeTo(builder, consumer.getLoc(), result->getResult(0), consumer.getExtents());
    replace(consumer, ValueRange(reshaped));
    return true;
  }
  return false;
}

/// The constant factor of a body that scales its one operand.
TypedAttr getFactor(ComputeOp op) {
  if (!isMap(op) || op.getInputs().size() != 1 || op.getNumResults() != 1 || op.getFill(0))
    return {};
  auto multiply = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
  if (!multiply)
    return {};
  TypedAttr factor;
  Value operand = op.getInputArgs()[0];
  if (multiply.getLhs() == operand && matchPattern(multiply.getRhs(), m_Constant(&factor)))
    return factor;
  if (multiply.getRhs() == operand && matchPattern(multiply.getLhs(), m_Constant(&factor)))
    return factor;
  return {};
}

/// (c * x) · y is c * (x · y): the operand is read unscaled, and each result is scaled once.
bool InlineProducers::factorOut(ComputeOp contraction, unsigned input) {
  if (!isSumOfProducts(contraction) || contraction.getResultType(0).getLayout())
    return false;
  std::optional<ProducedTensor> producer = getProducer(contraction.getInputs()[input]);
  if (!producer)
    return false;
  TypedAttr factor = getFactor(producer->op);
  Type element = contraction.getResultType(0).getElementType();
  if (!factor || factor.getType() != element)
    return false;
  // Replaces the operand by a copy without the factor, which is then inlined like any other.
  OpBuilder builder(producer->op);
  ComputeOp scaled = producer->op;
  ComputeBuilder plain(builder, scaled.getLoc(), scaled.getExtents());
  unsigned operand = plain.read(scaled.getInputs()[0], getIndices(scaled, 0));
  FailureOr<ComputeOp> copy = plain.create(element, [&](ComputeBody &body) { return body.input(operand); });
  if (failed(copy))
    return false;
  builder.setInsertionPoint(contraction);
  Value source = copy->getResult(0);
  for (Operation *reshape : llvm::reverse(producer->reshapes))
    source = graph::ReshapeOp::create(builder, reshape->getLoc(), source, graph::getShape(reshape->getResult(0)));
  builder.setInsertionPointAfter(contraction);
  ComputeBuilder after(builder, scaled.getLoc(), graph::getShape(contraction.getResult(0)));
  unsigned product = after.read(contraction.getResult(0));
  FailureOr<ComputeOp> result = after.create(element, [&](ComputeBody &body) -> Value {
    Value constant = arith::ConstantOp::create(body.builder, factor);
    return arith::MulFOp::create(body.builder, body.input(product), constant);
  });
  contraction.getResult(0).replaceAllUsesExcept(result->getResult(0), *result);
  contraction->setOperand(input, source);
  ++factored;
  return true;
}

/// A reduction that does not depend on a parallel loop is computed once and broadcast by its consumers.
bool InlineProducers::dropUnusedLoops(ComputeOp reduction) {
  if (!reduction.getNumReductions() || !reduction.getReads().empty())
    return false;
  llvm::SmallBitVector used(reduction.getNumLoops());
  used.set(reduction.getNumParallel(), reduction.getNumLoops());
  for (unsigned input = 0; input < reduction.getInputs().size(); ++input)
    for (Expr index : getIndices(reduction, input))
      for (unsigned loop : getLoops(index))
        used.set(loop);
  for (IndexOp index : reduction.getBody()->getOps<IndexOp>())
    used.set(index.getLoop());
  if (used.all())
    return false;

  SmallVector<Expr> old = reduction.getExtents(), loops, kept;
  for (unsigned loop = 0; loop < old.size(); ++loop) {
    loops.push_back(used[loop] ? getLoopSymbol(&getContext(), kept.size()) : Expr::constant(&getContext(), 0));
    if (used[loop])
      kept.push_back(old[loop]);
  }
  unsigned numParallel = kept.size() - reduction.getNumReductions();
  OpBuilder builder(reduction);
  ComputeBuilder smaller(builder, reduction.getLoc(), ArrayRef(kept).take_front(numParallel),
                         ArrayRef(kept).drop_front(numParallel));
  SmallVector<unsigned> inputs;
  for (auto [input, tensor] : llvm::enumerate(reduction.getInputs()))
    inputs.push_back(smaller.read(tensor, getIndices(reduction, input, loops), reduction.getFill(input)));
  FailureOr<ComputeOp> once = createWithBody(smaller, reduction, inputs, {}, loops);
  if (failed(once))
    return false;
  SmallVector<Value> repeated;
  for (Value result : once->getResults()) {
    ComputeBuilder copy(builder, reduction.getLoc(), ArrayRef(old).take_front(reduction.getNumParallel()));
    SmallVector<Expr> indices;
    for (unsigned loop = 0; loop < reduction.getNumParallel(); ++loop)
      if (used[loop])
        indices.push_back(copy.loop(loop));
    unsigned operand = copy.read(result, indices);
    repeated.push_back(
        copy.create(graph::getElementType(result), [&](ComputeBody &body) { return body.input(operand); })
            ->getResult(0));
  }
  replace(reduction, repeated);
  return true;
}

bool InlineProducers::visit(ComputeOp consumer) {
  erased.clear();
  if (dropUnusedLoops(consumer))
    return true;
  if (settlesCopies ? permuteProducer(consumer) : permuteSum(consumer))
    return true;
  for (unsigned input = 0; input < consumer.getInputs().size(); ++input)
    if (inlineInto(consumer, input))
      return true;
  if (inlineTables(consumer))
    return true;
  OpBuilder builder(consumer);
  FailureOr<Value> scaled = failure();
  if (factorSums)
    scaled = factorSum(builder, consumer);
  if (succeeded(scaled)) {
    replace(consumer, ValueRange(*scaled));
    ++factoredSums;
    return true;
  }
  for (unsigned input = 0; input < consumer.getInputs().size(); ++input)
    if (factorOut(consumer, input))
      return true;
  return takeProducersShape(consumer);
}

void InlineProducers::eraseUnused() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(getOperation().getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Notes the computes around changed operations. Whether a compute is rewritten depends on what it reads, on what that
/// reads, and on other readers of both; of those of a value that very many read, the last round finds what is left.
void InlineProducers::noteAround(ArrayRef<Operation *> changed) {
  constexpr int64_t farthest = 3, mostReaders = 32;
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<std::pair<Operation *, int64_t>> reached;
  auto reach = [&](Operation *op, int64_t distance) {
    if (op && !op->hasTrait<OpTrait::IsTerminator>() && distance <= farthest && seen.insert(op).second)
      reached.push_back({op, distance});
  };
  for (Operation *op : changed)
    reach(op, 0);
  for (size_t next = 0; next < reached.size(); ++next) {
    auto [op, distance] = reached[next];
    if (isa<ComputeOp>(op))
      pending.insert(op);
    int64_t beyond = distance + isa<ComputeOp>(op);
    for (Value operand : op->getOperands())
      reach(operand.getDefiningOp(), beyond);
    for (Value result : op->getResults())
      if (!result.hasNUsesOrMore(mostReaders))
        for (Operation *user : result.getUsers())
          reach(user, beyond);
  }
}

/// Visits a compute; where it is rewritten, notes the computes that this may concern.
bool InlineProducers::visitAndNote(ComputeOp consumer) {
  SmallVector<Operation *> around = {consumer};
  for (Value operand : consumer->getOperands())
    around.push_back(operand.getDefiningOp());
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : consumer->getUses())
    uses.push_back(&use);
  if (!visit(consumer))
    return false;
  llvm::erase_if(around, [&](Operation *op) { return llvm::is_contained(erased, op); });
  for (OpOperand *use : uses)
    around.push_back(use->get().getDefiningOp());
  noteAround(around);
  return true;
}

/// Visits all computes until a fixed point.
LogicalResult InlineProducers::settle() {
  auto getComputes = [&] { return getOperation().getBody().front().getOps<ComputeOp>(); };
  // Producers come first, so that chains are short when they reach a consumer: few rounds suffice. Every round moves a
  // producer past at least one compute, and through at most all of its forms.
  constexpr int64_t forms = 16;
  int64_t rounds = forms * (1 + std::distance(getComputes().begin(), getComputes().end()));
  pending.clear();
  // Once few computes are rewritten, rounds visit what these changes may concern; the last one visits all again.
  for (bool visitsAll = true, notes = false;; --rounds) {
    if (rounds == 0)
      return failure();
    int64_t visited = 0, changed = 0;
    eraseUnused();
    for (auto op : llvm::make_early_inc_range(getComputes()))
      if (pending.erase(op) || visitsAll) {
        ++visited;
        changed += notes ? visitAndNote(op) : visit(op);
      }
    if (!changed && visitsAll)
      return success();
    visitsAll = !notes || !changed;
    notes |= changed <= visited / 4;
  }
}

void InlineProducers::runOnOperation() {
  if (!enable)
    return;
  sizes = getSizeBounds(getOperation());
  cost = InliningCost(getOperation(), pools);
  inlined = permuted = factored = factoredSums = 0;
  for (bool settles : {false, true}) {
    settlesCopies = settles;
    if (failed(settle())) {
      getOperation().emitError("internal error: putting computes into their consumers comes to no end");
      return signalPassFailure();
    }
  }
  eraseUnused();
  count(getOperation(), "inlined", inlined);
  count(getOperation(), "permuted", permuted);
  count(getOperation(), "factored", factored);
  count(getOperation(), "factored_sums", factoredSums);
}

} // namespace
