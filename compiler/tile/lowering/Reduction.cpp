#include "compiler/tile/RewriteLoops.h"
#include "compiler/tile/lowering/Lowering.h"
#include <limits>

using namespace mlir;
using freestone::graph::BinaryKind;
using freestone::graph::ReduceKind;
using freestone::sym::Expr;

namespace freestone::tile {

TypedAttr getIdentity(ReduceKind kind, Type element) {
  switch (kind) {
  case ReduceKind::add:
    return getScalarAttr(element, 0);
  case ReduceKind::mul:
    return getScalarAttr(element, 1);
  case ReduceKind::max:
    return getLowest(element);
  case ReduceKind::min:
    return getHighest(element);
  case ReduceKind::and_:
    return getScalarAttr(element, -1);
  case ReduceKind::or_:
    return getScalarAttr(element, 0);
  }
  llvm_unreachable("every kind has an identity");
}

Value emitCombine(ImplicitLocOpBuilder &builder, ReduceKind kind, Value accumulator, Value value, Type element) {
  static constexpr BinaryKind kinds[] = {BinaryKind::add, BinaryKind::mul,  BinaryKind::max,
                                         BinaryKind::min, BinaryKind::and_, BinaryKind::or_};
  return emitBinary(builder, kinds[static_cast<unsigned>(kind)], accumulator, value, element);
}

namespace {

/// The extents of the parallel and of the reduction loops.
struct ReductionLoops {
  SmallVector<Expr> parallel, reduction;
};

ReductionLoops getLoopsOf(ArrayRef<Expr> shape, ArrayRef<int64_t> axes) {
  ReductionLoops loops;
  for (auto [dim, extent] : llvm::enumerate(shape))
    (llvm::is_contained(axes, dim) ? loops.reduction : loops.parallel).push_back(extent);
  return loops;
}

/// Reductions to one element of at most this many elements are one tile.
constexpr int64_t mostAtOnce = 4096;

/// Shorter rows are not reduced separately.
constexpr int64_t shortestRow = 16;

/// Rows of extrema are no longer than they have to be: each is a tile, or a row of what computes its elements.
constexpr int64_t shortestExtrema = 256;

/// A reduction to one element shares no rows with its operand, and so can't be fused with it. If the first dimensions
/// are reduced separately, after the others, the reduction of the rows can. Returns how many these are, or 0. Of sums
/// it is one, whose order is that of the rows' elements; in which order extrema are found makes no difference.
size_t countRowDims(ArrayRef<Expr> shape, size_t numAxes, ReduceKind kind) {
  if (numAxes != shape.size() || numAxes < 2)
    return 0;
  auto count = [&](ArrayRef<Expr> extents) {
    Expr product = Expr::constant(shape.front().context(), 1);
    for (Expr extent : extents)
      product = product * extent;
    return product;
  };
  auto areAtLeast = [&](Expr elements, int64_t least) { return elements.asConstant().value_or(least) >= least; };
  bool isExtremum = kind == ReduceKind::max || kind == ReduceKind::min;
  size_t dims = 1;
  while (isExtremum && dims + 1 < shape.size() && areAtLeast(count(shape.drop_front(dims + 1)), shortestExtrema))
    ++dims;
  Expr rows = count(shape.take_front(dims));
  if (rows.isConstant(1) || !areAtLeast(count(shape.drop_front(dims)), shortestRow))
    return 0;
  return areAtLeast(count(shape), mostAtOnce + 1) ? dims : 0;
}

struct LowerReduce : OpRewritePattern<graph::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ReduceOp op, PatternRewriter &rewriter) const override {
    if (op.getAxes().empty()) {
      rewriter.replaceOp(op, op.getOperand());
      return success();
    }
    Value operand = op.getOperand();
    SmallVector<int64_t> axes(op.getAxes());
    Type element = graph::getElementType(operand);
    if (size_t dims = countRowDims(graph::getShape(operand), axes.size(), op.getKind())) {
      FailureOr<Value> rows =
          reduce(rewriter, op, operand, llvm::to_vector(llvm::seq<int64_t>(dims, graph::getShape(operand).size())));
      if (failed(rows))
        return failure();
      operand = *rows;
      axes = llvm::to_vector(llvm::seq<int64_t>(dims));
    }
    FailureOr<Value> whole = reduce(rewriter, op, operand, axes);
    if (failed(whole))
      return failure();
    FailureOr<Value> result = castTo(rewriter, op.getLoc(), *whole, element);
    if (failed(result))
      return failure();
    rewriter.replaceOp(op, *result);
    return success();
  }

private:
  /// Reduces in the accumulator type.
  static FailureOr<Value> reduce(PatternRewriter &rewriter, graph::ReduceOp op, Value tensor, ArrayRef<int64_t> axes) {
    ArrayRef<Expr> shape = graph::getShape(tensor);
    ReductionLoops loops = getLoopsOf(shape, axes);
    Type element = graph::getElementType(tensor), wide = getAccumulatorType(element);
    ComputeBuilder builder(rewriter, op.getLoc(), loops.parallel, loops.reduction);
    SmallVector<Expr> indices;
    unsigned kept = 0, reduced = loops.parallel.size();
    for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
      indices.push_back(builder.loop(llvm::is_contained(axes, dim) ? reduced++ : kept++));
    unsigned operand = builder.read(tensor, indices);
    FailureOr<ComputeOp> compute =
        builder.create(wide, {getIdentity(op.getKind(), wide)}, [&](ComputeBody &body) -> SmallVector<Value> {
          Value value = emitCast(body.builder, body.input(operand), element, wide);
          if (op->hasAttr("graph.share") && isa<FloatType>(wide))
            return {arith::MaxNumFOp::create(body.builder, body.accumulator(0), value)};
          return {emitCombine(body.builder, op.getKind(), body.accumulator(0), value, wide)};
        });
    return failed(compute) ? FailureOr<Value>(failure()) : FailureOr<Value>(compute->getResult(0));
  }
};

/// Keeps the extremum and its position; positions decide ties, in whatever order elements are reduced.
struct LowerArgReduce : OpRewritePattern<graph::ArgReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ArgReduceOp op, PatternRewriter &rewriter) const override {
    ArrayRef<Expr> shape = graph::getShape(op.getOperand());
    int64_t axis = op.getAxis();
    ReductionLoops loops = getLoopsOf(shape, {axis});
    Type element = graph::getElementType(op.getOperand()), wide = getAccumulatorType(element);
    // Vectors of positions have the lanes of those of elements where 32 bits hold any.
    bool isShort = getSizeBounds(op).interval(shape[axis]).hi <= std::numeric_limits<int32_t>::max();
    IntegerType position = rewriter.getIntegerType(isShort ? 32 : 64);
    bool takesMax = op.getKind() == graph::ArgKind::max, takesLast = op.getLastIndex();
    ComputeBuilder builder(rewriter, op.getLoc(), loops.parallel, loops.reduction);
    unsigned reduced = loops.parallel.size(), kept = 0;
    SmallVector<Expr> indices;
    for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
      indices.push_back(builder.loop(dim == axis ? reduced : kept++));
    unsigned operand = builder.read(op.getOperand(), indices);
    auto body = [&](ComputeBody &scalars) -> SmallVector<Value> {
      ImplicitLocOpBuilder &b = scalars.builder;
      Value value = emitCast(b, scalars.input(operand), element, wide), best = scalars.accumulator(0);
      Value index = arith::IndexCastOp::create(b, position, scalars.loop(reduced)), place = scalars.accumulator(1);
      Value better = emitCompare(b, takesMax ? graph::CompareKind::gt : graph::CompareKind::lt, value, best, wide);
      Value equal = emitCompare(b, graph::CompareKind::eq, value, best, wide);
      Value none = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place, emitConstant(b, position, 0));
      auto order = takesLast ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt;
      Value precedes = arith::CmpIOp::create(b, order, index, place);
      if (isa<FloatType>(wide)) {
        // The first NaN precedes all numbers.
        Value isNan = emitUnary(b, graph::UnaryKind::isnan, value, wide);
        Value bestIsNan = emitUnary(b, graph::UnaryKind::isnan, best, wide);
        Value earlier = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, place);
        Value firstNan = arith::AndIOp::create(
            b, isNan,
            arith::OrIOp::create(b, earlier, arith::XOrIOp::create(b, bestIsNan, emitConstant(b, b.getI1Type(), 1))));
        better = arith::OrIOp::create(b, better, firstNan);
      }
      Value takes = arith::OrIOp::create(b, better, arith::AndIOp::create(b, equal, precedes));
      takes = arith::OrIOp::create(b, takes, none);
      return {arith::SelectOp::create(b, takes, value, best), arith::SelectOp::create(b, takes, index, place)};
    };
    FailureOr<ComputeOp> compute = builder.create(
        {wide, position}, {takesMax ? getLowest(wide) : getHighest(wide), rewriter.getIntegerAttr(position, -1)}, body);
    if (failed(compute))
      return failure();
    FailureOr<Value> result = castTo(rewriter, op.getLoc(), compute->getResult(1), rewriter.getI64Type());
    if (failed(result))
      return failure();
    rewriter.replaceOp(op, *result);
    return success();
  }
};

} // namespace

void populateReductionPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerReduce, LowerArgReduce>(patterns.getContext());
}

} // namespace freestone::tile
