#include "compiler/tile/lowering/SumOfProducts.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

FailureOr<Value> tile::sumProducts(ComputeBuilder &builder, unsigned left, unsigned right, Value lhs, Value rhs,
                                   Value result, bool isSummed) {
  Type wide = getAccumulatorType(graph::getElementType(result));
  auto product = [&](ComputeBody &body) -> Value {
    Value a = emitCast(body.builder, body.input(left), graph::getElementType(lhs), wide);
    Value b = emitCast(body.builder, body.input(right), graph::getElementType(rhs), wide);
    return emitBinary(body.builder, graph::BinaryKind::mul, a, b, wide);
  };
  auto sum = [&](ComputeBody &body) -> SmallVector<Value> {
    return {emitBinary(body.builder, graph::BinaryKind::add, body.accumulator(0), product(body), wide)};
  };
  FailureOr<ComputeOp> compute =
      isSummed ? builder.create(wide, {getScalarAttr(wide, 0)}, sum) : builder.create(wide, product);
  if (failed(compute))
    return failure();
  return compute->getResult(0);
}

LogicalResult tile::replaceByRounded(PatternRewriter &rewriter, Operation *op, FailureOr<Value> sums) {
  if (failed(sums))
    return rewriter.notifyMatchFailure(op, "an index is no affine function of the loops");
  Value whole = op->getResult(0);
  FailureOr<Value> result = castTo(rewriter, op->getLoc(), *sums, graph::getElementType(whole));
  if (failed(result))
    return failure();
  if (graph::getShape(*result) != graph::getShape(whole))
    result = graph::ReshapeOp::create(rewriter, op->getLoc(), *result, graph::getShape(whole)).getResult();
  rewriter.replaceOp(op, *result);
  return success();
}
