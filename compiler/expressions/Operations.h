#ifndef FREESTONE_COMPILER_EXPRESSIONS_OPERATIONS_H
#define FREESTONE_COMPILER_EXPRESSIONS_OPERATIONS_H

#include "compiler/expressions/Tensor.h"

// The core of the graph dialect as functions over tensors of any rank and type. Operands broadcast as in numpy; axes
// may be negative where it is said; what the builder knows is computed while building and leaves no operation behind. A
// null operand gives a null result. Where operands do not fit, the result is null and the builder keeps the reason, or,
// in a graph whose sizes are taken as they are, what is built does not verify.
namespace freestone::expressions {

using graph::BinaryKind;
using graph::CompareKind;
using graph::ReduceKind;
using graph::ScatterKind;
using graph::UnaryKind;
using llvm::ArrayRef;

// Elementwise.

/// Of x's shape; of its type, or bool where the kind asks a question. Rounding leaves integers as they are.
Tensor unary(UnaryKind kind, Tensor x);
/// Of the common shape, and of the type of both, which must be the same. Bools are combined bit by bit only.
Tensor binary(BinaryKind kind, Tensor lhs, Tensor rhs);
/// Bools of the common shape; both must have the same type.
Tensor compare(CompareKind kind, Tensor lhs, Tensor rhs);
/// Of the common shape of all three; the condition is a bool, the choices have one type.
Tensor select(Tensor condition, Tensor whenTrue, Tensor whenFalse);
/// Floats become integers towards zero; anything becomes bool by being not 0.
Tensor cast(Tensor x, mlir::Type type);
/// f16 and bf16 in f32, wider floats as they are.
Tensor widen(Tensor x);
/// A number of the type of `like`, of rank 0.
Tensor scalarLike(double value, Tensor like);
/// The same in every element of the shape of `like`.
Tensor splatLike(double value, Tensor like);
/// A number, or a size, of the type of `like`, in a shape that broadcasts to its: what stands beside it in arithmetic.
Tensor beside(Tensor like, double value);
Tensor beside(Tensor like, Expr size);

// Shape.

/// To the shape under numpy's rules.
Tensor broadcastTo(Tensor x, ArrayRef<Expr> shape);
/// To the shape, in which dimension i of x is dimension `dims[i]`.
Tensor broadcast(Tensor x, ArrayRef<Expr> shape, ArrayRef<int64_t> dims);
/// Repeats x along `axes` of a shape, which x does not have.
Tensor repeat(Tensor x, ArrayRef<Expr> shape, ArrayRef<int64_t> axes);
/// The common shape under numpy's rules; refuses where there is none.
std::optional<Shape> broadcastShapes(GraphBuilder &builder, ArrayRef<Shape> shapes);
/// Brings all to their common shape.
bool broadcastTogether(llvm::MutableArrayRef<Tensor> operands);
/// x with this shape, which must have its rank; `what` names in an error what is made equal.
Tensor conform(Tensor x, ArrayRef<Expr> shape, const llvm::Twine &what);
/// The same elements, row-major, in another shape of as many.
Tensor reshape(Tensor x, ArrayRef<Expr> shape);
/// The same for a shape whose product is too large an expression: the caller has seen to it that it is the number of
/// elements.
Tensor reshapeUnchecked(Tensor x, ArrayRef<Expr> shape);
/// Dimension i of the result is dimension `permutation[i]` of x.
Tensor transpose(Tensor x, ArrayRef<int64_t> permutation);
llvm::SmallVector<int64_t> invert(ArrayRef<int64_t> permutation);
/// Inserts dimensions of size 1 before these axes of the result.
Tensor unsqueeze(Tensor x, ArrayRef<int64_t> axes);
/// Drops these dimensions, which must be 1.
Tensor squeeze(Tensor x, ArrayRef<int64_t> axes);
/// Along `axis`, `size` elements from `start` on, every `step`th. All of it must be inside.
Tensor slice(Tensor x, int64_t axis, Expr start, Expr size, int64_t step = 1);
/// The same along all axes.
Tensor slice(Tensor x, ArrayRef<Expr> starts, ArrayRef<Expr> sizes, ArrayRef<int64_t> steps);
/// Turns round the order along axes.
Tensor reverse(Tensor x, ArrayRef<int64_t> axes);
/// `low` and `high` elements of `value` on the sides of every axis, `interior` between any two; negative ones cut.
Tensor pad(Tensor x, ArrayRef<Expr> low, ArrayRef<Expr> high, Tensor value, ArrayRef<int64_t> interior = {});
Tensor pad(Tensor x, ArrayRef<Expr> low, ArrayRef<Expr> high, double value, ArrayRef<int64_t> interior = {});
/// Of one type, and of one shape but for `axis`.
Tensor concat(ArrayRef<Tensor> operands, int64_t axis);
/// 0, 1, … along one axis of `shape`.
Tensor iota(GraphBuilder &builder, ArrayRef<Expr> shape, int64_t axis, mlir::Type type);

// Indexing, by integers of any type; negative ones count from the end.

/// Slices of x along `axis`: the shape of x with the axis replaced by the dimensions of the indices, whose first
/// `batchDims` are the first ones of x.
Tensor gather(Tensor x, Tensor indices, int64_t axis, int64_t batchDims = 0);
/// Of the shape of the indices, which have the rank of x: each names an element along `axis`.
Tensor gatherElements(Tensor x, Tensor indices, int64_t axis);
/// The last dimension of the indices, a constant, is a place in as many dimensions of x behind `batchDims`.
Tensor gatherNd(Tensor x, Tensor indices, int64_t batchDims = 0);
/// x with updates, which have the shape of the indices and the type of x, at the places that `gatherElements` reads.
Tensor scatterElements(Tensor x, Tensor indices, Tensor updates, int64_t axis, ScatterKind kind);
/// The same at those of `gatherNd`.
Tensor scatterNd(Tensor x, Tensor indices, Tensor updates, ScatterKind kind);
/// Places of the elements that are not zero: i64 [rank, count].
Tensor nonZero(Tensor x);
/// The slices along `axis` where the condition, a vector of bools that may be shorter, holds.
Tensor compress(Tensor x, Tensor condition, int64_t axis);
struct UniqueResult {
  Tensor values, first, inverse, counts;
};
/// The different slices along an axis.
UniqueResult unique(Tensor x, int64_t axis, bool sorted);

// Reduction.

/// Combines the elements along axes, which are dropped, or kept with size 1; no axes leave x as it is.
Tensor reduce(ReduceKind kind, Tensor x, ArrayRef<int64_t> axes, bool keepDims = false);
llvm::SmallVector<int64_t> allAxes(Tensor x);
/// i64: the first or last place of an extremum along an axis.
Tensor argReduce(bool largest, Tensor x, int64_t axis, bool lastIndex, bool keepDims);
/// Running combinations along an axis, of x's shape; exclusive ones are without the element itself.
Tensor cumulate(ReduceKind kind, Tensor x, int64_t axis, bool exclusive, bool reverse);
/// The k largest or smallest along an axis, in order, and their i64 places.
std::pair<Tensor, Tensor> topK(Tensor x, Expr k, int64_t axis, bool largest);

// Contraction.
struct ContractAxes {
  llvm::SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
};
/// Sums of products over dimensions of one size. Result: batch, free of lhs, free of rhs, of the operands' type or a
/// wider one that is summed in.
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
/// Over the trailing dimensions, as many as the window has.
Tensor windowReduce(ReduceKind kind, Tensor x, const Window &window);
/// Where each window has its (first) maximum: row-major index within the trailing dimensions.
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
