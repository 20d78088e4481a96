#include "compiler/expressions/Expressions.h"
#include "compiler/expressions/GraphBuilder.h"
#include "compiler/simplify/Counters.h"
#include "compiler/simplify/Passes.h"

using namespace mlir;

namespace freestone::graph {

#define GEN_PASS_DEF_GUARDROWS
#include "compiler/simplify/Passes.h.inc"

template <typename Op, typename Kind> static Op getOfKind(Value value, Kind kind) {
  auto op = value.getDefiningOp<Op>();
  return op && op.getKind() == kind ? op : Op();
}

/// What a value repeats along exactly those axes along which a reduction has reduced.
static ReduceOp getReduction(BroadcastOp repeated, Value operand, ReduceKind kind) {
  auto reduction = getOfKind<ReduceOp>(operand, kind);
  if (!reduction)
    return nullptr;
  auto isReduced = [&](int64_t axis) { return llvm::is_contained(reduction.getAxes(), axis); };
  int64_t rank = cast<TensorType>(repeated.getType()).getRank();
  bool isWhole = repeated.getDims().size() + reduction.getAxes().size() == static_cast<size_t>(rank);
  return isWhole && llvm::none_of(repeated.getDims(), isReduced) ? reduction : ReduceOp();
}

/// Whether a value is the exponential of distances to the maximum along the axes of `sum`, whose elements it adds.
static bool isShared(UnaryOp power, ReduceOp sum) {
  auto distance = getOfKind<BinaryOp>(power.getOperand(), BinaryKind::sub);
  auto repeated = distance ? distance.getRhs().getDefiningOp<BroadcastOp>() : BroadcastOp();
  ReduceOp most = repeated ? getReduction(repeated, repeated.getOperand(), ReduceKind::max) : ReduceOp();
  return most && most.getOperand() == distance.getLhs() && most.getAxes() == sum.getAxes() &&
         sum.getOperand() == power.getResult();
}

/// The sum of a row's exponentials, repeated along the row as `repeated` is, if `share` is such an exponential times
/// the reciprocal of the sum: from 1 on, or NaN and with it all shares of the row.
static std::pair<BroadcastOp, Value> getTotal(Value share) {
  while (auto cast = share.getDefiningOp<CastOp>()) {
    // Narrower types may have no NaN.
    if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(getElementType(cast.getResult())))
      return {};
    share = cast.getOperand();
  }
  auto product = getOfKind<BinaryOp>(share, BinaryKind::mul);
  if (!product)
    return {};
  for (auto [power, factor] : {std::pair(product.getLhs(), product.getRhs()), {product.getRhs(), product.getLhs()}}) {
    auto exponential = getOfKind<UnaryOp>(power, UnaryKind::exp);
    auto repeated = factor.getDefiningOp<BroadcastOp>();
    auto inverse = repeated ? getOfKind<UnaryOp>(repeated.getOperand(), UnaryKind::reciprocal) : UnaryOp();
    ReduceOp sum = inverse ? getReduction(repeated, inverse.getOperand(), ReduceKind::add) : ReduceOp();
    if (exponential && sum && isShared(exponential, sum))
      return {repeated, sum.getResult()};
  }
  return {};
}

namespace {

struct GuardRowsPass : impl::GuardRowsBase<GuardRowsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!enable)
      return markAllAnalysesPreserved();
    int64_t guarded = 0;
    getOperation()->walk([&](UnaryOp test) {
      if (test.getKind() == UnaryKind::isnan)
        guarded += guardRows(test);
    });
    count(getOperation(), "guarded_rows", guarded);
  }

private:
  static bool guardRows(UnaryOp test) {
    auto isCondition = [](OpOperand &use) { return isa<SelectOp>(use.getOwner()) && !use.getOperandNumber(); };
    auto [repeated, total] = getTotal(test.getOperand());
    if (!repeated || llvm::none_of(test->getUses(), isCondition))
      return false;
    expressions::GraphBuilder builder(test.getLoc(), test);
    // A connected softmax (`tile-fuse`) sums nothing of a row without numbers.
    expressions::Tensor hidden = logicalNot(expressions::Tensor(builder, total) >= 0.5);
    SmallVector<sym::Expr> shape(cast<TensorType>(test.getType()).getShape());
    Value guard = BroadcastOp::create(builder, hidden.value(), shape, repeated.getDims());
    test.getResult().replaceUsesWithIf(guard, isCondition);
    return true;
  }
};

} // namespace

} // namespace freestone::graph
