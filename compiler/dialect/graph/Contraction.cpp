#include "compiler/dialect/graph/ShapeRules.h"

using namespace mlir;

namespace freestone::graph {

/// The dimensions that are in neither list, ascending.
static SmallVector<int64_t> getFreeDims(int64_t rank, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
  SmallVector<int64_t> free;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim))
      free.push_back(dim);
  return free;
}

SmallVector<int64_t> ContractOp::getLhsFree() {
  return getFreeDims(typeOf(getLhs()).getRank(), getLhsBatch(), getLhsContract());
}

SmallVector<int64_t> ContractOp::getRhsFree() {
  return getFreeDims(typeOf(getRhs()).getRank(), getRhsBatch(), getRhsContract());
}

/// The element type of the sums of products; null if the operands have none in common.
static Type getProductType(TensorType lhs, TensorType rhs, std::optional<Type> wanted) {
  Type left = lhs.getElementType(), right = rhs.getElementType();
  if (isBool(left) || isBool(right) || (wanted && (!isElementType(*wanted) || isBool(*wanted))))
    return {};
  if (wanted)
    return isFloat(left) == isFloat(right) && (isFloat(*wanted) || !isFloat(left)) ? *wanted : Type();
  return left == right ? left : Type();
}

FailureOr<TensorType> ContractOp::deduce(Adaptor op, Refusal refuse) {
  TensorType lhs = typeOf(op.getLhs()), rhs = typeOf(op.getRhs());
  auto dims = [](ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
    return llvm::to_vector(llvm::concat<const int64_t>(batch, contract));
  };
  SmallVector<int64_t> lhsDims = dims(op.getLhsBatch(), op.getLhsContract()),
                       rhsDims = dims(op.getRhsBatch(), op.getRhsContract());
  if (!areDims(lhsDims, lhs) || !areDims(rhsDims, rhs) || op.getLhsBatch().size() != op.getRhsBatch().size() ||
      lhsDims.size() != rhsDims.size())
    return refuse("names no pairs of dimensions of ", lhs, " and ", rhs);
  for (auto [i, j] : llvm::zip_equal(lhsDims, rhsDims))
    if (lhs.getDim(i) != rhs.getDim(j))
      return refuse("can't pair size ", lhs.getDim(i).str(), " with ", rhs.getDim(j).str(), ": dimension ", i, " of ",
                    lhs, " with dimension ", j, " of ", rhs);
  Type elementType = getProductType(lhs, rhs, op.getElementType());
  if (!elementType)
    return refuse("has no products of ", lhs, " and ", rhs);

  SmallVector<sym::Expr> shape;
  for (int64_t dim : op.getLhsBatch())
    shape.push_back(lhs.getDim(dim));
  for (int64_t dim : getFreeDims(lhs.getRank(), op.getLhsBatch(), op.getLhsContract()))
    shape.push_back(lhs.getDim(dim));
  for (int64_t dim : getFreeDims(rhs.getRank(), op.getRhsBatch(), op.getRhsContract()))
    shape.push_back(rhs.getDim(dim));
  return TensorType::get(shape, elementType);
}

static bool arePositive(ArrayRef<int64_t> values) {
  return llvm::all_of(values, [](int64_t value) { return value > 0; });
}

FailureOr<TensorType> ConvolveOp::deduce(Adaptor op, Refusal refuse) {
  TensorType operand = typeOf(op.getOperand()), kernel = typeOf(op.getKernel());
  size_t spatial = op.getStrides().size();
  int64_t groups = op.getGroups();
  if (operand.getRank() != static_cast<int64_t>(spatial) + 2 || kernel.getRank() != operand.getRank() ||
      op.getDilations().size() != spatial || op.getOperandDilation().size() != spatial ||
      op.getLow().size() != spatial || op.getHigh().size() != spatial)
    return refuse("needs strides, dilations and padding for each spatial dimension of ", operand, " and ", kernel);
  if (!arePositive(op.getStrides()) || !arePositive(op.getDilations()) || !arePositive(op.getOperandDilation()) ||
      groups < 1)
    return refuse("needs strides, dilations and groups of at least 1");
  if (operand.getDim(1) != kernel.getDim(1) * groups)
    return refuse("has ", operand.getDim(1).str(), " channels in ", operand, " where ", kernel, " in ", groups,
                  " groups needs ", (kernel.getDim(1) * groups).str());
  if (std::optional<int64_t> channels = kernel.getDim(0).asConstant(); channels && *channels % groups != 0)
    return refuse("can't divide ", *channels, " output channels into ", groups, " groups");
  Type elementType = getProductType(operand, kernel, op.getElementType());
  if (!elementType)
    return refuse("has no products of ", operand, " and ", kernel);

  SmallVector<sym::Expr> shape = {operand.getDim(0), kernel.getDim(0)};
  for (size_t i = 0; i < spatial; ++i) {
    sym::Expr spread = (operand.getDim(i + 2) - 1) * op.getOperandDilation()[i] + 1;
    sym::Expr span = (kernel.getDim(i + 2) - 1) * op.getDilations()[i] + 1;
    shape.push_back(getWindowPlaces(spread + op.getLow()[i] + op.getHigh()[i], span, op.getStrides()[i]));
  }
  return TensorType::get(shape, elementType);
}

template <typename Adaptor> static FailureOr<TensorType> deduceWindows(Adaptor op, Refusal refuse) {
  TensorType operand = typeOf(op.getOperand());
  size_t spatial = op.getSizes().size();
  if (operand.getRank() < static_cast<int64_t>(spatial) || op.getStrides().size() != spatial ||
      op.getDilations().size() != spatial || op.getLow().size() != spatial || op.getHigh().size() != spatial)
    return refuse("needs sizes, strides, dilations and padding for the same trailing dimensions of ", operand);
  if (!arePositive(op.getSizes()) || !arePositive(op.getStrides()) || !arePositive(op.getDilations()))
    return refuse("needs sizes, strides and dilations of at least 1");
  if (isBool(operand.getElementType()))
    return refuse("has no windows of ", operand);
  SmallVector<sym::Expr> shape(operand.getShape());
  for (size_t i = 0; i < spatial; ++i) {
    sym::Expr &size = shape[shape.size() - spatial + i];
    sym::Expr span = sym::Expr::constant(operand.getContext(), (op.getSizes()[i] - 1) * op.getDilations()[i] + 1);
    size = getWindowPlaces(size + op.getLow()[i] + op.getHigh()[i], span, op.getStrides()[i]);
  }
  return operand.withShape(shape);
}

FailureOr<TensorType> WindowOp::deduce(Adaptor op, Refusal refuse) {
  if (op.getKind() != ReduceKind::max && op.getKind() != ReduceKind::add)
    return refuse("combines by 'max' or 'add', not '", stringifyReduceKind(op.getKind()), "'");
  return deduceWindows(op, refuse);
}

FailureOr<TensorType> WindowArgmaxOp::deduce(Adaptor op, Refusal refuse) {
  FailureOr<TensorType> windows = deduceWindows(op, refuse);
  if (failed(windows))
    return failure();
  return windows->withElementType(IntegerType::get(windows->getContext(), 64));
}

} // namespace freestone::graph
