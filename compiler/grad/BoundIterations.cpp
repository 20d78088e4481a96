#include "compiler/grad/BoundIterations.h"

#include "compiler/expressions/Operations.h"
#include "compiler/grad/Rule.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace freestone::expressions;

namespace freestone::grad {

/// The values that an iteration collects: the body's, or zeros.
static SmallVector<Value> collectNothing(GraphBuilder &builder, TypeRange types) {
  return llvm::map_to_vector(types, [&](Type type) { return builder.splat(0, cast<graph::TensorType>(type)).value(); });
}

FailureOr<SmallVector<Value>> boundIterations(graph::WhileOp op) {
  std::optional<sym::Expr> limit = op.getLimit();
  if (!limit)
    return refuseGradient(op, withoutLimit);
  Block &body = op.getBody().front();
  TypeRange within = TypeRange(body.getArgumentTypes()).drop_front();
  if (op.getCarried().getTypes() != within)
    return refuseGradient(op, withDataSizes);
  GraphBuilder builder(op.getLoc(), op);
  Operation *end = body.getTerminator();
  size_t states = op.getCarried().size();
  TypeRange collected = TypeRange(end->getOperandTypes()).drop_front(1 + states);
  Type i64 = builder.getI64Type(), i1 = builder.getI1Type();

  // Carried: whether it goes on, the number of iterations, the loop's own values.
  SmallVector<Value> carried = {op.getCondition() ? op.getCondition() : builder.scalar(1, i1).value(),
                                builder.scalar(0, i64).value()};
  llvm::append_range(carried, op.getCarried());
  SmallVector<Type> types = llvm::map_to_vector(carried, [](Value value) { return value.getType(); });
  SmallVector<Type> results = types, made = types;
  llvm::append_range(made, collected);
  for (Type type : collected) {
    SmallVector<sym::Expr> shape = {*limit};
    llvm::append_range(shape, cast<graph::TensorType>(type).getShape());
    results.push_back(cast<graph::TensorType>(type).withShape(shape));
  }
  Tensor numbers = iota(builder, {*limit}, 0, i64);
  auto scan = graph::ScanOp::create(builder, results, carried, numbers.value());
  Block *step = builder.createBlock(&scan.getBody());
  for (Type type : types)
    step->addArgument(type, op.getLoc());
  BlockArgument number = step->addArgument(graph::TensorType::get({}, i64), op.getLoc());
  auto branch = graph::IfOp::create(builder, made, step->getArgument(0));
  graph::YieldOp::create(builder, branch.getResults());

  builder.createBlock(&branch.getThenRegion());
  IRMapping mapping;
  mapping.map(body.getArgument(0), number);
  mapping.map(op.getCarriedArgs(), step->getArguments().slice(2, states));
  for (Operation &inner : body.without_terminator())
    builder.clone(inner, mapping);
  SmallVector<Value> next =
      llvm::map_to_vector(end->getOperands(), [&](Value value) { return mapping.lookupOrDefault(value); });
  next.insert(next.begin() + 1, (builder.fromValue(number) + builder.scalar(1, i64)).value());
  graph::YieldOp::create(builder, next);

  builder.createBlock(&branch.getElseRegion());
  SmallVector<Value> kept(step->getArguments().drop_back());
  llvm::append_range(kept, collectNothing(builder, collected));
  graph::YieldOp::create(builder, kept);

  builder.setInsertionPoint(op);
  SmallVector<Value> last(scan.getResults().drop_front(2));
  if (!collected.empty()) {
    Tensor isCollected = numbers < builder.fromValue(scan.getResult(1));
    for (auto [result, whole] : llvm::drop_begin(llvm::zip_equal(op.getResults(), last), states))
      whole = graph::CompressOp::create(builder, whole, isCollected.value(), /*axis=*/0, graph::getShape(result)[0]);
  }
  return last;
}

} // namespace freestone::grad
