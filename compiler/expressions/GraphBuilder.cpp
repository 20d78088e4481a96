#include "compiler/expressions/GraphBuilder.h"
#include "compiler/expressions/Operations.h"

using namespace llvm;

namespace freestone::expressions {

mlir::DenseElementsAttr denseOf(const Content &content, ArrayRef<int64_t> dims, mlir::Type type) {
  auto tensorType = mlir::RankedTensorType::get(dims, type);
  if (auto floatType = dyn_cast<mlir::FloatType>(type)) {
    SmallVector<APFloat> values;
    for (const Element &element : content) {
      APFloat value(*element.asReal());
      bool inexact;
      value.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
      values.push_back(value);
    }
    return mlir::DenseElementsAttr::get(tensorType, values);
  }
  SmallVector<APInt> values;
  for (const Element &element : content)
    values.push_back(APInt(type.getIntOrFloatBitWidth(), *element.asConstantInteger(), /*isSigned=*/true,
                           /*implicitTrunc=*/true));
  return mlir::DenseElementsAttr::get(tensorType, values);
}

Tensor GraphBuilder::add(Tensor::State state) {
  tensors.push_back(std::move(state));
  return Tensor(&tensors.back());
}

Tensor GraphBuilder::fromValue(mlir::Value value) {
  auto type = cast<graph::TensorType>(value.getType());
  return add({this, Shape(type.getShape()), type.getElementType(), value, std::nullopt, {}});
}

Tensor GraphBuilder::fromContent(Content content, ArrayRef<Expr> shape, mlir::Type type) {
  return fromValue(createContent(content, shape, type));
}

Tensor GraphBuilder::scalar(double value, mlir::Type type) {
  if (isa<mlir::FloatType>(type))
    return fromContent({Element(roundTo(value, type))}, {}, type);
  return scalar(size(value), type);
}

Tensor GraphBuilder::vector(ArrayRef<Expr> elements) {
  Content content(elements.begin(), elements.end());
  return fromContent(std::move(content), size(elements.size()), getI64Type());
}

Tensor GraphBuilder::splat(double value, mlir::Type type, ArrayRef<Expr> shape) {
  if (keepsContent())
    return broadcastTo(scalar(value, type), shape);
  return fromValue(graph::ConstantOp::create(*this, graph::TensorType::get(shape, type), value));
}

Shape GraphBuilder::sizes(ArrayRef<int64_t> values) {
  Shape sizes;
  for (int64_t value : values)
    sizes.push_back(size(value));
  return sizes;
}

Shape GraphBuilder::current(ArrayRef<Expr> exprs) const {
  Shape shape;
  for (Expr expr : exprs)
    shape.push_back(current(expr));
  return shape;
}

const sym::Bounds &GraphBuilder::bounds() const {
  static const sym::Bounds nothing;
  return nothing;
}

bool GraphBuilder::makeEqual(ArrayRef<Expr> lhs, ArrayRef<Expr> rhs, const Twine &what) {
  Shape left(lhs), right(rhs);
  for (auto [l, r] : zip_equal(left, right))
    if (!makeEqual(l, r, what))
      return false;
  return true;
}

Expr GraphBuilder::freshCount(StringRef stem, Expr most) {
  refuse("the number '" + stem + "' depends on data, which a graph that stands has no symbol for");
  return Expr::constant(getContext(), 0);
}

Tensor GraphBuilder::stop(Refusal::Kind kind, const Twine &reason) {
  if (!refusal)
    refusal = Refusal{kind, reason.str()};
  return {};
}

mlir::Value GraphBuilder::simplified(mlir::Operation *op) {
  SmallVector<mlir::Value> folded;
  if (failed(tryFold(op, folded)) || folded.empty())
    return op->getResult(0);
  op->erase();
  return folded.front();
}

mlir::Value GraphBuilder::createLargeConstant(const Content &content, graph::TensorType type) {
  refuse("a constant of " + Twine(content.size()) + " elements is too large for the program");
  return graph::ConstantOp::create(*this, type, 0.0);
}

mlir::Value GraphBuilder::createContent(const Content &content, ArrayRef<Expr> shape, mlir::Type type) {
  auto tensorType = graph::TensorType::get(shape, type);
  if (llvm::all_of(content, [](const Element &element) { return element.isConstant(); })) {
    SmallVector<int64_t> dims;
    for (Expr extent : shape)
      dims.push_back(*extent.asConstant());
    if (content.empty()) // one element, broadcast to an empty shape
      return create<graph::ConstantOp>(tensorType, denseOf({Element(size(0))}, {}, type)).getResult();
    mlir::DenseElementsAttr dense = denseOf(content, dims, type);
    if (int64_t(content.size()) <= graph::ConstantOp::getMaxElements(shape.size(), type) || dense.isSplat())
      return create<graph::ConstantOp>(tensorType, dense).getResult();
    return createLargeConstant(content, tensorType);
  }
  SmallVector<Expr> above, below;
  for (const Element &element : content) {
    std::optional<double> real = element.asReal();
    if (real && *real != std::trunc(*real)) {
      refuse("a small tensor mixes sizes with fractions");
      real = 0;
    }
    above.push_back(real ? size(*real) : element.isFraction() ? element.getNumerator() : element.asExpr());
    below.push_back(element.isFraction() ? element.getDenominator() : size(1));
  }
  auto valuesOf = [&](ArrayRef<Expr> exprs, mlir::Type type) {
    mlir::Value value = create<graph::SizesOp>(exprs, shape.empty()).getResult();
    if (shape.size() > 1)
      value = create<graph::ReshapeOp>(graph::TensorType::get(shape, getI64Type()), value).getResult();
    return type == getI64Type() ? value : create<graph::CastOp>(value, mlir::TypeAttr::get(type)).getResult();
  };
  if (llvm::none_of(content, [](const Element &element) { return element.isFraction(); }))
    return valuesOf(above, type);
  mlir::Value dividend = valuesOf(above, getF64Type()), divisor = valuesOf(below, getF64Type());
  mlir::Value quotient = create<graph::BinaryOp>(BinaryKind::div, dividend, divisor).getResult();
  return type.isF64() ? quotient : create<graph::CastOp>(quotient, mlir::TypeAttr::get(type)).getResult();
}

} // namespace freestone::expressions
