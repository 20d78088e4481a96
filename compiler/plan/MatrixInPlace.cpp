#include "compiler/plan/MatrixInPlace.h"

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

static std::optional<MatrixInPlace> getMatrix(ContractionForm &form, Value factor, ArrayRef<unsigned> across) {
  std::optional<unsigned> input = form.getInput(factor);
  if (!input || across.size() > 1 || form.k.size() != 1 || form.compute.getFill(*input) ||
      !hasStrides(form.compute.getInputType(*input)))
    return std::nullopt;
  std::optional<LinearIndex> linear = getStrides(form.compute, *input);
  if (!linear)
    return std::nullopt;
  Expr none = Expr::constant(form.compute.getContext(), 0);
  return MatrixInPlace{*input, across.empty() ? none : linear->strides[across.front()],
                       linear->strides[form.k.front()]};
}

std::optional<MatrixInPlace> MatrixInPlace::getRows(ContractionForm &form) { return getMatrix(form, form.lhs, form.m); }

std::optional<MatrixInPlace> MatrixInPlace::getColumns(ContractionForm &form) {
  return getMatrix(form, form.rhs, form.n);
}

ReadsInPlace ReadsInPlace::get(ContractionForm &form) {
  std::optional<MatrixInPlace> rows = MatrixInPlace::getRows(form), columns = MatrixInPlace::getColumns(form);
  ReadsInPlace reads;
  if (!columns)
    return reads;
  // Updates pack rows themselves.
  reads.mayUpdate = columns->across.isConstant(1) && !form.areRowsStrips();
  reads.mayBeInner = rows && rows->along.isConstant(1);
  return reads;
}

/// The least value of an extent.
static int64_t getLeast(ContractionForm &form, ArrayRef<unsigned> loops) {
  return sym::Bounds(sym::Interval::size()).interval(form.getExtent(loops)).lo;
}

int64_t ReadsInPlace::getMostRows(ContractionForm &form) {
  ReadsInPlace reads = get(form);
  return (reads.mayUpdate || reads.mayBeInner) && getLeast(form, form.m) <= mostRows ? mostRows : 0;
}

int64_t ReadsInPlace::getMostColumns(ContractionForm &form) {
  return get(form).mayBeInner && getLeast(form, form.n) <= mostColumns ? mostColumns : 0;
}

bool ReadsInPlace::isNarrow(ContractionForm &form) {
  std::optional<int64_t> columns = form.getExtent(form.n).asConstant();
  std::optional<DotProductFactors> factors = form.getDotProductFactors();
  return factors && columns && *columns <= mostColumns && get(form).mayBeInner &&
         getLeast(form, form.k) >= *columns * wordsOfColumn * factors->getStepsOfWord();
}
