#include "compiler/dialect/graph/ShapeRules.h"

using namespace mlir;

namespace freestone::graph {

static bool accepts(ReduceKind kind, Type type) {
  bool logical = kind == ReduceKind::and_ || kind == ReduceKind::or_;
  bool extremum = kind == ReduceKind::max || kind == ReduceKind::min;
  if (isFloat(type))
    return !logical;
  return !isBool(type) || logical || extremum;
}

/// The shape without some of its dimensions.
static TensorType dropDims(TensorType type, ArrayRef<int64_t> dims) {
  SmallVector<sym::Expr> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(type.getDim(dim));
  return type.withShape(shape);
}

FailureOr<TensorType> ReduceOp::deduce(Adaptor op, Refusal refuse) {
  TensorType type = typeOf(op.getOperand());
  if (!areDims(op.getAxes(), type))
    return refuse("names no dimensions of ", type, " to reduce");
  if (!accepts(op.getKind(), type.getElementType()))
    return refuse("has no '", stringifyReduceKind(op.getKind()), "' of ", type);
  return dropDims(type, op.getAxes());
}

/// The transposition of a tensor, or of what it is a reshape of, if it moves no dimensions but those from `first` on;
/// null if there is none.
static TransposeOp findTransposition(Value tensor, int64_t first) {
  if (auto reshape = tensor.getDefiningOp<ReshapeOp>()) {
    auto groups = getReshapeGroups(typeOf(reshape.getOperand()).getShape(), typeOf(reshape).getShape());
    auto isKept = [&](unsigned dim) {
      return llvm::any_of(groups, [&](const ReshapeGroup &group) {
        return group.fromBegin == dim && group.fromEnd == dim + 1 && group.toBegin == dim && group.toEnd == dim + 1;
      });
    };
    if (!llvm::all_of(llvm::seq<unsigned>(first), isKept))
      return {};
    tensor = reshape.getOperand();
  }
  auto transposition = tensor.getDefiningOp<TransposeOp>();
  bool isInPlace = transposition && llvm::all_of(llvm::seq<int64_t>(first), [&](int64_t dim) {
                     return transposition.getPermutation()[dim] == dim;
                   });
  return isInPlace ? transposition : TransposeOp();
}

OpFoldResult ReduceOp::fold(FoldAdaptor) { return getAxes().empty() ? getOperand() : Value(); }

/// All trailing dimensions are reduced as they lie, before a transposition of them.
LogicalResult ReduceOp::canonicalize(ReduceOp op, PatternRewriter &rewriter) {
  SmallVector<int64_t> axes(op.getAxes());
  llvm::sort(axes);
  int64_t rank = typeOf(op.getOperand()).getRank(), first = axes.empty() ? rank : axes.front();
  if (axes.empty() || !llvm::equal(axes, llvm::seq<int64_t>(first, rank)))
    return failure();
  TransposeOp transposition = findTransposition(op.getOperand(), first);
  if (!transposition)
    return failure();
  Value source = transposition.getOperand();
  rewriter.modifyOpInPlace(op, [&] {
    op.getOperandMutable().assign(source);
    op.setAxes(llvm::to_vector(llvm::seq<int64_t>(first, typeOf(source).getRank())));
  });
  return success();
}

FailureOr<TensorType> ArgReduceOp::deduce(Adaptor op, Refusal refuse) {
  TensorType type = typeOf(op.getOperand());
  int64_t axis = op.getAxis();
  if (!hasAxis(type, axis))
    return refuse("has no axis ", axis, " in ", type);
  return dropDims(type, axis).withElementType(IntegerType::get(type.getContext(), 64));
}

FailureOr<TensorType> CumulateOp::deduce(Adaptor op, Refusal refuse) {
  TensorType type = typeOf(op.getOperand());
  int64_t axis = op.getAxis();
  if (!hasAxis(type, axis))
    return refuse("has no axis ", axis, " in ", type);
  if (!accepts(op.getKind(), type.getElementType()))
    return refuse("has no '", stringifyReduceKind(op.getKind()), "' of ", type);
  return type;
}

} // namespace freestone::graph
