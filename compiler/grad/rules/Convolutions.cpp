// Convolution: both gradients are convolutions again.
#include "compiler/grad/Rule.h"

using namespace mlir;

namespace freestone::grad {

namespace {

/// Padding at the end that makes the result exactly `places` long: the last window of `kernel` elements then ends where
/// the padded operand does, whatever the stride left over.
Expr padAfter(Expr places, int64_t stride, Expr kernel, int64_t dilation, Expr operand, int64_t operandDilation,
              Expr low) {
  return (places - 1) * stride + (kernel - 1) * dilation - (operand - 1) * operandDilation - low;
}

/// [groups * m, n, …] as [groups * n, m, …], with the first two dimensions exchanged within each group.
Tensor exchangeWithinGroups(Tensor x, int64_t groups) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(x.rank()));
  std::swap(order[0], order[1]);
  if (groups == 1)
    return transpose(x, order);
  Expr count = x.builder().size(groups), within = *x.dim(0).exactDiv(count);
  Shape split = {count, within}, merged = {x.dim(1) * count, within};
  llvm::append_range(split, x.shape().drop_front());
  llvm::append_range(merged, x.shape().drop_front(2));
  order = llvm::to_vector(llvm::seq<int64_t>(x.rank() + 1));
  std::swap(order[1], order[2]);
  return reshape(transpose(reshape(x, split), order), merged);
}

/// [n, groups * c, …] as [c, groups * n, …].
Tensor exchangeAcrossGroups(Tensor x, int64_t groups) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(x.rank()));
  std::swap(order[0], order[1]);
  if (groups == 1)
    return transpose(x, order);
  Expr count = x.builder().size(groups), within = *x.dim(1).exactDiv(count);
  Shape split = {x.dim(0), count, within}, merged = {within, x.dim(0) * count};
  llvm::append_range(split, x.shape().drop_front(2));
  llvm::append_range(merged, x.shape().drop_front(2));
  order = llvm::to_vector(llvm::seq<int64_t>(x.rank() + 1));
  std::swap(order[0], order[2]);
  return reshape(transpose(reshape(x, split), order), merged);
}

/// The type that sums are made in, where it is another than the operands'.
Type sumType(graph::ConvolveOp op) { return op.getElementType().value_or(Type()); }

/// The input gradient: stride and operand dilation are exchanged, and the kernel is mirrored.
Tensor differentiateOperand(graph::ConvolveOp op, Tensor x, Tensor kernel, Tensor g) {
  Shape low, high;
  SmallVector<int64_t> spatial;
  for (int64_t i = 0, count = op.getStrides().size(); i < count; ++i) {
    int64_t stride = op.getStrides()[i], dilation = op.getDilations()[i], spread = op.getOperandDilation()[i];
    Expr taps = kernel.dim(i + 2);
    low.push_back((taps - 1) * dilation - op.getLow()[i]);
    high.push_back(padAfter(x.dim(i + 2), spread, taps, dilation, g.dim(i + 2), stride, low.back()));
    spatial.push_back(i + 2);
  }
  Tensor turned = reverse(exchangeWithinGroups(kernel, op.getGroups()), spatial);
  Window window{{}, llvm::to_vector(op.getOperandDilation()), llvm::to_vector(op.getDilations()), low, high};
  return convolve(cast(g, x.elementType()), turned, window, op.getStrides(), op.getGroups(), sumType(op));
}

/// The weight gradient: images and channels are exchanged, as are strides and dilations; the output gradient is the
/// kernel. For transposed convolutions, whose operand has gaps, the operand is the kernel instead: it slides over the
/// output gradient, which has none, from the last tap to the first.
Tensor differentiateKernel(graph::ConvolveOp op, Tensor x, Tensor kernel, Tensor g) {
  g = cast(g, x.elementType());
  ArrayRef<int64_t> spreads = op.getOperandDilation(), strides = op.getStrides();
  int64_t groups = op.getGroups();
  bool transposed = llvm::product_of(spreads) > llvm::product_of(strides);
  Tensor picture = transposed ? g : x, sliding = transposed ? x : g;
  ArrayRef<int64_t> pictureGaps = transposed ? strides : spreads, slidingGaps = transposed ? spreads : strides;
  Shape low, high;
  SmallVector<int64_t> spatial;
  for (auto [i, dilation] : llvm::enumerate(op.getDilations())) {
    Expr taps = kernel.dim(i + 2);
    low.push_back(transposed ? (taps - 1) * dilation - op.getLow()[i] : op.getLow()[i]);
    high.push_back(padAfter(taps, dilation, sliding.dim(i + 2), slidingGaps[i], picture.dim(i + 2), pictureGaps[i],
                            low.back()));
    spatial.push_back(i + 2);
  }
  Window window{{}, llvm::to_vector(op.getDilations()), llvm::to_vector(slidingGaps), low, high};
  Tensor gradient = convolve(exchangeAcrossGroups(picture, groups), exchangeAcrossGroups(sliding, 1), window,
                             pictureGaps, groups, sumType(op));
  if (transposed)
    gradient = exchangeAcrossGroups(reverse(gradient, spatial), groups);
  return exchangeAcrossGroups(gradient, 1);
}

LogicalResult differentiateConvolve(graph::ConvolveOp op, Backward &backward) {
  Tensor x = backward.operand(0), kernel = backward.operand(1), g = backward.gradient();
  if (!kernel.dim(0).exactDiv(backward.builder.size(op.getGroups())))
    return backward.refuse("has a number of output channels that is not known to be a multiple of its groups");
  if (backward.wants(0u))
    backward.add(0u, cast(differentiateOperand(op, x, kernel, g), x.elementType()));
  if (backward.wants(1u))
    backward.add(1u, cast(differentiateKernel(op, x, kernel, g), kernel.elementType()));
  return success();
}

} // namespace

void addConvolutionRules(RuleTable &table) { table.add<graph::ConvolveOp, differentiateConvolve>(); }

} // namespace freestone::grad
