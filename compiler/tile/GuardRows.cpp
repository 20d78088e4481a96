#include "compiler/tile/Passes.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/expressions/Expressions.h"
#include "compiler/expressions/GraphBuilder.h"
#include "compiler/tile/Counters.h"

namespace freestone::tile {
#define GEN_PASS_DEF_GUARDROWS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using graph::BinaryKind;
using graph::ReduceKind;
using graph::UnaryKind;

template <typename Op, typename Kind> static Op getOfKind(Value value, Kind kind) {
  auto op = value.getDefiningOp<Op>();
  return op && op.getKind() == kind ? op : Op();
}

/// What a value repeats along exactly those axes along which a reduction has reduced.
static graph::ReduceOp getReduction(graph::BroadcastOp repeated, Value operand, ReduceKind kind) {
  auto reduction = getOfKind<graph::ReduceOp>(operand, kind);
  if (!reduction)
    return nullptr;
  auto isReduced = [&](int64_t axis) { return llvm::is_contained(reduction.getAxes(), axis); };
  int64_t rank = cast<graph::TensorType>(repeated.getType()).getRank();
  bool isWhole = repeated.getDims().size() + reduction.getAxes().size() == static_cast<size_t>(rank);
  return isWhole && llvm::none_of(repeated.getDims(), isReduced) ? reduction : graph::ReduceOp();
}

/// Whether a value is the exponential of distances to the maximum along the axes of `sum`, whose elements it adds.
static bool isShared(graph::UnaryOp power, graph::ReduceOp sum) {
  auto distance = getOfKind<graph::BinaryOp>(power.getOperand(), BinaryKind::sub);
  auto repeated = distance ? distance.getRhs().getDefiningOp<graph::BroadcastOp>() : graph::BroadcastOp();
  graph::ReduceOp most = repeated ? getReduction(repeated, repeated.getOperand(), ReduceKind::max) : graph::ReduceOp();
  return most && most.getOperand() == distance.getLhs() && most.getAxes() == sum.getAxes() &&
         sum.getOperand() == power.getResult();
}

/// The sum of a row's exponentials, repeated along the row as `repeated` is, if `share` is such an exponential times
/// the reciprocal of the sum: from 1 on, or NaN and with it all shares of the row.
static std::pair<graph::BroadcastOp, Value> getTotal(Value share) {
  while (auto cast = share.getDefiningOp<graph::CastOp>()) {
    // Narrower types may have no NaN.
    if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(graph::getElementType(cast.getResult())))
      return {};
    share = cast.getOperand();
  }
  auto product = getOfKind<graph::BinaryOp>(share, BinaryKind::mul);
  if (!product)
    return {};
  for (auto [power, factor] : {std::pair(product.getLhs(), product.getRhs()), {product.getRhs(), product.getLhs()}}) {
    auto exponential = getOfKind<graph::UnaryOp>(power, UnaryKind::exp);
    auto repeated = factor.getDefiningOp<graph::BroadcastOp>();
    auto inverse =
        repeated ? getOfKind<graph::UnaryOp>(repeated.getOperand(), UnaryKind::reciprocal) : graph::UnaryOp();
    graph::ReduceOp sum = inverse ? getReduction(repeated, inverse.getOperand(), ReduceKind::add) : graph::ReduceOp();
    if (exponential && sum && isShared(exponential, sum))
      return {repeated, sum.getResult()};
  }
  return {};
}

namespace {

struct GuardRowsPass : tile::impl::GuardRowsBase<GuardRowsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!enable)
      return markAllAnalysesPreserved();
    int64_t guarded = 0;
    getOperation()->walk([&](graph::UnaryOp test) {
      if (test.getKind() == UnaryKind::isnan)
        guarded += guardRows(test);
    });
    count(getOperation(), "guarded_rows", guarded);
  }

private:
  static bool guardRows(graph::UnaryOp test) {
    auto isCondition = [](OpOperand &use) { return isa<graph::SelectOp>(use.getOwner()) && !use.getOperandNumber(); };
    auto [repeated, total] = getTotal(test.getOperand());
    if (!repeated || llvm::none_of(test->getUses(), isCondition))
      return false;
    expressions::GraphBuilder builder(test.getLoc(), test);
    // A connected softmax (`tile-fuse`) sums nothing of a row without numbers.
    expressions::Tensor hidden = logicalNot(expressions::Tensor(builder, total) >= 0.5);
    SmallVector<sym::Expr> shape(cast<graph::TensorType>(test.getType()).getShape());
    Value guard = graph::BroadcastOp::create(builder, hidden.value(), shape, repeated.getDims());
    test.getResult().replaceUsesWithIf(guard, isCondition);
    return true;
  }
};

} // namespace
