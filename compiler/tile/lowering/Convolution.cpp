#include "compiler/tile/Counters.h"
#include "compiler/tile/lowering/ResidueClasses.h"
#include "compiler/tile/lowering/SumOfProducts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// The operands of a convolution by its loops. Groups are a loop of their own, so that every index stays linear; a
/// reshape merges groups and channels of the result.
class Convolution {
public:
  Convolution(graph::ConvolveOp op, PatternRewriter &rewriter)
      : op(op), rewriter(rewriter), operandShape(graph::getShape(op.getOperand())),
        kernelShape(graph::getShape(op.getKernel())), shape(graph::getShape(op.getResult())) {}

  /// Fails where the channels are no multiple of the groups.
  LogicalResult findLeading();
  unsigned getNumSpatial() { return op.getStrides().size(); }
  ConvolvedDim getDim(unsigned dim);

  /// Sums over dense windows: [n, (groups), output channels / groups, (classes of each dimension with several)…,
  /// positions…].
  FailureOr<Value> sumWindows(ArrayRef<DenseWindow> windows);
  /// The sums of every class, interleaved to the positions of the result.
  FailureOr<Value> sumClasses(ArrayRef<ResidueClasses> dims);
  /// Sums over a dilated operand point by point, for paddings known only at run time: taps between its elements add
  /// nothing.
  FailureOr<Value> sumPoints();

private:
  struct Piece {
    SmallVector<ResidueClass> classes;
    Value sums;
  };
  FailureOr<Value> interleave(ArrayRef<Piece> pieces, ArrayRef<ResidueClasses> dims);
  /// The channels of the operand and of the kernel at a point of the loops.
  std::pair<Expr, Expr> getChannels(ComputeBuilder &builder, unsigned reducedChannel);
  TypedAttr getZero() { return getScalarAttr(graph::getElementType(op.getOperand()), 0); }
  graph::ConvolveOp op;
  PatternRewriter &rewriter;
  ArrayRef<Expr> operandShape, kernelShape, shape;
  /// Extents of the loops before the spatial ones.
  SmallVector<Expr> leading;
};

LogicalResult Convolution::findLeading() {
  Expr groups = Expr::constant(op.getContext(), op.getGroups());
  std::optional<Expr> channels = shape[1].exactDiv(groups);
  if (!channels)
    return rewriter.notifyMatchFailure(op, "the number of channels is no multiple of the groups");
  leading = {shape[0]};
  if (op.getGroups() > 1)
    leading.push_back(groups);
  // The one channel of each group is no loop: the result needs no reshape, behind which readers would stand apart.
  if (op.getGroups() == 1 || !channels->isConstant(1))
    leading.push_back(*channels);
  return success();
}

ConvolvedDim Convolution::getDim(unsigned dim) {
  return {op.getStrides()[dim], op.getDilations()[dim], op.getOperandDilation()[dim], op.getLow()[dim],
          op.getHigh()[dim],    operandShape[2 + dim],  kernelShape[2 + dim],         shape[2 + dim]};
}

std::pair<Expr, Expr> Convolution::getChannels(ComputeBuilder &builder, unsigned reducedChannel) {
  Expr in = builder.loop(reducedChannel), first = builder.loop(1);
  if (op.getGroups() == 1)
    return {in, first};
  return {in + first * kernelShape[1], leading.size() == 2 ? first : builder.loop(2) + first * leading.back()};
}

FailureOr<Value> Convolution::sumWindows(ArrayRef<DenseWindow> windows) {
  SmallVector<Expr> parallel = leading, reduced = {kernelShape[1]};
  for (const DenseWindow &window : windows)
    if (window.classes > 1)
      parallel.push_back(Expr::constant(op.getContext(), window.classes));
  for (const DenseWindow &window : windows) {
    parallel.push_back(window.places);
    // A single tap is no loop: pixels that are read as they lie in memory then coalesce.
    if (!window.taps.isConstant(1))
      reduced.push_back(window.taps);
  }
  ComputeBuilder builder(rewriter, op.getLoc(), parallel, reduced);
  unsigned nextClass = leading.size(), nextPlace = parallel.size() - windows.size(), nextTap = parallel.size() + 1;
  auto [channelIn, channelOut] = getChannels(builder, parallel.size());
  SmallVector<Expr> operandAt = {builder.loop(0), channelIn}, kernelAt = {channelOut, builder.loop(parallel.size())};
  bool leaves = false;
  for (const DenseWindow &window : windows) {
    Expr tap = window.taps.isConstant(1) ? builder.constant(0) : builder.loop(nextTap++);
    Expr place = builder.loop(nextPlace++);
    operandAt.push_back(place * window.stride + tap * window.dilation - window.low);
    Expr kernelTap = tap * window.tapStep + window.firstTap;
    if (window.classes > 1)
      kernelTap = kernelTap + builder.loop(nextClass++) * window.classStep;
    kernelAt.push_back(kernelTap);
    leaves |= !window.isInside;
  }
  unsigned operand = builder.read(op.getOperand(), operandAt, leaves ? getZero() : TypedAttr());
  unsigned kernel = builder.read(op.getKernel(), kernelAt);
  return sumProducts(builder, operand, kernel, op.getOperand(), op.getKernel(), op.getResult());
}

FailureOr<Value> Convolution::sumClasses(ArrayRef<ResidueClasses> dims) {
  SmallVector<Piece> pieces;
  // Row-major through the classes of all dimensions.
  SmallVector<size_t> at(dims.size(), 0);
  while (true) {
    Piece piece;
    SmallVector<DenseWindow> windows;
    for (auto [number, dim] : llvm::zip_equal(at, dims)) {
      piece.classes.push_back(dim.classes[number]);
      if (dim.classes[number].window)
        windows.push_back(*dim.classes[number].window);
    }
    if (windows.size() == dims.size()) {
      FailureOr<Value> sums = sumWindows(windows);
      if (failed(sums))
        return failure();
      piece.sums = *sums;
      pieces.push_back(std::move(piece));
    }
    unsigned digit = dims.size();
    while (digit > 0 && ++at[digit - 1] == dims[digit - 1].classes.size())
      at[--digit] = 0;
    if (digit == 0)
      return interleave(pieces, dims);
  }
}

/// Every position of the result reads the sum of its class.
FailureOr<Value> Convolution::interleave(ArrayRef<Piece> pieces, ArrayRef<ResidueClasses> dims) {
  bool isWhole = llvm::all_of(dims, [](const ResidueClasses &dim) { return dim.period == 1; });
  if (isWhole && pieces.size() == 1)
    return pieces.front().sums;
  SmallVector<Expr> parallel = leading;
  llvm::append_range(parallel, shape.drop_front(2));
  ComputeBuilder builder(rewriter, op.getLoc(), parallel);
  Type wide = getAccumulatorType(graph::getElementType(op.getResult()));
  /// A piece and, of each dimension, the residues of the positions that read it; none if all do.
  struct Choice {
    unsigned operand;
    SmallVector<std::pair<Expr, int64_t>> residues;
  };
  SmallVector<Choice> choices;
  unsigned last = dims.size() - 1;
  auto placeOf = [&](unsigned dim) { return builder.loop(leading.size() + dim); };
  for (const Piece &piece : pieces) {
    // Classes of the last dimension are read one by one, so that vectors stay contiguous in memory.
    for (int64_t column = 0; column < piece.classes[last].size(); ++column) {
      Choice choice;
      SmallVector<Expr> indices, places;
      for (unsigned loop = 0; loop < leading.size(); ++loop)
        indices.push_back(builder.loop(loop));
      for (unsigned dim = 0; dim < dims.size(); ++dim) {
        int64_t period = dims[dim].period, first = piece.classes[dim].first, size = piece.classes[dim].size();
        Expr residue = Expr::mod(placeOf(dim), Expr::constant(op.getContext(), period));
        if (dim == last)
          first += column;
        if (size > 1)
          indices.push_back(dim == last ? builder.constant(column) : residue);
        if (period > 1 && (dim == last || size == 1))
          choice.residues.push_back({residue, first});
        places.push_back(Expr::floorDiv(placeOf(dim), period));
      }
      llvm::append_range(indices, places);
      choice.operand = builder.read(piece.sums, indices);
      choices.push_back(std::move(choice));
    }
  }
  FailureOr<ComputeOp> compute = builder.create(wide, [&](ComputeBody &body) -> Value {
    ImplicitLocOpBuilder &b = body.builder;
    Value value = emitConstant(b, wide, 0);
    for (const Choice &choice : choices) {
      Value isHere;
      for (auto [residue, number] : choice.residues) {
        Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, body.index(residue),
                                           arith::ConstantIndexOp::create(b, number));
        isHere = isHere ? arith::AndIOp::create(b, isHere, same).getResult() : same;
      }
      Value sum = body.input(choice.operand);
      value = isHere ? arith::SelectOp::create(b, isHere, sum, value).getResult() : sum;
    }
    return value;
  });
  if (failed(compute))
    return failure();
  return compute->getResult(0);
}

FailureOr<Value> Convolution::sumPoints() {
  SmallVector<Expr> parallel = leading;
  llvm::append_range(parallel, shape.drop_front(2));
  ComputeBuilder builder(rewriter, op.getLoc(), parallel, kernelShape.drop_front(1));
  auto [channelIn, channelOut] = getChannels(builder, parallel.size());
  SmallVector<Expr> operandAt = {builder.loop(0), channelIn}, kernelAt = {channelOut, builder.loop(parallel.size())};
  SmallVector<std::pair<Expr, int64_t>> dilated;
  for (unsigned number = 0; number < getNumSpatial(); ++number) {
    ConvolvedDim dim = getDim(number);
    Expr tap = builder.loop(parallel.size() + 1 + number);
    Expr place = builder.loop(leading.size() + number) * dim.stride + tap * dim.dilation - dim.low;
    if (dim.operandDilation > 1)
      dilated.push_back({place, dim.operandDilation});
    operandAt.push_back(Expr::floorDiv(place, dim.operandDilation));
    kernelAt.push_back(tap);
  }
  unsigned operand = builder.read(op.getOperand(), operandAt, getZero()),
           kernel = builder.read(op.getKernel(), kernelAt);
  Type wide = getAccumulatorType(graph::getElementType(op.getResult()));
  auto body = [&](ComputeBody &scalars) -> SmallVector<Value> {
    ImplicitLocOpBuilder &b = scalars.builder;
    Value onElement;
    for (auto [place, dilation] : dilated) {
      Value rest = arith::RemSIOp::create(b, scalars.index(place), arith::ConstantIndexOp::create(b, dilation));
      Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, arith::ConstantIndexOp::create(b, 0));
      onElement = onElement ? arith::AndIOp::create(b, onElement, isZero).getResult() : isZero;
    }
    Value value = emitCast(b, scalars.input(operand), graph::getElementType(op.getOperand()), wide);
    Value weight = emitCast(b, scalars.input(kernel), graph::getElementType(op.getKernel()), wide);
    Value product = emitBinary(b, graph::BinaryKind::mul, value, weight, wide);
    Value term = arith::SelectOp::create(b, onElement, product, emitConstant(b, wide, 0));
    return {emitBinary(b, graph::BinaryKind::add, scalars.accumulator(0), term, wide)};
  };
  FailureOr<ComputeOp> compute = builder.create(wide, {getScalarAttr(wide, 0)}, body);
  if (failed(compute))
    return failure();
  return compute->getResult(0);
}

struct LowerConvolve : OpRewritePattern<graph::ConvolveOp> {
  LowerConvolve(MLIRContext *context, bool residueClasses)
      : OpRewritePattern(context), residueClasses(residueClasses) {}

  LogicalResult matchAndRewrite(graph::ConvolveOp op, PatternRewriter &rewriter) const override {
    Convolution convolution(op, rewriter);
    if (failed(convolution.findLeading()))
      return failure();
    bool isDilated = llvm::any_of(op.getOperandDilation(), [](int64_t dilation) { return dilation > 1; });
    SmallVector<ResidueClasses> dims;
    for (unsigned dim = 0; dim < convolution.getNumSpatial(); ++dim) {
      std::optional<ResidueClasses> classes = ResidueClasses::get(convolution.getDim(dim));
      if (!classes || (isDilated && !residueClasses)) {
        count(op->getParentOfType<func::FuncOp>(), "summed_by_points", 1);
        return replaceByRounded(rewriter, op, convolution.sumPoints());
      }
      dims.push_back(std::move(*classes));
    }
    if (isDilated) {
      int64_t number = 1;
      for (const ResidueClasses &dim : dims)
        number *= dim.period;
      count(op->getParentOfType<func::FuncOp>(), "residue_classes", number);
    }
    return replaceByRounded(rewriter, op, convolution.sumClasses(dims));
  }

private:
  bool residueClasses;
};

} // namespace

void tile::populateConvolutionPatterns(RewritePatternSet &patterns, bool residueClasses) {
  patterns.add<LowerConvolve>(patterns.getContext(), residueClasses);
}
