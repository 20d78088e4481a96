#include "compiler/tile/Passes.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/tile/ComputeBuilder.h"

namespace freestone::tile {
#define GEN_PASS_DEF_SUMINTOSCATTERS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

namespace {

bool isZero(TypedAttr splat) {
  if (auto number = dyn_cast_or_null<FloatAttr>(splat))
    return number.getValue().isZero();
  auto number = dyn_cast_or_null<IntegerAttr>(splat);
  return number && number.getValue().isZero();
}

/// A scatter that adds to zeros, without other consumers.
template <typename ScatterOp> ScatterOp getSumOfUpdates(Value value) {
  auto scatter = value.getDefiningOp<ScatterOp>();
  bool isSum = scatter && value.hasOneUse() && scatter.getKind() == graph::ScatterKind::add;
  return isSum && isZero(getSplat(scatter.getOperand())) ? scatter : ScatterOp();
}

template <typename ScatterOp> bool sumInto(graph::BinaryOp sum) {
  for (auto [value, other] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
    ScatterOp scatter = getSumOfUpdates<ScatterOp>(value);
    if (!scatter)
      continue;
    scatter->moveBefore(sum);
    scatter.getOperandMutable().assign(other);
    sum.replaceAllUsesWith(scatter.getResult());
    sum.erase();
    return true;
  }
  return false;
}

/// Narrow floats would lose small updates in a large sum.
bool keepsSmallUpdates(Type element) { return !isa<FloatType>(element) || element.getIntOrFloatBitWidth() >= 32; }

class SumIntoScatters : public tile::impl::SumIntoScattersBase<SumIntoScatters> {
public:
  using SumIntoScattersBase::SumIntoScattersBase;

  void runOnOperation() override {
    if (!enable)
      return;
    for (auto sum : llvm::make_early_inc_range(getOperation().getBody().front().getOps<graph::BinaryOp>()))
      if (sum.getKind() == graph::BinaryKind::add && keepsSmallUpdates(graph::getElementType(sum.getResult())))
        (void)(sumInto<graph::ScatterNdOp>(sum) || sumInto<graph::ScatterElementsOp>(sum));
  }
};

} // namespace
