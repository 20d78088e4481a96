#ifndef FREESTONE_COMPILER_IMPORT_OPERATIONS_H
#define FREESTONE_COMPILER_IMPORT_OPERATIONS_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/import/Tensor.h"

// The language of operator definitions: the core of the graph dialect as functions over tensors of any rank and type.
// Operands broadcast as in numpy; axes may be negative; values known during import are folded and leave no operation
// behind. A null operand gives a null result.
namespace freestone::importer {

using graph::BinaryKind;
using graph::CompareKind;
using graph::UnaryKind;
using llvm::ArrayRef;

// Elementwise.
Tensor unary(UnaryKind kind, Tensor x);
Tensor binary(BinaryKind kind, Tensor lhs, Tensor rhs);
Tensor compare(CompareKind predicate, Tensor lhs, Tensor rhs);
Tensor select(Tensor condition, Tensor whenTrue, Tensor whenFalse);
/// Float to integer truncates toward zero; to bool: whether it differs from 0.
Tensor cast(Tensor x, mlir::Type type);
/// A scalar of the type of `like`.
Tensor scalarLike(double value, Tensor like);

// Shape.
Tensor broadcastTo(Tensor x, ArrayRef<Expr> shape);
/// The common shape under numpy's rules; refuses where there is none.
std::optional<Shape> broadcastShapes(GraphBuilder &builder, ArrayRef<Shape> shapes);
/// Brings all to their common shape.
bool broadcastTogether(llvm::MutableArrayRef<Tensor> operands);
/// x with this shape, which has its rank: sizes are made equal; those that only a check at entry makes so are renamed.
Tensor conform(Tensor x, ArrayRef<Expr> shape, const llvm::Twine &what);
Tensor reshape(Tensor x, ArrayRef<Expr> shape);
/// The same for a shape whose product is too large an expression: the caller has seen to it that it is the number of
/// elements.
Tensor reshapeUnchecked(Tensor x, ArrayRef<Expr> shape);
Tensor transpose(Tensor x, ArrayRef<int64_t> permutation);
/// Inserts dimensions of size 1 before these axes of the result.
Tensor unsqueeze(Tensor x, ArrayRef<int64_t> axes);
/// Drops these dimensions, which must be 1.
Tensor squeeze(Tensor x, ArrayRef<int64_t> axes);
/// Along `axis`, `size` elements from `start` on, every `step`th. All of it must be inside.
Tensor slice(Tensor x, int64_t axis, Expr start, Expr size, int64_t step = 1);
/// `low` and `high` elements of `value` on the sides of every axis, `interior` between neighbours; negative amounts
/// crop.
Tensor pad(Tensor x, ArrayRef<Expr> low, ArrayRef<Expr> high, Tensor value, ArrayRef<int64_t> interior = {});
Tensor concat(ArrayRef<Tensor> operands, int64_t axis);
/// 0, 1, … along one axis of `shape`.
Tensor iota(GraphBuilder &builder, ArrayRef<Expr> shape, int64_t axis, mlir::Type type);

// Indexing. Negative indices count from the end.
Tensor gather(Tensor x, Tensor indices, int64_t axis, int64_t batchDims = 0);
Tensor gatherElements(Tensor x, Tensor indices, int64_t axis);
Tensor gatherNd(Tensor x, Tensor indices, int64_t batchDims);
Tensor scatterElements(Tensor x, Tensor indices, Tensor updates, int64_t axis, graph::ScatterKind kind);
Tensor scatterNd(Tensor x, Tensor indices, Tensor updates, graph::ScatterKind kind);
/// One row per element that is not zero, as [rank, count].
Tensor nonZero(Tensor x);
Tensor compress(Tensor x, Tensor condition, int64_t axis);
struct UniqueResult {
  Tensor values, first, inverse, counts;
};
/// The different slices along an axis.
UniqueResult unique(Tensor x, int64_t axis, bool sorted);

// Reduction. No axes: all of them.
Tensor reduce(graph::ReduceKind kind, Tensor x, ArrayRef<int64_t> axes, bool keepDims);
Tensor argReduce(bool largest, Tensor x, int64_t axis, bool lastIndex, bool keepDims);
Tensor cumulate(graph::ReduceKind kind, Tensor x, int64_t axis, bool exclusive, bool reverse);
std::pair<Tensor, Tensor> topK(Tensor x, Expr k, int64_t axis, bool largest);

// Contraction.
struct ContractAxes {
  llvm::SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
};
/// Result: batch, free of lhs, free of rhs.
Tensor contract(Tensor lhs, Tensor rhs, const ContractAxes &axes, mlir::Type resultType = {});
/// numpy's matmul.
Tensor matmul(Tensor lhs, Tensor rhs, mlir::Type resultType = {});

struct Window {
  llvm::SmallVector<int64_t> sizes, strides, dilations;
  llvm::SmallVector<Expr> low, high;
};
/// x: [N, C, spatial…], w: [O, C/groups, spatial…].
Tensor convolve(Tensor x, Tensor w, const Window &window, ArrayRef<int64_t> lhsDilations, int64_t groups,
                mlir::Type resultType = {});
/// Over the trailing dimensions, as many as the window has.
Tensor windowReduce(graph::ReduceKind kind, Tensor x, const Window &window);
/// argmax of each window (the first maximum): row-major index within the trailing dimensions.
Tensor windowArgmax(Tensor x, const Window &window);

// Composites.
Tensor softmax(Tensor x, int64_t axis);
Tensor logSoftmax(Tensor x, int64_t axis);
/// Over the axes from `axis` on, without scale and shift.
Tensor layerNorm(Tensor x, int64_t axis, double epsilon);
Tensor rmsNorm(Tensor x, int64_t axis, double epsilon);
Tensor gelu(Tensor x, bool tanhApproximation);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATIONS_H
