// Determinants, by elimination.
#include "compiler/expressions/Scan.h"
#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// Columns that one step eliminates: it passes over the matrices once.
constexpr int64_t columnsTogether = 4;

/// Some columns are eliminated in each step, each with the row, of those that are still open, whose element there is
/// the largest. Rows stay where they are: a row that is taken is no longer open, and the sign changes with each open
/// row before it. Rows [b, n, n], open rows [b, n] and the product of the pivots so far [b, 1] become those of the next
/// step.
class Elimination {
public:
  Elimination(ArrayRef<Tensor> carried, Tensor step, int64_t together)
      : rows(carried[0]), open(carried[1]), product(carried[2]), n(rows.dim(1)) {
    place = iota(rows.builder(), {n}, 0, rows.builder().getI64Type());
    isWhole = Expr::mod(n, together).isConstant(0);
    Tensor places = step + iota(rows.builder(), {rows.builder().size(together)}, 0, rows.builder().getI64Type());
    for (int64_t column = 0; column < together; ++column)
      isThere.push_back(isWhole ? Tensor() : step + double(column) < n);
    columns = transpose(gather(rows, isWhole ? places : min(places, n - 1), 2), {0, 2, 1});
  }

  std::vector<Tensor> run() {
    for (size_t column = 0; column < isThere.size(); ++column)
      eliminate(column);
    // One pass over all matrices.
    for (auto [factors, pivotRow] : zip_equal(allFactors, pivotRows))
      rows = rows - unsqueeze(factors, {2}) * pivotRow;
    return {rows, open, product};
  }

private:
  /// The first of the columns left [b, c, n], which are up to date with the factors so far, as are the pivots' rows;
  /// the matrices are not.
  void eliminate(size_t number) {
    GraphBuilder &builder = rows.builder();
    auto takeColumns = [&](Expr first, Expr count) { return slice(columns, 1, first, count); };
    Tensor column = squeeze(takeColumns(builder.size(0), builder.size(1)), {1});
    Tensor best = argReduce(/*largest=*/true, select(open, abs(column), -1.0), 1, /*lastIndex=*/false,
                            /*keepDims=*/true); // [b, 1]
    auto takeBest = [&](Tensor of) { return gather(of, best, 1, /*batchDims=*/1); };
    Tensor pivot = takeBest(column), pivotRow = takeBest(rows); // [b, 1], [b, 1, n]
    for (auto [factors, before] : zip_equal(allFactors, pivotRows))
      pivotRow = pivotRow - unsqueeze(takeBest(factors), {2}) * before;
    Tensor openBefore = sum(cast(open & (place < best), rows.elementType()), {1}, /*keepDims=*/true);
    Tensor isOdd = notEqual(openBefore, floor(openBefore * 0.5) * 2.0);
    Tensor factor = select(isOdd, -pivot, pivot);
    open = open & notEqual(place, best);
    Tensor quotients = select(open, column / select(equal(pivot, 0.0), 1.0, pivot), 0.0);
    if (!isWhole) {
      factor = select(isThere[number], factor, 1.0);
      quotients = select(isThere[number], quotients, 0.0);
    }
    product = product * factor;
    if (number + 1 < isThere.size()) {
      Tensor later = takeColumns(builder.size(1), columns.dim(1) - 1);
      columns = later - unsqueeze(quotients, {1}) * gather(later, best, 2, /*batchDims=*/1);
    }
    allFactors.push_back(quotients);
    pivotRows.push_back(pivotRow);
  }

  Tensor rows, open, product, place, columns;
  Expr n;
  bool isWhole;
  SmallVector<Tensor> isThere, allFactors, pivotRows;
};

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
  int64_t together = std::clamp<int64_t>(n.asConstant().value_or(columnsTogether), 1, columnsTogether);
  mlir::Type i64 = builder.getI64Type();
  Tensor open = notEqual(builder.splat(1, i64, {batch, n}), 0.0);
  std::vector<Tensor> carried = {reshape(wide, {batch, n, n}), open,
                                 builder.splat(1, wide.elementType(), {batch, builder.size(1)})};
  Expr count = Expr::ceilDiv(n, together);
  std::vector<Tensor> results;
  if (count.isConstant(1))
    results = Elimination(carried, builder.integer(int64_t(0)), together).run();
  else
    results = scan(builder, carried, {iota(builder, {count}, 0, i64) * double(together)},
                   [&](ArrayRef<Tensor> values) { return Elimination(values, values[3], together).run(); });
  return results.empty() ? Tensor() : cast(reshape(results[2], outer), x.elementType());
}

} // namespace

void registerDeterminant(Registry &registry) { registry.add("Det", {11}, determinant); }

} // namespace freestone::importer
