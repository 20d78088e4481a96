#include "compiler/tile/FactorSums.h"

#include "compiler/plan/Classify.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// A multiplication of a sum's body by an operand that is equal for all elements.
struct CommonFactor {
  arith::MulFOp product;
  unsigned input;
  Value other;
};

} // namespace

/// Whether an operand, which nothing else of the body reads, is read at parallel loops alone.
static bool isCommon(ComputeOp sum, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getArgNumber() >= sum.getInputs().size() || !argument.hasOneUse() ||
      sum.getFill(argument.getArgNumber()))
    return false;
  return llvm::all_of(getIndices(sum, argument.getArgNumber()), [&](Expr index) {
    return llvm::all_of(getLoops(index), [&](unsigned loop) { return sum.isParallel(loop); });
  });
}

static SmallVector<CommonFactor> findFactors(ComputeOp sum) {
  SmallVector<CommonFactor> factors;
  Type element = sum.getResultType(0).getElementType();
  if (!matchPattern(Attribute(sum.getInit(0)), m_AnyZeroFloat()) || !isa<Float32Type, Float64Type>(element))
    return factors;
  auto add = sum.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || !llvm::is_contained(add->getOperands(), sum.getAccumulators()[0]))
    return factors;
  SmallVector<Value> open = {add.getLhs() == sum.getAccumulators()[0] ? add.getRhs() : add.getLhs()};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    auto product = value.getDefiningOp<arith::MulFOp>();
    if (!product || !value.hasOneUse() || value.getType() != element)
      continue;
    for (unsigned side : {0u, 1u})
      if (isCommon(sum, product->getOperand(side)))
        factors.push_back(
            {product, cast<BlockArgument>(product->getOperand(side)).getArgNumber(), product->getOperand(1 - side)});
    open.append({product.getLhs(), product.getRhs()});
  }
  return factors;
}

/// The sum without the factor.
static FailureOr<ComputeOp> makeUnscaled(OpBuilder &builder, ComputeOp sum, const CommonFactor &factor) {
  unsigned parallel = sum.getNumParallel();
  SmallVector<Expr> extents = sum.getExtents();
  ComputeBuilder plain(builder, sum.getLoc(), ArrayRef(extents).take_front(parallel),
                       ArrayRef(extents).drop_front(parallel));
  SmallVector<std::optional<unsigned>> inputs(sum.getInputs().size());
  for (auto [number, tensor] : llvm::enumerate(sum.getInputs()))
    if (number != factor.input)
      inputs[number] = plain.read(tensor, getIndices(sum, number), sum.getFill(number));
  Type element = sum.getResultType(0).getElementType();
  return plain.create(element, {cast<TypedAttr>(sum.getInit(0))}, [&](ComputeBody &body) {
    IRMapping mapping;
    for (auto [argument, number] : llvm::zip_equal(sum.getInputArgs(), inputs))
      if (number)
        mapping.map(argument, body.input(*number));
    mapping.map(sum.getAccumulators()[0], body.accumulator(0));
    for (Operation &inner : sum.getBody()->without_terminator()) {
      if (&inner == factor.product)
        mapping.map(inner.getResult(0), mapping.lookup(factor.other));
      else
        body.builder.clone(inner, mapping);
    }
    return SmallVector<Value>{mapping.lookup(sum.getBody()->getTerminator()->getOperand(0))};
  });
}

/// The compute before `op` that computes the same.
static ComputeOp findTwin(ComputeOp op) {
  for (Operation *reader : op.getInputs()[0].getUsers())
    if (auto other = dyn_cast<ComputeOp>(reader))
      if (other != op && other->getBlock() == op->getBlock() && other->isBeforeInBlock(op) &&
          OperationEquivalence::isEquivalentTo(other, op, OperationEquivalence::IgnoreLocations))
        return other;
  return {};
}

FailureOr<Value> tile::factorSum(OpBuilder &builder, ComputeOp sum) {
  if (!sum.getNumReductions() || sum.getNumResults() != 1 || !sum.getReads().empty() ||
      sum.getResultType(0).getLayout() || getContractionDims(sum))
    return failure();
  for (const CommonFactor &factor : findFactors(sum)) {
    FailureOr<ComputeOp> unscaled = makeUnscaled(builder, sum, factor);
    if (failed(unscaled))
      continue;
    ComputeOp twin = unscaled->getInputs().empty() ? ComputeOp() : findTwin(*unscaled);
    (*unscaled)->erase();
    if (!twin)
      continue;
    ComputeBuilder scaled(builder, sum.getLoc(), ArrayRef(sum.getExtents()).take_front(sum.getNumParallel()));
    unsigned total = scaled.read(twin.getResult(0));
    unsigned times = scaled.read(sum.getInputs()[factor.input], getIndices(sum, factor.input));
    FailureOr<ComputeOp> result = scaled.create(sum.getResultType(0).getElementType(), [&](ComputeBody &body) -> Value {
      return arith::MulFOp::create(body.builder, body.input(total), body.input(times));
    });
    if (succeeded(result))
      return result->getResult(0);
  }
  return failure();
}
