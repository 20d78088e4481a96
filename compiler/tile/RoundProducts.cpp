#include "compiler/tile/Passes.h"

#include "compiler/tile/Counters.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

namespace freestone::tile {
#define GEN_PASS_DEF_ROUNDPRODUCTS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

namespace {

std::optional<float> getFloat(Value value) {
  APFloat number(0.0f);
  if (!value.getType().isF32() || !matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  return number.convertToFloat();
}

/// value `predicate` bound ? value : bound, or value == value ? value : bound, if that is all that reads the value.
struct Bounded {
  arith::SelectOp result;
  float bound;

  static std::optional<Bounded> get(Value value, arith::CmpFPredicate predicate) {
    bool isNumber = predicate == arith::CmpFPredicate::ORD;
    if (!value.hasNUses(isNumber ? 3 : 2))
      return std::nullopt;
    for (Operation *user : value.getUsers()) {
      auto select = dyn_cast<arith::SelectOp>(user);
      auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
      std::optional<float> bound = select ? getFloat(select.getFalseValue()) : std::nullopt;
      if (compare && bound && select.getTrueValue() == value && compare.getLhs() == value &&
          compare.getPredicate() == predicate && compare->hasOneUse() &&
          (isNumber ? compare.getRhs() == value : getFloat(compare.getRhs()) == bound))
        return Bounded{select, *bound};
    }
    return std::nullopt;
  }
};

/// min(max(round(x / scale) + zero, lowest), highest), as QuantizeLinear has it. NaN is the lowest, or another number.
struct Quantization {
  arith::DivFOp quotient;
  arith::SelectOp result;
  float scale, zero, lowest, highest;
  std::optional<float> ofNaN;

  static std::optional<Quantization> get(arith::DivFOp quotient) {
    std::optional<float> scale = getFloat(quotient.getRhs());
    auto rounded = quotient->hasOneUse() ? dyn_cast<math::RoundEvenOp>(*quotient->user_begin()) : math::RoundEvenOp();
    if (!scale || !rounded)
      return std::nullopt;
    Value integer = rounded.getResult();
    float zero = 0;
    if (auto shifted = integer.hasOneUse() ? dyn_cast<arith::AddFOp>(*integer.user_begin()) : arith::AddFOp()) {
      std::optional<float> number = getFloat(shifted.getRhs());
      if (shifted.getLhs() != integer || !number)
        return std::nullopt;
      integer = shifted;
      zero = *number;
    }
    std::optional<Bounded> number = Bounded::get(integer, arith::CmpFPredicate::ORD);
    if (number)
      integer = number->result;
    std::optional<Bounded> low = Bounded::get(integer, arith::CmpFPredicate::OGT);
    std::optional<Bounded> high = low ? Bounded::get(low->result, arith::CmpFPredicate::OLT) : std::nullopt;
    if (!high)
      return std::nullopt;
    return Quantization{quotient,
                        high->result,
                        *scale,
                        zero,
                        low->bound,
                        high->bound,
                        number ? std::optional(number->bound) : std::nullopt};
  }
};

/// 1 / scale as the sum of two numbers: x * high + x * low, rounded twice, is the quotient or next to it.
struct Reciprocal {
  float high, low;

  explicit Reciprocal(float scale) : high(1.0 / double(scale)), low(1.0 / double(scale) - double(high)) {}

  float multiply(float x) const { return std::fma(x, high, x * low); }
};

/// Whether products round to the integers of quotients, from the lowest to the highest, and `exact` integers to
/// themselves. Only near the middle of two integers can they differ: the numbers there are tried.
bool roundsAlike(float scale, int64_t lowest, int64_t highest, ArrayRef<int64_t> exact) {
  Reciprocal reciprocal(scale);
  constexpr int neighbours = 8;
  auto isAlike = [&](float x) {
    return std::isfinite(x) && std::nearbyint(reciprocal.multiply(x)) == std::nearbyint(x / scale);
  };
  for (int64_t integer = lowest; integer < highest; ++integer) {
    float x = (double(integer) + 0.5) * double(scale);
    for (int step = 0; step < neighbours; ++step)
      x = std::nextafter(x, -HUGE_VALF);
    for (int step = -neighbours; step <= neighbours; ++step, x = std::nextafter(x, HUGE_VALF))
      if (!isAlike(x))
        return false;
  }
  return llvm::all_of(exact, [&](int64_t integer) {
    float x = double(integer) * double(scale);
    return isAlike(x) && std::nearbyint(x / scale) == double(integer);
  });
}

/// Bounds go before the product, so that nothing infinite is multiplied.
bool roundProduct(Quantization quantization) {
  constexpr float mostIntegers = 4096;
  float zero = quantization.zero, lowest = quantization.lowest - zero, highest = quantization.highest - zero;
  float ofNaN = quantization.ofNaN.value_or(quantization.lowest) - zero;
  auto isInteger = [](float number) { return std::nearbyint(number) == number; };
  if (!(quantization.scale > 0) || !isInteger(lowest) || !isInteger(highest) || !isInteger(ofNaN) ||
      !(lowest <= ofNaN && ofNaN <= highest && highest - lowest <= mostIntegers) ||
      !roundsAlike(quantization.scale, lowest, highest, {int64_t(lowest), int64_t(highest), int64_t(ofNaN)}))
    return false;
  Reciprocal reciprocal(quantization.scale);
  arith::DivFOp quotient = quantization.quotient;
  ImplicitLocOpBuilder b(quotient.getLoc(), quotient);
  auto constant = [&](float number) -> Value { return arith::ConstantOp::create(b, b.getF32FloatAttr(number)); };
  auto scaled = [&](float integer) { return constant(double(integer) * double(quantization.scale)); };
  auto select = [&](arith::CmpFPredicate predicate, Value x, Value with, Value other) -> Value {
    return arith::SelectOp::create(b, arith::CmpFOp::create(b, predicate, x, with), x, other);
  };
  Value x = quotient.getLhs(), low = scaled(lowest), high = scaled(highest);
  if (quantization.ofNaN)
    x = select(arith::CmpFPredicate::ORD, x, x, scaled(ofNaN));
  x = select(arith::CmpFPredicate::OGT, x, low, low);
  x = select(arith::CmpFPredicate::OLT, x, high, high);
  Value rest = arith::MulFOp::create(b, x, constant(reciprocal.low));
  Value product = math::FmaOp::create(b, x, constant(reciprocal.high), rest);
  Value integer = math::RoundEvenOp::create(b, product);
  if (zero != 0)
    integer = arith::AddFOp::create(b, integer, constant(zero));
  quantization.result.replaceAllUsesWith(integer);
  return true;
}

class RoundProducts : public tile::impl::RoundProductsBase<RoundProducts> {
public:
  using RoundProductsBase::RoundProductsBase;

  void runOnOperation() override {
    if (!enable)
      return;
    int64_t rounded = 0;
    for (auto compute : getOperation().getBody().front().getOps<ComputeOp>()) {
      int64_t before = rounded;
      for (auto quotient : llvm::make_early_inc_range(compute.getBody()->getOps<arith::DivFOp>()))
        if (std::optional<Quantization> quantization = Quantization::get(quotient))
          rounded += roundProduct(*quantization);
      if (rounded != before)
        for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*compute.getBody())))
          if (isOpTriviallyDead(&op))
            op.erase();
    }
    count(getOperation(), "rounded_products", rounded);
  }
};

} // namespace
