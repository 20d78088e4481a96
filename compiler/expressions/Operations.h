#ifndef FREESTONE_COMPILER_EXPRESSIONS_OPERATIONS_H
#define FREESTONE_COMPILER_EXPRESSIONS_OPERATIONS_H

#include "compiler/expressions/Tensor.h"

// The core of the graph dialect as functions over tensors of any rank and type. Operands broadcast as in numpy; axes
// may be negative where stated; operations on known content are folded and leave no operation behind. A null operand
// gives a null result. If operands do not fit, the result is null and the builder keeps the reason; in a graph with
// given sizes, the operation does not verify.
namespace freestone::expressions {

using graph::BinaryKind;
using graph::CompareKind;
using graph::ReduceKind;
using graph::RoundMode;
using graph::ScatterKind;
using graph::UnaryKind;
using llvm::ArrayRef;

// Elementwise.

/// Of x's shape and type; bool for predicates. Rounding leaves integers unchanged.
Tensor unary(UnaryKind kind, Tensor x);
/// Of the common shape and the common type, which must be the same. Bools are combined bitwise only.
Tensor binary(BinaryKind kind, Tensor lhs, Tensor rhs);
/// Bools of the common shape; both must have the same type.
Tensor compare(CompareKind kind, Tensor lhs, Tensor rhs);
/// Of the common shape of all three; the condition is a bool, the choices have one type.
Tensor select(Tensor condition, Tensor whenTrue, Tensor whenFalse);
/// Floats become integers by truncation; bool is `x != 0`. `round` is the way to powers of two (f8E8M0FNU).
Tensor cast(Tensor x, mlir::Type type, RoundMode round = RoundMode::nearest);
/// As cast, but numbers out of the range of an integer or float8 type become its nearest end, and NaN 0 as an integer.
Tensor saturatingCast(Tensor x, mlir::Type type, RoundMode round = RoundMode::nearest);
/// The same bits as another type of as many; bool is a byte.
Tensor bitcast(Tensor x, mlir::Type type);
/// f16 and bf16 as f32, wider floats unchanged.
Tensor widen(Tensor x);
/// A scalar of the type of `like`.
Tensor scalarLike(double value, Tensor like);
/// A splat of the shape and type of `like`.
Tensor splatLike(double value, Tensor like);
/// A number, or a size, of the type of `like`, in a shape that broadcasts to its shape: an operand for arithmetic with
/// it.
Tensor beside(Tensor like, double value);
Tensor beside(Tensor like, Expr size);

// Shape.

/// To the shape under numpy's rules.
Tensor broadcastTo(Tensor x, ArrayRef<Expr> shape);
/// Broadcasts x to the shape; its dimension i becomes dimension `dims[i]`.
Tensor broadcast(Tensor x, ArrayRef<Expr> shape, ArrayRef<int64_t> dims);
/// Repeats x along `axes` of the shape, which x lacks.
Tensor repeat(Tensor x, ArrayRef<Expr> shape, ArrayRef<int64_t> axes);
/// The common shape under numpy's rules; refuses where there is none.
std::optional<Shape> broadcastShapes(GraphBuilder &builder, ArrayRef<Shape> shapes);
/// Broadcasts all to their common shape.
bool broadcastTogether(llvm::MutableArrayRef<Tensor> operands);
/// x with this shape, of equal rank; `what` names the sizes in an error.
Tensor conform(Tensor x, ArrayRef<Expr> shape, const llvm::Twine &what);
/// The same elements, row-major, in another shape with as many elements.
Tensor reshape(Tensor x, ArrayRef<Expr> shape);
/// As `reshape`, for a shape whose product is too large an expression: the caller guarantees the number of elements.
Tensor reshapeUnchecked(Tensor x, ArrayRef<Expr> shape);
/// Dimension i of the result is dimension `permutation[i]` of x.
Tensor transpose(Tensor x, ArrayRef<int64_t> permutation);
llvm::SmallVector<int64_t> invert(ArrayRef<int64_t> permutation);
/// Inserts dimensions of size 1 before these axes of the result.
Tensor unsqueeze(Tensor x, ArrayRef<int64_t> axes);
/// Drops these dimensions, which must be of size 1.
Tensor squeeze(Tensor x, ArrayRef<int64_t> axes);
/// Along `axis`, `size` elements from `start` on, every `step`th; must be in bounds.
Tensor slice(Tensor x, int64_t axis, Expr start, Expr size, int64_t step = 1);
/// As above, along all axes.
Tensor slice(Tensor x, ArrayRef<Expr> starts, ArrayRef<Expr> sizes, ArrayRef<int64_t> steps);
/// Reverses the order along axes.
Tensor reverse(Tensor x, ArrayRef<int64_t> axes);
/// `low` and `high` elements of `value` on the sides of every axis, `interior` between any two; negative numbers crop.
Tensor pad(Tensor x, ArrayRef<Expr> low, ArrayRef<Expr> high, Tensor value, ArrayRef<int64_t> interior = {});
Tensor pad(Tensor x, ArrayRef<Expr> low, ArrayRef<Expr> high, double value, ArrayRef<int64_t> interior = {});
/// The operands have one type, and equal shapes except for `axis`.
Tensor concat(ArrayRef<Tensor> operands, int64_t axis);
/// 0, 1, … along one axis of `shape`.
Tensor iota(GraphBuilder &builder, ArrayRef<Expr> shape, int64_t axis, mlir::Type type);

// Indexing, by integers of any type; negative ones count from the end.

/// Slices of x along `axis`: the shape of x with the axis replaced by the dimensions of the indices, whose first
/// `batchDims` are the first ones of x.
Tensor gather(Tensor x, Tensor indices, int64_t axis, int64_t batchDims = 0);
/// Of the shape of the indices, which have the rank of x: each index selects an element along `axis`.
Tensor gatherElements(Tensor x, Tensor indices, int64_t axis);
/// The last dimension of the indices, a constant, is a coordinate in as many dimensions of x after `batchDims`.
Tensor gatherNd(Tensor x, Tensor indices, int64_t batchDims = 0);
/// x with updates, of the indices' shape and x's type, written to the positions that `gatherElements` reads.
Tensor scatterElements(Tensor x, Tensor indices, Tensor updates, int64_t axis, ScatterKind kind);
/// As above, at the positions that `gatherNd` reads.
Tensor scatterNd(Tensor x, Tensor indices, Tensor updates, ScatterKind kind);
/// Coordinates of the nonzero elements: i64 [rank, count].
Tensor nonZero(Tensor x);
/// A symbol for the value of an integer scalar that is computed from data: a size, hence not negative, which is bound
/// while running.
Expr sizeOf(Tensor number, llvm::StringRef complaint = {});
/// i32 [b, c, n]: of boxes [b, n, 4] (least, then greatest coordinates) with scores [b, c, n], both f32, the positions
/// of those that no better one overlaps, then -1. `limit` is an i64 scalar, `overlap` and `threshold` are of f32.
Tensor suppress(Tensor boxes, Tensor scores, Tensor limit, Tensor overlap, Tensor threshold);
/// The slices along `axis` where the condition, a possibly shorter vector of bools, holds.
Tensor compress(Tensor x, Tensor condition, int64_t axis);
struct UniqueResult {
  Tensor values, first, inverse, counts;
};
/// The unique slices along an axis.
UniqueResult unique(Tensor x, int64_t axis, bool sorted);

// Reduction.

/// Reduces along axes, which are dropped, or kept with size 1; without axes, x itself.
Tensor reduce(ReduceKind kind, Tensor x, ArrayRef<int64_t> axes, bool keepDims = false);
llvm::SmallVector<int64_t> allAxes(Tensor x);
/// i64: the first or last index of the extremum along an axis.
Tensor argReduce(bool largest, Tensor x, int64_t axis, bool lastIndex, bool keepDims);
/// Prefix scan along an axis, of x's shape; exclusive scans leave out the element itself.
Tensor cumulate(ReduceKind kind, Tensor x, int64_t axis, bool exclusive, bool reverse);
/// The k largest or smallest along an axis, sorted, and their i64 indices.
std::pair<Tensor, Tensor> topK(Tensor x, Expr k, int64_t axis, bool largest);

// Contraction.
struct ContractAxes {
  llvm::SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
};
/// Sums of products over contracted dimensions of equal size. Result: batch, free dimensions of lhs, free dimensions of
/// rhs; of the operands' type or a wider accumulator type.
Tensor contract(Tensor lhs, Tensor rhs, const ContractAxes &axes, mlir::Type resultType = {});
/// numpy's matmul.
Tensor matmul(Tensor lhs, Tensor rhs, mlir::Type resultType = {});

struct Window {
  llvm::SmallVector<int64_t> sizes, strides, dilations;
  Shape low, high;
};
/// x: [N, C, spatial…], w: [O, C/groups, spatial…].
Tensor convolve(Tensor x, Tensor w, const Window &window, ArrayRef<int64_t> lhsDilations, int64_t groups,
                mlir::Type resultType = {});
/// Over as many trailing dimensions as the window has.
Tensor windowReduce(ReduceKind kind, Tensor x, const Window &window);
/// The (first) maximum of each window: row-major index within the trailing dimensions.
Tensor windowArgmax(Tensor x, const Window &window);

// Composites: of x's shape and type, which is a float.
Tensor softmax(Tensor x, int64_t axis);
Tensor logSoftmax(Tensor x, int64_t axis);
/// Over the axes from `axis` on, without scale and shift.
Tensor layerNorm(Tensor x, int64_t axis, double epsilon);
Tensor rmsNorm(Tensor x, int64_t axis, double epsilon);
Tensor gelu(Tensor x, bool tanhApproximation);

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_OPERATIONS_H
