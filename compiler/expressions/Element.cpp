#include "compiler/expressions/Element.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace freestone::expressions {

Element Element::fraction(sym::Expr numerator, sym::Expr denominator) {
  std::optional<int64_t> above = numerator.asConstant(), below = denominator.asConstant();
  if (below == 1)
    return Element(numerator);
  if (above && below)
    return Element(double(*above) / double(*below));
  Element element(numerator);
  element.denominator = denominator;
  return element;
}

Element Element::map(llvm::function_ref<sym::Expr(sym::Expr)> replace) const {
  if (!numerator)
    return *this;
  return denominator ? fraction(replace(numerator), replace(denominator)) : Element(replace(numerator));
}

double roundTo(double value, mlir::Type type) {
  auto floatType = dyn_cast<mlir::FloatType>(type);
  if (!floatType)
    return value;
  APFloat rounded(value);
  bool inexact;
  rounded.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
  rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return rounded.convertToDouble();
}

std::string typeName(mlir::Type type) {
  if (type.isUnsignedInteger())
    return "u" + std::to_string(type.getIntOrFloatBitWidth());
  // Formats of which there are no others are named without their suffix.
  if (isa<mlir::Float8E8M0FNUType>(type))
    return "f8e8m0";
  if (isa<mlir::Float4E2M1FNType>(type))
    return "f4e2m1";
  std::string text;
  raw_string_ostream(text) << type;
  return StringRef(text).lower();
}

} // namespace freestone::expressions
