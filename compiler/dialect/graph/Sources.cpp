#include "compiler/dialect/graph/ShapeRules.h"

using namespace mlir;

namespace freestone::graph {

void ConstantOp::build(OpBuilder &builder, OperationState &state, DenseElementsAttr value) {
  build(builder, state, TensorType::getStatic(value.getType().getShape(), value.getElementType()), value);
}

/// The one element of a constant.
static DenseElementsAttr getScalar(Attribute element, Type type) {
  return DenseElementsAttr::get(RankedTensorType::get({}, type), element);
}

void ConstantOp::build(OpBuilder &builder, OperationState &state, TensorType type, double value) {
  Type elementType = type.getElementType();
  if (!isa<FloatType>(elementType))
    return build(builder, state, type, static_cast<int64_t>(value));
  build(builder, state, type, getScalar(builder.getFloatAttr(elementType, value), elementType));
}

void ConstantOp::build(OpBuilder &builder, OperationState &state, TensorType type, int64_t value) {
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  if (!integer)
    return build(builder, state, type, static_cast<double>(value));
  APInt bits(integer.getWidth(), isBool(integer) ? value != 0 : value, /*isSigned=*/true, /*implicitTrunc=*/true);
  build(builder, state, type, getScalar(IntegerAttr::get(integer, bits), integer));
}

LogicalResult ConstantOp::verify() {
  auto value = dyn_cast<DenseElementsAttr>(getValue());
  if (!value)
    return emitOpError("holds dense elements");
  if (value.getElementType() != getType().getElementType())
    return emitOpError("has elements of ") << value.getElementType() << " for " << getType();
  if (value.isSplat())
    return success();
  std::optional<SmallVector<int64_t>> shape = getType().getStaticShape();
  if (!shape || ArrayRef(*shape) != value.getType().getShape())
    return emitOpError("has elements of shape ") << value.getType() << " for " << getType();
  int64_t most = getMaxElements(getType().getRank(), getType().getElementType());
  if (value.getNumElements() > most)
    return emitOpError("has ") << value.getNumElements() << " elements; more than " << most << " are a weight";
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

FailureOr<TensorType> SizesOp::deduce(Adaptor op, Refusal refuse) {
  auto attr = op.getSizesAttr();
  int64_t count = op.getSizes().size();
  Type i64 = IntegerType::get(attr.getContext(), 64);
  if (op.getScalar() && count != 1)
    return refuse("has ", count, " sizes for one element");
  return op.getScalar() ? TensorType::get({}, i64) : TensorType::getStatic(count, i64);
}

OpFoldResult SizesOp::fold(FoldAdaptor) {
  SmallVector<int64_t> values;
  for (sym::Expr size : getSizes()) {
    std::optional<int64_t> constant = size.asConstant();
    if (!constant || values.size() == ConstantOp::maxElements)
      return {};
    values.push_back(*constant);
  }
  auto type = RankedTensorType::get(getScalar() ? ArrayRef<int64_t>() : ArrayRef<int64_t>(values.size()),
                                    IntegerType::get(getContext(), 64));
  return DenseElementsAttr::get(type, ArrayRef(values));
}

LogicalResult IotaOp::verify() {
  if (!hasAxis(getType(), getDim()) || isBool(getType().getElementType()))
    return emitOpError("can't count along dimension ") << static_cast<int64_t>(getDim()) << " of " << getType();
  return success();
}

LogicalResult RandomBitsOp::verify() {
  TensorType key = typeOf(getKey());
  Type type = getType().getElementType();
  if (key != TensorType::getStatic(4, IntegerType::get(getContext(), 32, IntegerType::Unsigned)))
    return emitOpError("needs a key of 4 elements of ui32, not ") << key;
  if (!type.isUnsignedInteger(32) && !type.isUnsignedInteger(64))
    return emitOpError("gives ui32 or ui64, not ") << type;
  return success();
}

FailureOr<TensorType> BarrierOp::deduce(Adaptor op, Refusal) { return typeOf(op.getOperand()); }

} // namespace freestone::graph
