// Arithmetic and elementary functions, element by element.
#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// Before operator set 7, the second operand was broadcast only on demand, its first dimension at `axis`.
Tensor alignedOperand(Node &node, Tensor lhs, Tensor rhs) {
  if (!lhs || !rhs || node.opset() >= 7 || !node.hasAttribute("axis"))
    return rhs;
  std::optional<int64_t> axis = node.normalize(node.integer("axis"), lhs.rank());
  if (!axis || *axis + rhs.rank() > lhs.rank())
    return axis ? node.reject("the second input does not fit at this axis") : Tensor();
  Shape shape(rhs.shape());
  shape.append(lhs.rank() - *axis - rhs.rank(), node.builder().size(1));
  return reshape(rhs, shape);
}

void addUnary(Registry &registry, StringRef name, UnaryKind kind) {
  registry.add(name, {1}, [kind](Node &node) { return unary(kind, node.input(0)); });
}

void addBinary(Registry &registry, StringRef name, BinaryKind kind) {
  registry.add(name, {1}, [kind](Node &node) {
    Tensor lhs = node.input(0);
    return binary(kind, lhs, alignedOperand(node, lhs, node.input(1)));
  });
}

Tensor fold(Node &node, BinaryKind kind) {
  SmallVector<Tensor> operands = node.allInputs();
  if (operands.empty())
    return node.reject("it has no inputs");
  Tensor result = operands.front();
  for (Tensor operand : drop_begin(operands))
    result = binary(kind, result, operand);
  return result;
}

/// The result has the type of the base.
Tensor power(Node &node) {
  Tensor base = node.input(0), exponent = alignedOperand(node, base, node.input(1));
  if (!base || !exponent || base.elementType() == exponent.elementType())
    return pow(base, exponent);
  if (base.isFloat() || !exponent.isFloat())
    return pow(base, cast(exponent, base.elementType()));
  mlir::Type wide = node.builder().getF64Type();
  Tensor result = pow(cast(base, wide), cast(exponent, wide));
  // An integral result may be missed by the last bits, and must not be truncated to its neighbour.
  Tensor nearest = round(result);
  return cast(select(abs(result - nearest) <= abs(nearest) * 1e-12, nearest, result), base.elementType());
}

Tensor modulo(Node &node) {
  Tensor lhs = node.input(0), rhs = node.input(1);
  bool truncates = node.integer("fmod") != 0;
  if (lhs && lhs.isFloat() && !truncates && node.opset() < 28)
    return node.reject("floats need fmod = 1");
  return binary(truncates ? BinaryKind::rem : BinaryKind::mod, lhs, rhs);
}

Tensor clip(Node &node) {
  Tensor x = node.input(0);
  if (node.opset() < 11) {
    if (node.hasAttribute("min"))
      x = max(x, node.real("min", 0));
    return node.hasAttribute("max") ? min(x, node.real("max", 0)) : x;
  }
  if (node.has(1))
    x = max(x, node.input(1));
  return node.has(2) ? min(x, node.input(2)) : x;
}

Tensor bitShift(Node &node) {
  bool left = node.text("direction", "") == "LEFT";
  return binary(left ? BinaryKind::shl : BinaryKind::shr, node.input(0), node.input(1));
}

Tensor isInfinite(Node &node) {
  Tensor x = node.input(0);
  bool negative = node.integer("detect_negative", 1), positive = node.integer("detect_positive", 1);
  if (negative && positive)
    return unary(UnaryKind::isinf_pos, abs(x));
  if (negative || positive)
    return unary(negative ? UnaryKind::isinf_neg : UnaryKind::isinf_pos, x);
  return unary(UnaryKind::isinf_neg, abs(x));
}

} // namespace

void registerElementwise(Registry &registry) {
  addUnary(registry, "Abs", UnaryKind::abs);
  addUnary(registry, "Neg", UnaryKind::neg);
  addUnary(registry, "Exp", UnaryKind::exp);
  addUnary(registry, "Log", UnaryKind::log);
  addUnary(registry, "Sqrt", UnaryKind::sqrt);
  addUnary(registry, "Reciprocal", UnaryKind::reciprocal);
  addUnary(registry, "Floor", UnaryKind::floor);
  addUnary(registry, "Ceil", UnaryKind::ceil);
  addUnary(registry, "Round", UnaryKind::round);
  addUnary(registry, "Sign", UnaryKind::sign);
  addUnary(registry, "Erf", UnaryKind::erf);
  addUnary(registry, "Sin", UnaryKind::sin);
  addUnary(registry, "Cos", UnaryKind::cos);
  addUnary(registry, "Tan", UnaryKind::tan);
  addUnary(registry, "Asin", UnaryKind::asin);
  addUnary(registry, "Acos", UnaryKind::acos);
  addUnary(registry, "Atan", UnaryKind::atan);
  addUnary(registry, "Sinh", UnaryKind::sinh);
  addUnary(registry, "Cosh", UnaryKind::cosh);
  addUnary(registry, "Tanh", UnaryKind::tanh);
  addUnary(registry, "Asinh", UnaryKind::asinh);
  addUnary(registry, "Acosh", UnaryKind::acosh);
  addUnary(registry, "Atanh", UnaryKind::atanh);
  addUnary(registry, "IsNaN", UnaryKind::isnan);
  addUnary(registry, "BitwiseNot", UnaryKind::not_);
  registry.add("IsInf", {10}, isInfinite);

  addBinary(registry, "Add", BinaryKind::add);
  addBinary(registry, "Sub", BinaryKind::sub);
  addBinary(registry, "Mul", BinaryKind::mul);
  addBinary(registry, "Div", BinaryKind::div);
  addBinary(registry, "BitwiseAnd", BinaryKind::and_);
  addBinary(registry, "BitwiseOr", BinaryKind::or_);
  addBinary(registry, "BitwiseXor", BinaryKind::xor_);
  registry.add("Pow", {1}, power);
  registry.add("Mod", {10}, modulo);
  registry.add("BitShift", {11}, bitShift);

  registry.add("Min", {1}, [](Node &node) { return fold(node, BinaryKind::min); });
  registry.add("Max", {1}, [](Node &node) { return fold(node, BinaryKind::max); });
  registry.add("Sum", {1}, [](Node &node) { return fold(node, BinaryKind::add); });
  registry.add("Mean", {1}, [](Node &node) { return fold(node, BinaryKind::add) / double(node.inputCount()); });
  registry.add("Clip", {1}, clip);
}

} // namespace freestone::importer
