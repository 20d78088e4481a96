// Contractions and windows.
#include "compiler/expressions/Expressions.h"

using namespace llvm;

namespace freestone::expressions {
namespace {

mlir::TypeAttr typeAttr(mlir::Type type) { return type ? mlir::TypeAttr::get(type) : mlir::TypeAttr(); }

bool isPositive(ArrayRef<int64_t> values) {
  return llvm::all_of(values, [](int64_t value) { return value >= 1 && value < (int64_t(1) << 31); });
}

/// Broadcasts the leading dimensions to their common shape; the last `kept` stay unchanged.
bool broadcastBatches(Tensor &lhs, Tensor &rhs, int64_t kept) {
  GraphBuilder &builder = lhs.builder();
  std::optional<Shape> shape =
      broadcastShapes(builder, {Shape(lhs.shape().drop_back(kept)), Shape(rhs.shape().drop_back(kept))});
  if (!shape)
    return false;
  for (Tensor *side : {&lhs, &rhs}) {
    Shape whole(*shape);
    llvm::append_range(whole, side->shape().take_back(kept));
    if (!(*side = broadcastTo(*side, whole)))
      return false;
  }
  return true;
}

} // namespace

Tensor contract(Tensor lhs, Tensor rhs, const ContractAxes &axes, mlir::Type resultType) {
  if (!lhs || !rhs)
    return {};
  GraphBuilder &builder = lhs.builder();
  if (lhs.elementType() != rhs.elementType() && !resultType)
    return builder.reject("the operands have different types");
  Shape expected(rhs.shape());
  for (auto [left, right] :
       {std::pair(&axes.lhsBatch, &axes.rhsBatch), std::pair(&axes.lhsContract, &axes.rhsContract)})
    for (auto [l, r] : zip_equal(*left, *right))
      expected[r] = lhs.dim(l);
  rhs = conform(rhs, expected, "sizes of dimensions that are multiplied");
  if (!rhs)
    return rhs;
  mlir::Value left = lhs.value(), right = rhs.value();
  return builder.emit<graph::ContractOp>(left, right, axes.lhsBatch, axes.rhsBatch, axes.lhsContract, axes.rhsContract,
                                         typeAttr(resultType));
}

Tensor matmul(Tensor lhs, Tensor rhs, mlir::Type resultType) {
  if (!lhs || !rhs)
    return {};
  GraphBuilder &builder = lhs.builder();
  if (lhs.rank() == 0 || rhs.rank() == 0)
    return builder.reject("a scalar can't be multiplied as a matrix");
  if (rhs.rank() <= 2) {
    ContractAxes axes;
    axes.lhsContract = {lhs.rank() - 1};
    axes.rhsContract = {rhs.rank() == 1 ? 0 : rhs.rank() - 2};
    return contract(lhs, rhs, axes, resultType);
  }
  bool isVector = lhs.rank() == 1;
  if (isVector)
    lhs = unsqueeze(lhs, {0});
  if (!lhs || !broadcastBatches(lhs, rhs, 2))
    return {};
  ContractAxes axes;
  for (int64_t axis = 0; axis < lhs.rank() - 2; ++axis) {
    axes.lhsBatch.push_back(axis);
    axes.rhsBatch.push_back(axis);
  }
  axes.lhsContract = {lhs.rank() - 1};
  axes.rhsContract = {rhs.rank() - 2};
  Tensor product = contract(lhs, rhs, axes, resultType);
  return isVector ? squeeze(product, {-2}) : product;
}

Tensor convolve(Tensor x, Tensor w, const Window &window, ArrayRef<int64_t> lhsDilations, int64_t groups,
                mlir::Type resultType) {
  if (!x || !w)
    return {};
  GraphBuilder &builder = x.builder();
  if (groups < 1 || !isPositive(window.strides) || !isPositive(window.dilations) || !isPositive(lhsDilations))
    return builder.reject("strides, dilations and groups must be positive");
  Shape expected(x.shape());
  expected[1] = w.dim(1) * groups;
  x = conform(x, expected, "channels of the input and of the filters");
  if (!x)
    return x;
  mlir::Value operand = x.value(), kernel = w.value();
  return builder.emit<graph::ConvolveOp>(operand, kernel, window.strides, window.dilations, lhsDilations,
                                         builder.current(window.low), builder.current(window.high), uint64_t(groups),
                                         typeAttr(resultType));
}

Tensor windowReduce(graph::ReduceKind kind, Tensor x, const Window &window) {
  if (!x)
    return x;
  GraphBuilder &builder = x.builder();
  return builder.emit<graph::WindowOp>(kind, x.value(), window.sizes, window.strides, window.dilations,
                                       builder.current(window.low), builder.current(window.high));
}

Tensor windowArgmax(Tensor x, const Window &window) {
  if (!x)
    return x;
  GraphBuilder &builder = x.builder();
  return builder.emit<graph::WindowArgmaxOp>(x.value(), window.sizes, window.strides, window.dilations,
                                             builder.current(window.low), builder.current(window.high));
}

} // namespace freestone::expressions
