// Determinants, by elimination.
#include "compiler/expressions/Scan.h"
#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// One column is eliminated in each step, with the row whose element there is the largest: rows [b, n, n] and the
/// product of the pivots so far [b] become those of the next step.
std::vector<Tensor> eliminate(Tensor rows, Tensor product, Tensor step) {
  GraphBuilder &builder = rows.builder();
  mlir::Type i64 = builder.getI64Type();
  Expr batch = rows.dim(0), n = rows.dim(1);
  Tensor number = iota(builder, {n}, 0, i64);
  Tensor column = gather(rows, step, 2); // [b, n]
  Tensor below = select(number >= step, abs(column), -1.0);
  Tensor best = argReduce(/*largest=*/true, below, 1, /*lastIndex=*/false, /*keepDims=*/true); // [b, 1]
  Tensor pivotRow = gather(rows, best, 1, /*batchDims=*/1);                                    // [b, 1, n]
  Tensor stepRow = unsqueeze(gather(rows, step, 1), {1});
  Tensor pivot = gather(reshape(pivotRow, {batch, n}), step, 1); // [b]
  Tensor swaps = notEqual(reshape(best, {batch}), step);
  // The step's row takes the pivot's place; it is not needed itself any more.
  rows = select(equal(unsqueeze(number, {1}), unsqueeze(best, {2})), stepRow, rows);
  Tensor divisor = select(equal(pivot, 0.0), splatLike(1, pivot), pivot);
  Tensor factors = gather(rows, step, 2) / unsqueeze(divisor, {1});
  rows = rows - unsqueeze(factors, {2}) * pivotRow;
  return {rows, product * select(swaps, -pivot, pivot)};
}

Tensor determinant(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  ModelBuilder &builder = node.builder();
  if (x.rank() < 2 || !x.isFloat())
    return node.reject("the input must be square matrices of floats");
  if (!builder.makeEqual(x.dim(-2), x.dim(-1), "rows and columns of the matrices"))
    return {};
  Shape outer(x.shape().drop_back(2));
  Expr batch = builder.size(1), n = x.dim(-1);
  for (Expr extent : outer)
    batch = batch * extent;
  Tensor wide = widen(x);
  std::vector<Tensor> results =
      scan(builder, {reshape(wide, {batch, n, n}), builder.splat(1, wide.elementType(), {batch})},
           {iota(builder, {n}, 0, builder.getI64Type())},
           [](ArrayRef<Tensor> values) -> std::vector<Tensor> { return eliminate(values[0], values[1], values[2]); });
  return results.empty() ? Tensor() : cast(reshape(results[1], outer), x.elementType());
}

} // namespace

void registerDeterminant(Registry &registry) { registry.add("Det", {11}, determinant); }

} // namespace freestone::importer
