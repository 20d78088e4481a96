#include "compiler/tile/PartialReductions.h"

#include "compiler/plan/Combiner.h"
#include "compiler/tile/RewriteLoops.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

static SmallVector<Type> getElementTypes(ComputeOp op) {
  return llvm::map_to_vector(op.getResultTypes(),
                             [](Type type) { return cast<graph::TensorType>(type).getElementType(); });
}

static SmallVector<TypedAttr> getInits(ComputeOp op) {
  return llvm::map_to_vector(op.getInitValues(), llvm::CastTo<TypedAttr>);
}

/// The neutral elements of the reduction; a selection's initial value never wins.
static SmallVector<TypedAttr> getNeutral(ComputeOp op) {
  std::optional<SmallVector<Combiner>> combiners = getCombiners(op);
  if (!combiners)
    return getInits(op);
  return llvm::map_to_vector(*combiners, [](const Combiner &combiner) { return combiner.neutral; });
}

/// Clones a value of a body with the operands that the mapping lacks.
static Value cloneValue(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *source = value.getDefiningOp();
  for (Value operand : source->getOperands())
    cloneValue(builder, operand, mapping);
  builder.clone(*source, mapping);
  return mapping.lookup(value);
}

/// Combines accumulators with partial results: these take the place of a point's values.
static SmallVector<Value> combine(OpBuilder &builder, ComputeOp op, ValueRange accumulators, ValueRange values) {
  std::optional<SmallVector<Combiner>> combiners = getCombiners(op);
  std::optional<Selection> selection = combiners ? std::nullopt : getSelection(op);
  SmallVector<Value> combined;
  IRMapping common;
  for (unsigned result = 0; result < op.getNumResults(); ++result) {
    common.map(op.getAccumulators()[result], accumulators[result]);
    if (selection)
      common.map(selection->values[result], values[result]);
  }
  for (unsigned result = 0; result < op.getNumResults(); ++result) {
    IRMapping own = common;
    if (combiners)
      own.map((*combiners)[result].value, values[result]);
    combined.push_back(
        cloneValue(builder, op.getBody()->getTerminator()->getOperand(result), selection ? common : own));
  }
  return combined;
}

/// Gives results the layouts of those of `op`.
static FailureOr<ComputeOp> withLayoutsOf(FailureOr<ComputeOp> copy, ComputeOp op) {
  if (succeeded(copy))
    for (auto [to, from] : llvm::zip_equal(copy->getResults(), op.getResults()))
      to.setType(from.getType());
  return copy;
}

/// The tensor in another shape; reuses an earlier reshape of it.
static Value reshapeOnce(OpBuilder &builder, Location location, Value tensor, ArrayRef<Expr> shape) {
  for (Operation *user : getReshapeSource(tensor).getUsers())
    if (isa<graph::ReshapeOp>(user) && graph::getShape(user->getResult(0)) == shape &&
        user->getBlock() == builder.getBlock() && user->isBeforeInBlock(&*builder.getInsertionPoint()))
      return user->getResult(0);
  return reshapeTo(builder, location, tensor, shape);
}

/// Reads an operand at the loops of `op`, of which the loop over the parts and the steps of a part are the first and
/// `parts.loop + 1`. A dimension that consists of whole parts is split in two.
unsigned PartialReductions::readPart(ComputeBuilder &computes, OpBuilder &builder, unsigned input,
                                     ArrayRef<Expr> loops) {
  Value tensor = op.getInputs()[input];
  graph::TensorType type = op.getInputType(input);
  Expr loop = computes.loop(parts.loop), extent = op.getExtents()[parts.loop];
  SmallVector<Expr> shape, indices;
  bool reshapes = !hasRest() && !type.getLayout() && !op.getFill(input);
  for (auto [index, at, size] : llvm::zip_equal(getIndices(op, input), getIndices(op, input, loops), type.getShape())) {
    if (reshapes && index == loop && size == extent) {
      shape.append({parts.parts, parts.length});
      indices.append({computes.loop(0), computes.loop(parts.loop + 1)});
    } else {
      shape.push_back(size);
      indices.push_back(at);
    }
  }
  if (reshapes)
    tensor = reshapeOnce(builder, op.getLoc(), tensor, shape);
  return computes.read(tensor, indices, op.getFill(input));
}

FailureOr<ComputeOp> PartialReductions::makePartials(OpBuilder &builder) {
  SmallVector<Expr> extents = op.getExtents(), loops;
  extents[parts.loop] = parts.length;
  extents.insert(extents.begin(), parts.parts);
  unsigned parallel = op.getNumParallel() + 1;
  ComputeBuilder computes(builder, op.getLoc(), ArrayRef(extents).take_front(parallel),
                          ArrayRef(extents).drop_front(parallel));
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    loops.push_back(computes.loop(loop + 1));
  loops[parts.loop] = computes.loop(0) * parts.length + loops[parts.loop];
  SmallVector<unsigned> inputs;
  for (unsigned input = 0; input < op.getInputs().size(); ++input)
    inputs.push_back(readPart(computes, builder, input, loops));
  return computes.create(getElementTypes(op), getNeutral(op), [&](ComputeBody &body) {
    auto values = llvm::map_to_vector(inputs, [&](unsigned number) { return body.input(number); });
    return cloneBody(body, op, values, body.getAccumulators(), {}, loops);
  });
}

FailureOr<ComputeOp> PartialReductions::makeRest(OpBuilder &builder) {
  if (!hasRest())
    return ComputeOp();
  SmallVector<Expr> extents = op.getExtents(), loops;
  extents[parts.loop] = parts.rest;
  ComputeBuilder computes(builder, op.getLoc(), ArrayRef(extents).take_front(op.getNumParallel()),
                          ArrayRef(extents).drop_front(op.getNumParallel()));
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    loops.push_back(computes.loop(loop));
  loops[parts.loop] = parts.parts * parts.length + loops[parts.loop];
  SmallVector<unsigned> inputs;
  for (auto [number, tensor] : llvm::enumerate(op.getInputs()))
    inputs.push_back(computes.read(tensor, getIndices(op, number, loops), op.getFill(number)));
  return createWithBody(computes, op, inputs, {}, loops);
}

FailureOr<ComputeOp> PartialReductions::makeTotal(OpBuilder &builder, ComputeOp partials) {
  ComputeBuilder computes(builder, op.getLoc(), ArrayRef(op.getExtents()).take_front(op.getNumParallel()), parts.parts);
  SmallVector<Expr> indices = {computes.loop(op.getNumParallel())};
  llvm::append_range(indices, computes.parallelLoops());
  auto inputs =
      llvm::map_to_vector(partials.getResults(), [&](Value result) { return computes.read(result, indices); });
  // A remainder starts from the reduction's initial values, so the total must not.
  SmallVector<TypedAttr> inits = hasRest() ? getNeutral(op) : getInits(op);
  FailureOr<ComputeOp> total = computes.create(getElementTypes(op), inits, [&](ComputeBody &body) {
    auto values = llvm::map_to_vector(inputs, [&](unsigned number) { return body.input(number); });
    return combine(body.builder, op, body.getAccumulators(), values);
  });
  return hasRest() ? total : withLayoutsOf(total, op);
}

FailureOr<ComputeOp> PartialReductions::makeSum(OpBuilder &builder, ComputeOp rest, ComputeOp total) {
  ComputeBuilder computes(builder, op.getLoc(), ArrayRef(op.getExtents()).take_front(op.getNumParallel()));
  SmallVector<unsigned> left, right;
  for (unsigned result = 0; result < op.getNumResults(); ++result) {
    left.push_back(computes.read(rest.getResult(result)));
    right.push_back(computes.read(total.getResult(result)));
  }
  FailureOr<ComputeOp> sum = computes.create(getElementTypes(op), {}, [&](ComputeBody &body) {
    auto scalars = [&](unsigned number) { return body.input(number); };
    return combine(body.builder, op, llvm::map_to_vector(left, scalars), llvm::map_to_vector(right, scalars));
  });
  return withLayoutsOf(sum, op);
}
