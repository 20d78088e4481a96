// Rounding f32 to integers of 8 and 16 bits within bounds, as a quantisation does.
#include "compiler/codegen/cpu/math/ExpandMath.h"
#include "compiler/codegen/cpu/math/Real.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;

namespace freestone::codegen {

namespace {

/// The integer of a constant, the same in every lane.
std::optional<int64_t> getInteger(Value value) {
  constexpr double largest = 1 << 16;
  Attribute constant;
  if (!value || !matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  if (auto lanes = dyn_cast<SplatElementsAttr>(constant))
    constant = lanes.getSplatValue<Attribute>();
  auto number = dyn_cast<FloatAttr>(constant);
  double integer = number ? number.getValueAsDouble() : largest + 1;
  return std::abs(integer) <= largest && integer == std::trunc(integer) ? std::optional<int64_t>(integer)
                                                                        : std::nullopt;
}

/// The integer that `value` is bounded by, as `select(value beside integer, value, integer)`; `value` becomes what is
/// bounded.
std::optional<int64_t> takeBound(Value &value, arith::CmpFPredicate beside) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  if (!compare || compare.getPredicate() != beside || compare.getLhs() != select.getTrueValue() ||
      compare.getRhs() != select.getFalseValue())
    return std::nullopt;
  value = select.getTrueValue();
  return getInteger(select.getFalseValue());
}

/// Bounds first, and adds a number whose last digit is that of the integers: the sum is rounded to one of these, and
/// has it in its lowest bits. A rounding, an addition of the zero point and a conversion would take turns at the same
/// units.
template <typename ConvertOp> struct QuantiseByAddition : OpRewritePattern<ConvertOp> {
  using OpRewritePattern<ConvertOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp op, PatternRewriter &rewriter) const override {
    Value value = op.getIn();
    if (!getElementTypeOrSelf(value.getType()).isF32() ||
        getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth() > 16)
      return failure();
    std::optional<int64_t> high = takeBound(value, arith::CmpFPredicate::OLT);
    std::optional<int64_t> low = high ? takeBound(value, arith::CmpFPredicate::OGT) : std::nullopt;
    int64_t zeroPoint = 0;
    if (auto sum = value.getDefiningOp<arith::AddFOp>())
      if (std::optional<int64_t> constant = getInteger(sum.getRhs())) {
        zeroPoint = *constant;
        value = sum.getLhs();
      }
    auto rounding = value.getDefiningOp<math::RoundEvenOp>();
    if (!low || !rounding)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Real x(b, rounding.getOperand()), first = x.like(double(*low - zeroPoint)),
                                      last = x.like(double(*high - zeroPoint));
    x = select(x > first, x, first);
    x = select(x < last, x, last);
    // LLVM 22 stores a single lane of floats' bits whole where these are truncated right away: an integer is added in
    // any case. An even one leaves halves as they are rounded.
    int64_t beyond = zeroPoint ? 0 : 2;
    Value bits = (x + (0x1.8p23 + beyond)).bits();
    Value integers = arith::AddIOp::create(b, bits, x.integer(zeroPoint - beyond));
    rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, op.getType(), integers);
    return success();
  }
};

} // namespace

void populateQuantisePatterns(RewritePatternSet &patterns) {
  patterns.add<QuantiseByAddition<arith::FPToUIOp>, QuantiseByAddition<arith::FPToSIOp>>(patterns.getContext());
}

} // namespace freestone::codegen
