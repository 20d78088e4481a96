#include "compiler/dialect/graph/GraphDialect.h"
#include <cmath>

using namespace mlir;

namespace freestone::graph {

bool isSubByte(Type type) { return !type.isSignlessInteger(1) && type.getIntOrFloatBitWidth() < 8; }

bool isStorageOnly(Type type) {
  if (isa<Float8E4M3FNType, Float8E4M3FNUZType, Float8E5M2Type, Float8E5M2FNUZType, Float8E8M0FNUType,
          Float4E2M1FNType>(type))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSigned() && (integer.getWidth() == 2 || integer.getWidth() == 4);
}

bool isElementType(Type type) {
  if (isStorageOnly(type) || type.isF16() || type.isBF16() || type.isF32() || type.isF64() || type.isSignlessInteger(1))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSigned() && llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth());
}

std::optional<int64_t> toFloatSymbol(double number) {
  double scaled = std::ldexp(number, floatSymbolBits);
  return std::fabs(scaled) < 0x1p62 && scaled == std::trunc(scaled) ? std::optional<int64_t>(scaled) : std::nullopt;
}

TensorType TensorType::getStatic(ArrayRef<int64_t> shape, Type elementType) {
  MLIRContext *context = elementType.getContext();
  return get(llvm::map_to_vector(shape, [&](int64_t size) { return sym::Expr::constant(context, size); }), elementType);
}

Type TensorType::parse(AsmParser &parser) {
  SmallVector<sym::Expr> shape;
  Type elementType;
  Attribute layout;
  llvm::SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || sym::parseShape(parser, shape) || parser.parseComma() || parser.parseType(elementType) ||
      (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout)) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(location); }, parser.getContext(), ArrayRef(shape), elementType,
                    layout);
}

void TensorType::print(AsmPrinter &printer) const {
  printer << "<";
  sym::printShape(printer, getShape());
  printer << ", " << getElementType();
  if (getLayout())
    printer << ", " << getLayout();
  printer << ">";
}

LogicalResult TensorType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<sym::Expr> shape,
                                 Type elementType, Attribute layout) {
  if (!isElementType(elementType))
    return emitError() << "tensors have no elements of type " << elementType;
  if (isa_and_nonnull<PackedAttr>(layout) && !isSubByte(elementType))
    return emitError() << "elements of type " << elementType << " are not packed into bytes";
  for (sym::Expr size : shape)
    if (std::optional<int64_t> constant = size.asConstant(); constant && *constant < 0)
      return emitError() << "a tensor can't have the size " << *constant;
  return success();
}

sym::Expr TensorType::getNumElements() const {
  sym::Expr product = sym::Expr::constant(getContext(), 1);
  for (sym::Expr size : getShape())
    product = product * size;
  return product;
}

std::optional<SmallVector<int64_t>> TensorType::getStaticShape() const {
  SmallVector<int64_t> shape;
  for (sym::Expr size : getShape()) {
    std::optional<int64_t> constant = size.asConstant();
    if (!constant)
      return std::nullopt;
    shape.push_back(*constant);
  }
  return shape;
}

sym::Expr PackedAttr::getStorageSize(TensorType type) {
  return sym::Expr::ceilDiv(type.getNumElements(), getElementsPerByte(type.getElementType()));
}

Attribute ExprsAttr::parse(AsmParser &parser, Type) {
  SmallVector<sym::Expr> exprs;
  if (parser.parseLess() || sym::parseShape(parser, exprs) || parser.parseGreater())
    return {};
  return get(parser.getContext(), exprs);
}

void ExprsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  sym::printShape(printer, getValue());
  printer << ">";
}

Type getTypeOfRefused(MLIRContext *context, ValueRange operands) {
  return operands.empty() ? TensorType::get({}, Float32Type::get(context)) : operands.front().getType();
}

} // namespace freestone::graph
