// Functions of elements at one place. At kinks the derivative is PyTorch's.
#include "compiler/grad/Differentiate.h"
#include "compiler/grad/Rule.h"
#include <numbers>

using namespace mlir;

namespace freestone::grad {

namespace {

/// The number that is known to be everywhere in a float.
std::optional<double> getSplat(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto known = dyn_cast<graph::ConstantOp>(op)) {
      if (!known.isSplat() || !isa<FloatType>(graph::getElementType(value)))
        return std::nullopt;
      return cast<DenseElementsAttr>(known.getValue()).getSplatValue<APFloat>().convertToDouble();
    }
    if (!isa<graph::BroadcastOp, graph::ReshapeOp>(op))
      return std::nullopt;
    value = op->getOperand(0);
  }
  return std::nullopt;
}

/// The t of 1 / (1 + exp(t)), which is a sigmoid of -t; null if the divisor is another.
Value getSigmoidArgument(Value divisor) {
  auto plus = divisor.getDefiningOp<graph::BinaryOp>();
  if (!plus || plus.getKind() != BinaryKind::add)
    return {};
  for (auto [one, other] : {std::pair(plus.getLhs(), plus.getRhs()), std::pair(plus.getRhs(), plus.getLhs())})
    if (auto power = other.getDefiningOp<graph::UnaryOp>();
        power && power.getKind() == UnaryKind::exp && getSplat(one) == 1.0)
      return power.getOperand();
  return {};
}

/// The sigmoid's derivative as a whole: far from 0 its exponential is infinite, and 0 times it is NaN.
bool differentiateSigmoid(Value divisor, Backward &backward) {
  Value argument = getSigmoidArgument(divisor);
  if (!argument)
    return false;
  Tensor y = backward.result();
  backward.add(argument, -(backward.gradient() * (y * (1.0 - y))));
  return true;
}

/// Whether the operand of a root is a sum of squares.
bool isSumOfSquares(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getOperand();
  auto sum = value.getDefiningOp<graph::ReduceOp>();
  auto square = sum ? sum.getOperand().getDefiningOp<graph::BinaryOp>() : graph::BinaryOp();
  return square && sum.getKind() == ReduceKind::add && square.getKind() == BinaryKind::mul &&
         square.getLhs() == square.getRhs();
}

/// g times the derivative at x, where the function's value is y. Null if the derivative is 0 everywhere.
Tensor differentiate(UnaryKind kind, Tensor x, Tensor y, Tensor g) {
  switch (kind) {
  case UnaryKind::abs:
    return g * sign(x);
  case UnaryKind::neg:
    return -g;
  case UnaryKind::exp:
    return g * y;
  case UnaryKind::exp2:
    return g * y * std::numbers::ln2;
  case UnaryKind::log:
    return g / x;
  case UnaryKind::log1p:
    return g / (x + 1.0);
  case UnaryKind::expm1:
    return g * (y + 1.0);
  case UnaryKind::sqrt:
    return g / (y * 2.0);
  case UnaryKind::rsqrt:
    return g * (y * y * y) * -0.5;
  case UnaryKind::reciprocal:
    return -(g * (y * y));
  case UnaryKind::sin:
    return g * cos(x);
  case UnaryKind::cos:
    return -(g * sin(x));
  case UnaryKind::tan:
    return g * (y * y + 1.0);
  case UnaryKind::asin:
    return g * rsqrt(1.0 - x * x);
  case UnaryKind::acos:
    return -(g * rsqrt(1.0 - x * x));
  case UnaryKind::atan:
    return g / (x * x + 1.0);
  case UnaryKind::sinh:
    return g * cosh(x);
  case UnaryKind::cosh:
    return g * sinh(x);
  case UnaryKind::tanh:
    return g * (1.0 - y * y);
  case UnaryKind::asinh:
    return g * rsqrt(x * x + 1.0);
  case UnaryKind::acosh:
    return g * rsqrt(x * x - 1.0);
  case UnaryKind::atanh:
    return g / (1.0 - x * x);
  case UnaryKind::erf:
    return g * exp(-(x * x)) * (2 * std::numbers::inv_sqrtpi);
  default: // floor, ceil, round, trunc, sign: constant between jumps; the others give bools
    return {};
  }
}

LogicalResult differentiateUnary(graph::UnaryOp op, Backward &backward) {
  if (op.getKind() == UnaryKind::reciprocal && differentiateSigmoid(op.getOperand(), backward))
    return success();
  Tensor y = backward.result(), g = backward.gradient();
  if (op.getKind() == UnaryKind::sqrt && isSumOfSquares(op.getOperand())) {
    // A norm: at 0 the chain rule would multiply infinity by 0.
    backward.add(0u, select(equal(y, 0.0), 0.0, g / (y * 2.0)));
    return success();
  }
  backward.add(0u, differentiate(op.getKind(), backward.operand(), y, g));
  return success();
}

/// Whether max(x, 0) is the lower half of a clamp, min(max(x, 0), b).
bool isClampedFromAbove(graph::BinaryOp op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    auto upper = dyn_cast<graph::BinaryOp>(user);
    return upper && upper.getKind() == BinaryKind::min && (getSplat(upper.getLhs()) || getSplat(upper.getRhs()));
  });
}

/// The x of max(x, 0) + log1p(exp(-|x|)), which is a softplus; null if the terms are others.
Value getSoftplusArgument(Value linear, Value logarithm) {
  auto relu = linear.getDefiningOp<graph::BinaryOp>();
  if (!relu || relu.getKind() != BinaryKind::max)
    return {};
  for (UnaryKind kind : {UnaryKind::log1p, UnaryKind::exp, UnaryKind::neg, UnaryKind::abs}) {
    auto op = logarithm.getDefiningOp<graph::UnaryOp>();
    if (!op || op.getKind() != kind)
      return {};
    logarithm = op.getOperand();
  }
  bool matches = (relu.getLhs() == logarithm && getSplat(relu.getRhs()) == 0.0) ||
                 (relu.getRhs() == logarithm && getSplat(relu.getLhs()) == 0.0);
  return matches ? logarithm : Value();
}

/// The parts of a softplus have kinks at 0, their sum has none.
bool differentiateSoftplus(graph::BinaryOp op, Backward &backward) {
  for (auto [linear, logarithm] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())})
    if (Value argument = getSoftplusArgument(linear, logarithm)) {
      Tensor x = backward.tensor(argument);
      backward.add(argument, backward.gradient() * (1.0 / (1.0 + exp(-x))));
      return true;
    }
  return false;
}

/// If one operand is a number, this is a clamp, whose derivative is 1 at the bound, or a relu, whose derivative is 0
/// there. Equal elements of two tensors get half each.
void differentiateExtremum(graph::BinaryOp op, Backward &backward) {
  bool isMax = op.getKind() == BinaryKind::max;
  Tensor g = backward.gradient();
  for (unsigned side : {0u, 1u}) {
    std::optional<double> bound = getSplat(op->getOperand(1 - side));
    if (!bound)
      continue;
    if (isMax && *bound == 0 && !isClampedFromAbove(op))
      // In terms of the result, so that the operand need not be kept.
      return backward.add(side, select(backward.result() > 0.0, g, 0.0));
    CompareKind inside = isMax ? CompareKind::ge : CompareKind::le;
    return backward.add(side, select(compare(inside, backward.operand(side), backward.operand(1 - side)), g, 0.0));
  }
  Tensor x = backward.operand(0), y = backward.operand(1);
  Tensor shared = select(equal(x, y), g * 0.5, g);
  auto pass = [&](Tensor loses) { return select(loses, 0.0, shared); };
  if (backward.wants(0u))
    backward.add(0u, pass(isMax ? x < y : x > y));
  if (backward.wants(1u))
    backward.add(1u, pass(isMax ? x > y : x < y));
}

void differentiatePower(Backward &backward) {
  Tensor x = backward.operand(0), p = backward.operand(1), y = backward.result(), g = backward.gradient();
  std::optional<double> exponent = getSplat(p.value());
  if (backward.wants(0u)) {
    Tensor derivative;
    if (!exponent)
      derivative = g * select(equal(p, 0.0), 0.0, p * pow(x, p - 1.0));
    else if (*exponent == 2)
      derivative = g * x * 2.0;
    else if (*exponent == 3)
      derivative = g * (x * x) * 3.0;
    else if (*exponent == 1)
      derivative = g;
    else if (*exponent != 0)
      derivative = g * pow(x, *exponent - 1) * *exponent;
    backward.add(0u, derivative);
  }
  if (backward.wants(1u))
    backward.add(1u, g * select(equal(x, 0.0) & (p >= 0.0), 0.0, y * log(x)));
}

LogicalResult differentiateBinary(graph::BinaryOp op, Backward &backward) {
  Tensor x = backward.operand(0), y = backward.operand(1), g = backward.gradient();
  bool wantsLeft = backward.wants(0u), wantsRight = backward.wants(1u);
  switch (op.getKind()) {
  case BinaryKind::add:
    if (differentiateSoftplus(op, backward))
      return success();
    backward.add(0u, g);
    backward.add(1u, g);
    return success();
  case BinaryKind::sub:
    backward.add(0u, g);
    if (wantsRight)
      backward.add(1u, -g);
    return success();
  case BinaryKind::mul:
    if (op.getLhs() == op.getRhs()) {
      backward.add(0u, g * x * 2.0);
      return success();
    }
    if (wantsLeft)
      backward.add(0u, g * y);
    if (wantsRight)
      backward.add(1u, g * x);
    return success();
  case BinaryKind::div:
    if (getSplat(op.getLhs()) == 1.0 && differentiateSigmoid(op.getRhs(), backward))
      return success();
    if (wantsLeft)
      backward.add(0u, g / y);
    if (wantsRight)
      backward.add(1u, -(g * (backward.result() / y)));
    return success();
  case BinaryKind::rem:
  case BinaryKind::mod:
    backward.add(0u, g);
    if (wantsRight)
      backward.add(1u, -(g * (op.getKind() == BinaryKind::rem ? trunc(x / y) : floor(x / y))));
    return success();
  case BinaryKind::pow:
    differentiatePower(backward);
    return success();
  case BinaryKind::max:
  case BinaryKind::min:
    differentiateExtremum(op, backward);
    return success();
  case BinaryKind::atan2: {
    Tensor share = g / (x * x + y * y);
    if (wantsLeft)
      backward.add(0u, share * y);
    if (wantsRight)
      backward.add(1u, -(share * x));
    return success();
  }
  default:
    return backward.refuse("has no derivative");
  }
}

LogicalResult differentiateSelect(graph::SelectOp op, Backward &backward) {
  Tensor condition = backward.operand(0), g = backward.gradient();
  if (backward.wants(op.getOnTrue()))
    backward.add(op.getOnTrue(), select(condition, g, 0.0));
  if (backward.wants(op.getOnFalse()))
    backward.add(op.getOnFalse(), select(condition, 0.0, g));
  return success();
}

LogicalResult differentiateCast(graph::CastOp op, Backward &backward) {
  backward.add(0u, cast(backward.gradient(), backward.operand().elementType()));
  return success();
}

} // namespace

void addElementwiseRules(RuleTable &table) {
  table.add<graph::UnaryOp, differentiateUnary>();
  table.add<graph::BinaryOp, differentiateBinary>();
  table.add<graph::SelectOp, differentiateSelect>();
  table.add<graph::CastOp, differentiateCast>();
}

} // namespace freestone::grad
