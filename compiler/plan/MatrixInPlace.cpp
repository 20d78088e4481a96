#include "compiler/plan/MatrixInPlace.h"

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/plan/DotProductLayout.h"
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

/// Columns in panels along k, at the first step: a step within a panel is a neighbour in memory.
static std::optional<AlongDepth> getPanelsAlongDepth(ContractionForm &form, const MatrixInPlace &rows, int64_t width) {
  auto argument = dyn_cast<BlockArgument>(form.rhs);
  if (!argument || form.n.size() != 1)
    return std::nullopt;
  unsigned input = argument.getArgNumber();
  graph::TensorType type = form.compute.getInputType(input);
  auto panels = dyn_cast_or_null<PanelsAttr>(type.getLayout());
  MLIRContext *context = form.compute.getContext();
  Expr step = getLoopSymbol(context, form.k.front()), column = getLoopSymbol(context, form.n.front());
  SmallVector<Expr> indices = getIndices(form.compute, input);
  if (!panels || panels.getWidth() != width || form.compute.getFill(input) || indices[panels.getAxis()] != step)
    return std::nullopt;
  auto dependsOnStep = [&](Expr index) {
    llvm::SetVector<StringAttr> symbols;
    index.collectSymbols(symbols);
    return symbols.contains(StringAttr::get(context, *step.asSymbol()));
  };
  if (llvm::count_if(indices, dependsOnStep) != 1)
    return std::nullopt;
  auto getLinearAt = [&](int64_t number) {
    SmallVector<Expr> loops;
    for (unsigned loop = 0; loop < form.compute.getNumLoops(); ++loop)
      loops.push_back(getLoopSymbol(context, loop));
    loops[form.k.front()] = Expr::constant(context, number);
    return getLinearIndex(type,
                          llvm::map_to_vector(indices, [&](Expr index) { return substituteLoops(index, loops); }));
  };
  Expr first = getLinearAt(0);
  std::optional<Expr> across = getStride(first, column);
  if (!across)
    return std::nullopt;
  return AlongDepth{rows, input, *across, getLinearAt(width) - first, /*arePanels=*/true};
}

/// Whether a factor is an element of an input, as the micro-kernel multiplies it.
static bool isElement(ContractionForm &form, Value factor) {
  std::optional<unsigned> input = form.getInput(factor);
  return input && form.compute.getInputType(*input).getElementType() == form.elementType;
}

static std::optional<MatrixInPlace> getRowsAlongDepth(ContractionForm &form) {
  if (!isa<FloatType>(form.elementType) || !isElement(form, form.lhs))
    return std::nullopt;
  std::optional<MatrixInPlace> rows = MatrixInPlace::getRows(form);
  return rows && rows->along.isConstant(1) ? rows : std::nullopt;
}

std::optional<AlongDepth> AlongDepth::get(ContractionForm &form, int64_t width) {
  std::optional<MatrixInPlace> rows = getRowsAlongDepth(form);
  if (!rows || !isElement(form, form.rhs))
    return std::nullopt;
  if (std::optional<MatrixInPlace> columns = MatrixInPlace::getColumns(form)) {
    if (!columns->along.isConstant(1))
      return std::nullopt;
    return AlongDepth{*rows, columns->input, columns->across, Expr::constant(form.compute.getContext(), width),
                      /*arePanels=*/false};
  }
  return getPanelsAlongDepth(form, *rows, width);
}

/// The least value of an extent.
static int64_t getLeast(ContractionForm &form, ArrayRef<unsigned> loops) {
  return sym::Bounds(sym::Interval::size()).interval(form.getExtent(loops)).lo;
}

int64_t RowsInPlace::getMostColumns(ContractionForm &form, MicroKernelAttr kernel) {
  int64_t most = mostPanels * kernel.getWidth();
  return getRowsAlongDepth(form) && getLeast(form, form.n) <= most ? most : 0;
}

ReadsInPlace ReadsInPlace::get(ContractionForm &form) {
  std::optional<MatrixInPlace> rows = MatrixInPlace::getRows(form), columns = MatrixInPlace::getColumns(form);
  ReadsInPlace reads;
  reads.mayKeepRows = rows && rows->along.isConstant(1);
  if (!columns)
    return reads;
  // Updates pack rows themselves.
  reads.mayUpdate = columns->across.isConstant(1) && !form.areRowsStrips();
  reads.mayBeInner = reads.mayKeepRows;
  return reads;
}

int64_t ReadsInPlace::getMostRows(ContractionForm &form) {
  ReadsInPlace reads = get(form);
  return (reads.mayUpdate || reads.mayBeInner) && getLeast(form, form.m) <= mostRows ? mostRows : 0;
}

int64_t ReadsInPlace::getMostColumns(ContractionForm &form, bool isBeside) {
  ReadsInPlace reads = get(form);
  int64_t most = isBeside ? mostColumnsBeside : mostPanels * DotProductLayout::unit;
  return (isBeside ? reads.mayBeInner : reads.mayKeepRows) && getLeast(form, form.n) <= most ? most : 0;
}

bool ReadsInPlace::hasInner(ContractionForm &form, int64_t rows, int64_t columns) {
  return get(form).mayBeInner && (rows > 0 || (columns > 0 && getLeast(form, form.n) <= mostColumns));
}

bool ReadsInPlace::hasRowsInPlace(ContractionForm &form, int64_t columns) {
  return get(form).mayKeepRows && columns > mostColumns;
}

bool ReadsInPlace::isNarrow(ContractionForm &form) {
  std::optional<int64_t> columns = form.getExtent(form.n).asConstant();
  std::optional<DotProductFactors> factors = form.getDotProductFactors();
  return factors && columns && *columns <= mostColumns && get(form).mayBeInner &&
         getLeast(form, form.k) >= *columns * wordsOfColumn * factors->getStepsOfWord();
}
