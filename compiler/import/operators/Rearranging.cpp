// The same elements in another order.
#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {
namespace {

std::optional<Expr> divided(Node &node, Expr extent, int64_t divisor, const Twine &what) {
  std::optional<Expr> quotient = extent.exactDiv(node.builder().size(divisor));
  if (!quotient)
    node.reject(what + " " + extent.str() + " is no multiple of " + Twine(divisor));
  return quotient;
}

Tensor depthToSpace(Node &node) {
  Tensor x = node.input(0);
  int64_t block = node.integer("blocksize");
  if (!x)
    return x;
  if (x.rank() != 4 || block < 1 || block > 1 << 15)
    return node.reject("the input must have rank 4 and the block a positive size");
  std::optional<Expr> depth = divided(node, x.dim(1), block * block, "the number of channels");
  if (!depth)
    return {};
  Expr b = node.builder().size(block);
  Shape result = {x.dim(0), *depth, x.dim(2) * block, x.dim(3) * block};
  if (node.text("mode", "DCR") == "DCR")
    return reshape(transpose(reshape(x, {x.dim(0), b, b, *depth, x.dim(2), x.dim(3)}), {0, 3, 4, 1, 5, 2}), result);
  return reshape(transpose(reshape(x, {x.dim(0), *depth, b, b, x.dim(2), x.dim(3)}), {0, 1, 4, 2, 5, 3}), result);
}

Tensor spaceToDepth(Node &node) {
  Tensor x = node.input(0);
  int64_t block = node.integer("blocksize");
  if (!x)
    return x;
  if (x.rank() != 4 || block < 1 || block > 1 << 15)
    return node.reject("the input must have rank 4 and the block a positive size");
  std::optional<Expr> rows = divided(node, x.dim(2), block, "the height"),
                      columns = divided(node, x.dim(3), block, "the width");
  if (!rows || !columns)
    return {};
  Expr b = node.builder().size(block);
  Tensor split = reshape(x, {x.dim(0), x.dim(1), *rows, b, *columns, b});
  bool channelsFirst = node.text("mode", "DCR") == "CRD";
  Tensor moved = channelsFirst ? transpose(split, {0, 1, 3, 5, 2, 4}) : transpose(split, {0, 3, 5, 1, 2, 4});
  return reshape(moved, {x.dim(0), x.dim(1) * (block * block), *rows, *columns});
}

/// Along the time axis, the first `length` elements of each batch in reverse, the others as they are.
Tensor reverseSequence(Node &node) {
  Tensor x = node.input(0), lengths = node.input(1);
  if (!x || !lengths)
    return {};
  int64_t time = node.integer("time_axis", 0), batch = node.integer("batch_axis", 1);
  if (x.rank() < 2 || time + batch != 1 || time * batch != 0 || lengths.rank() != 1)
    return node.reject("time and batch must be the first two axes, and the lengths a vector");
  ModelBuilder &builder = node.builder();
  // Steps of all sequences in one row, so that neither axis moves.
  Expr steps = x.dim(0) * x.dim(1);
  Shape flat = {steps};
  llvm::append_range(flat, x.shape().drop_front(2));
  mlir::Type i64 = builder.getI64Type();
  Tensor step = iota(builder, {x.dim(0), x.dim(1)}, time, i64),
         sequence = iota(builder, {x.dim(0), x.dim(1)}, batch, i64);
  Tensor length = unsqueeze(cast(lengths, i64), {time});
  Tensor from = select(step < length, length - 1.0 - step, step);
  Tensor position = time == 0 ? from * x.dim(1) + sequence : sequence * x.dim(1) + from;
  return gather(reshape(x, flat), position, 0);
}

} // namespace

void registerRearranging(Registry &registry) {
  registry.add("DepthToSpace", {1}, depthToSpace);
  registry.add("SpaceToDepth", {1}, spaceToDepth);
  registry.add("ReverseSequence", {10}, reverseSequence);
}

} // namespace freestone::importer
