#include "compiler/dialect/graph/ShapeRules.h"

using namespace mlir;

namespace freestone::graph {

void BroadcastOp::build(OpBuilder &builder, OperationState &state, Value operand, ArrayRef<sym::Expr> shape,
                        ArrayRef<int64_t> dims) {
  build(builder, state, typeOf(operand).withShape(shape), operand, dims);
}

LogicalResult BroadcastOp::verify() {
  TensorType from = typeOf(getOperand()), to = getType();
  if (from.getElementType() != to.getElementType())
    return emitOpError("can't change elements of ") << from << " to " << to;
  if (static_cast<int64_t>(getDims().size()) != from.getRank() || !areDims(getDims(), to) ||
      !llvm::is_sorted(getDims()))
    return emitOpError("needs a dimension of ") << to << ", ascending, for each of " << from;
  for (auto [size, dim] : llvm::zip_equal(from.getShape(), getDims()))
    if (!size.isConstant(1) && size != to.getDim(dim))
      return emitOpError("can't make size ") << size.str() << " to " << to.getDim(dim).str() << " at dimension " << dim
                                             << ", from " << from << " to " << to;
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor op) {
  if (getOperand().getType() == getType())
    return getOperand();
  return getSplat(op.getOperand());
}

/// Merges a broadcast of a broadcast, or of a reshape that only adds sizes of 1, into one broadcast.
LogicalResult BroadcastOp::canonicalize(BroadcastOp op, PatternRewriter &rewriter) {
  if (auto before = op.getOperand().getDefiningOp<BroadcastOp>()) {
    SmallVector<int64_t> dims = llvm::map_to_vector(before.getDims(), [&](int64_t dim) { return op.getDims()[dim]; });
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), before.getOperand(), dims);
    return success();
  }
  auto reshape = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!reshape)
    return failure();
  SmallVector<sym::Expr> kept;
  SmallVector<int64_t> dims;
  for (auto [size, dim] : llvm::zip_equal(getShape(reshape), op.getDims()))
    if (!size.isConstant(1)) {
      kept.push_back(size);
      dims.push_back(dim);
    }
  if (ArrayRef(kept) != getShape(reshape.getOperand()))
    return failure();
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), reshape.getOperand(), dims);
  return success();
}

FailureOr<TensorType> PackOp::deduce(Adaptor op, Refusal refuse) {
  TensorType type = typeOf(op.getOperand());
  if (type.getLayout() || !isSubByte(type.getElementType()))
    return refuse("has no elements to pack in ", type);
  return TensorType::get(type.getContext(), type.getShape(), type.getElementType(), PackedAttr::get(type.getContext()));
}

OpFoldResult PackOp::fold(FoldAdaptor) {
  auto unpack = getOperand().getDefiningOp<UnpackOp>();
  return unpack ? OpFoldResult(unpack.getOperand()) : OpFoldResult();
}

FailureOr<TensorType> UnpackOp::deduce(Adaptor op, Refusal refuse) {
  TensorType type = typeOf(op.getOperand());
  if (!isa_and_nonnull<PackedAttr>(type.getLayout()))
    return refuse("has no packed elements in ", type);
  return TensorType::get(type.getShape(), type.getElementType());
}

void ReshapeOp::build(OpBuilder &builder, OperationState &state, Value operand, ArrayRef<sym::Expr> shape) {
  build(builder, state, typeOf(operand).withShape(shape), operand);
}

LogicalResult ReshapeOp::verify() {
  TensorType from = typeOf(getOperand()), to = getType();
  if (from.getElementType() != to.getElementType())
    return emitOpError("can't change elements of ") << from << " to " << to;
  if (haveDifferentProducts(from, to))
    return emitOpError("can't make ") << to.getNumElements().str() << " elements of " << from.getNumElements().str()
                                      << ", from " << from << " to " << to;
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor op) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (Attribute splat = getSplat(op.getOperand()))
    return splat;
  auto constant = dyn_cast_or_null<DenseElementsAttr>(op.getOperand());
  std::optional<SmallVector<int64_t>> shape = getType().getStaticShape();
  if (!constant || !shape)
    return {};
  return constant.reshape(RankedTensorType::get(*shape, constant.getElementType()));
}

LogicalResult ReshapeOp::canonicalize(ReshapeOp op, PatternRewriter &rewriter) {
  auto before = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!before)
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), before.getOperand());
  return success();
}

FailureOr<TensorType> TransposeOp::deduce(Adaptor op, Refusal refuse) {
  TensorType type = typeOf(op.getOperand());
  ArrayRef<int64_t> permutation = op.getPermutation();
  if (static_cast<int64_t>(permutation.size()) != type.getRank() || !areDims(permutation, type))
    return refuse("needs a permutation of the dimensions of ", type);
  return type.withShape(llvm::map_to_vector(permutation, [&](int64_t dim) { return type.getDim(dim); }));
}

OpFoldResult TransposeOp::fold(FoldAdaptor op) {
  if (llvm::is_sorted(getPermutation()))
    return getOperand();
  return getSplat(op.getOperand());
}

/// Merges a transpose of a transpose; a transpose that only moves sizes of 1 becomes a reshape.
LogicalResult TransposeOp::canonicalize(TransposeOp op, PatternRewriter &rewriter) {
  ArrayRef<int64_t> permutation = op.getPermutation();
  if (auto before = op.getOperand().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> composed =
        llvm::map_to_vector(permutation, [&](int64_t dim) { return before.getPermutation()[dim]; });
    rewriter.replaceOpWithNewOp<TransposeOp>(op, before.getOperand(), composed);
    return success();
  }
  TensorType type = typeOf(op.getOperand());
  SmallVector<int64_t> moved =
      llvm::filter_to_vector(permutation, [&](int64_t dim) { return !type.getDim(dim).isConstant(1); });
  if (!llvm::is_sorted(moved))
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getOperand());
  return success();
}

FailureOr<TensorType> SliceOp::deduce(Adaptor op, Refusal refuse) {
  TensorType type = typeOf(op.getOperand());
  size_t rank = type.getRank();
  if (op.getStarts().size() != rank || op.getSizes().size() != rank || op.getSteps().size() != rank)
    return refuse("needs a start, a size and a step for each dimension of ", type);
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t step = op.getSteps()[dim];
    if (step == 0)
      return refuse("has a step of 0 at dimension ", dim);
    std::optional<int64_t> start = op.getStarts()[dim].asConstant(), size = op.getSizes()[dim].asConstant();
    if (size && *size < 0)
      return refuse("takes ", *size, " elements at dimension ", dim);
    if (!start || (size && *size == 0))
      continue;
    std::optional<int64_t> extent = type.getDim(dim).asConstant();
    int64_t last = *start + (size.value_or(1) - 1) * step;
    if (*start < 0 || last < 0 || (extent && (*start >= *extent || last >= *extent)))
      return refuse("takes elements from ", *start, " to ", last, " at dimension ", dim, " of ", type);
  }
  return type.withShape(op.getSizes());
}

OpFoldResult SliceOp::fold(FoldAdaptor op) {
  if (Attribute splat = getSplat(op.getOperand()))
    return splat;
  for (auto [start, step] : llvm::zip_equal(getStarts(), getSteps()))
    if (!start.isConstant(0) || step != 1)
      return {};
  return getOperand().getType() == getType() ? getOperand() : Value();
}

/// Merges a slice of a slice, as a reversal of a reversal.
LogicalResult SliceOp::canonicalize(SliceOp op, PatternRewriter &rewriter) {
  auto before = op.getOperand().getDefiningOp<SliceOp>();
  if (!before)
    return failure();
  SmallVector<sym::Expr> starts;
  SmallVector<int64_t> steps;
  for (auto [first, step, innerFirst, innerStep] :
       llvm::zip_equal(op.getStarts(), op.getSteps(), before.getStarts(), before.getSteps())) {
    starts.push_back(innerFirst + first * innerStep);
    if (__builtin_mul_overflow(step, innerStep, &steps.emplace_back()))
      return failure();
  }
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), before.getOperand(), starts, op.getSizes(), steps);
  return success();
}

FailureOr<TensorType> PadOp::deduce(Adaptor op, Refusal refuse) {
  TensorType type = typeOf(op.getOperand()), value = typeOf(op.getValue());
  size_t rank = type.getRank();
  if (value != TensorType::get({}, type.getElementType()))
    return refuse("pads ", type, " with one element of that type, not ", value);
  if (op.getLow().size() != rank || op.getHigh().size() != rank || op.getInterior().size() != rank)
    return refuse("needs padding for each dimension of ", type);
  SmallVector<sym::Expr> shape;
  for (auto [size, low, high, interior] :
       llvm::zip_equal(type.getShape(), op.getLow(), op.getHigh(), op.getInterior())) {
    if (interior < 0)
      return refuse("can't pad ", interior, " elements between neighbours");
    sym::Expr spread = size;
    if (interior != 0)
      spread = sym::Expr::max(size * (interior + 1) - interior, sym::Expr::constant(type.getContext(), 0));
    shape.push_back(spread + low + high);
    if (std::optional<int64_t> padded = shape.back().asConstant(); padded && *padded < 0)
      return refuse("cuts more off than there is of ", type);
  }
  return type.withShape(shape);
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isZero = [](sym::Expr amount) { return amount.isConstant(0); };
  bool nothing = llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero) &&
                 llvm::all_of(getInterior(), [](int64_t amount) { return amount == 0; });
  return nothing ? getOperand() : Value();
}

FailureOr<TensorType> ConcatOp::deduce(Adaptor op, Refusal refuse) {
  if (op.getOperands().empty())
    return refuse("needs an operand");
  TensorType first = typeOf(op.getOperands().front());
  int64_t axis = op.getAxis();
  if (!hasAxis(first, axis))
    return refuse("has no axis ", axis, " in ", first);
  SmallVector<sym::Expr> shape(first.getShape());
  for (Value operand : op.getOperands().drop_front()) {
    TensorType type = typeOf(operand);
    bool fits = type.getRank() == first.getRank() && type.getElementType() == first.getElementType();
    for (int64_t dim = 0; fits && dim < first.getRank(); ++dim)
      fits = dim == axis || type.getDim(dim) == first.getDim(dim);
    if (!fits)
      return refuse("can't put ", type, " after ", first, " along axis ", axis);
    shape[axis] = shape[axis] + type.getDim(axis);
  }
  return first.withShape(shape);
}

OpFoldResult ConcatOp::fold(FoldAdaptor) { return getNumOperands() == 1 ? getOperands().front() : Value(); }

void MatchShapeOp::build(OpBuilder &builder, OperationState &state, Value operand, ArrayRef<sym::Expr> shape,
                         StringRef label) {
  build(builder, state, typeOf(operand).withShape(shape), operand,
        label.empty() ? StringAttr() : builder.getStringAttr(label));
}

LogicalResult MatchShapeOp::verify() {
  TensorType from = typeOf(getOperand()), to = getType();
  if (from.getRank() != to.getRank() || from.getElementType() != to.getElementType())
    return emitOpError("can't match ") << from << " with " << to;
  for (auto [actual, expected] : llvm::zip_equal(from.getShape(), to.getShape()))
    if (std::optional<int64_t> difference = (actual - expected).asConstant(); difference && *difference != 0)
      return emitOpError("never holds: size ") << actual.str() << " of " << from << " is not " << expected.str();
  return success();
}

OpFoldResult MatchShapeOp::fold(FoldAdaptor) { return getOperand().getType() == getType() ? getOperand() : Value(); }

SmallVector<StringAttr> AssertSizesOp::getSymbols() {
  llvm::SetVector<StringAttr> symbols;
  getActual().getExpr().collectSymbols(symbols);
  getExpected().getExpr().collectSymbols(symbols);
  return symbols.takeVector();
}

void MatchShapeOp::collectBound(SmallVectorImpl<sym::Expr> &bound) { llvm::append_range(bound, getType().getShape()); }

} // namespace freestone::graph
