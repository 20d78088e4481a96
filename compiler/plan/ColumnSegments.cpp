#include "compiler/plan/ColumnSegments.h"

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/PositionRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// A comparison that has one result below a column, and the other from there on.
struct Threshold {
  Expr column;
  bool below;
};

} // namespace

/// Extents are not negative; other symbols, such as the place of an operand among the columns, may be.
static sym::Bounds getBounds(ArrayRef<ComputeOp> computes) {
  sym::Bounds bounds;
  auto add = [&](ArrayRef<Expr> extents) {
    for (Expr extent : extents)
      if (std::optional<StringRef> symbol = extent.asSymbol())
        bounds.set(*symbol, sym::Interval::size());
  };
  for (ComputeOp compute : computes) {
    add(compute.getExtents());
    for (unsigned input = 0; input < compute.getInputs().size(); ++input)
      add(compute.getInputType(input).getShape());
  }
  return bounds;
}

/// What is added to the column in an index that is the column plus a size.
static std::optional<Expr> getShift(Expr index, unsigned column) {
  Expr shift = index - getLoopSymbol(index.context(), column);
  return dependsOnLoops(shift) ? std::nullopt : std::optional(shift);
}

static std::optional<Threshold> getThreshold(arith::CmpIOp compare, unsigned column) {
  using Predicate = arith::CmpIPredicate;
  if (!compare.getLhs().getType().isIndex())
    return std::nullopt;
  std::optional<Expr> lhs = getPositionExpr(compare.getLhs()), rhs = getPositionExpr(compare.getRhs());
  std::optional<Expr> shift = lhs && rhs ? getShift(*lhs - *rhs, column) : std::nullopt;
  if (!shift)
    return std::nullopt;
  Expr zero = Expr::constant(compare.getContext(), 0), equal = zero - *shift;
  switch (compare.getPredicate()) {
  case Predicate::slt:
    return Threshold{equal, true};
  case Predicate::sge:
    return Threshold{equal, false};
  case Predicate::sle:
    return Threshold{equal + 1, true};
  case Predicate::sgt:
    return Threshold{equal + 1, false};
  default:
    return std::nullopt;
  }
}

/// Calls `take` with every dimension of an operand with a fill whose index is a shifted column.
static void forShiftedDims(ComputeOp compute,
                           llvm::function_ref<void(unsigned input, unsigned dim, Expr shift, Expr extent)> take) {
  unsigned column = compute.getNumParallel() - 1;
  for (unsigned input = 0; input < compute.getInputs().size(); ++input) {
    if (!compute.getFill(input))
      continue;
    ArrayRef<Expr> shape = compute.getInputType(input).getShape();
    for (auto [dim, index] : llvm::enumerate(getIndices(compute, input)))
      if (std::optional<Expr> shift = getShift(index, column))
        take(input, dim, *shift, shape[dim]);
  }
}

ColumnFacts tile::getColumnFacts(ComputeOp compute, Expr begin, Expr end) {
  sym::Bounds bounds = getBounds(compute);
  ColumnFacts facts;
  unsigned column = compute.getNumParallel() - 1;
  for (auto compare : compute.getBody()->getOps<arith::CmpIOp>())
    if (std::optional<Threshold> threshold = getThreshold(compare, column)) {
      if (bounds.provablyLE(end, threshold->column))
        facts.conditions[compare] = threshold->below;
      else if (bounds.provablyLE(threshold->column, begin))
        facts.conditions[compare] = !threshold->below;
    }
  forShiftedDims(compute, [&](unsigned input, unsigned dim, Expr shift, Expr extent) {
    Expr zero = Expr::constant(compute.getContext(), 0);
    if (bounds.provablyLE(zero, begin + shift) && bounds.provablyLE(end + shift, extent))
      facts.insideDims.insert({input, dim});
    if (bounds.provablyLE(end + shift, zero) || bounds.provablyLE(extent, begin + shift))
      facts.outside.insert(input);
  });
  PositionRanges ranges(compute);
  std::optional<int64_t> first = begin.asConstant(), last = end.asConstant();
  if (first && last && *first < *last)
    ranges.set(column, {*first, *last - 1});
  for (auto read : compute.getBody()->getOps<ReadOp>())
    for (unsigned dim = 0; dim < read.getIndices().size(); ++dim)
      if (ranges.isInside(read, dim))
        facts.insideReads.insert({read, dim});
  return facts;
}

std::optional<SmallVector<Expr>> tile::getColumnEnds(ArrayRef<ComputeOp> computes) {
  sym::Bounds bounds = getBounds(computes);
  SmallVector<Expr> ends;
  bool isOrdered = true;
  for (ComputeOp compute : computes) {
    unsigned column = compute.getNumParallel() - 1;
    Expr zero = Expr::constant(compute.getContext(), 0), columns = compute.getExtents()[column];
    auto add = [&](Expr end) {
      if (bounds.provablyLE(end, zero) || bounds.provablyLE(columns, end) || llvm::is_contained(ends, end))
        return;
      auto *place = ends.begin();
      while (place != ends.end() && bounds.provablyLE(*place, end))
        ++place;
      isOrdered &= std::all_of(place, ends.end(), [&](Expr later) { return bounds.provablyLE(end, later); });
      ends.insert(place, end);
    };
    for (auto compare : compute.getBody()->getOps<arith::CmpIOp>())
      if (std::optional<Threshold> threshold = getThreshold(compare, column))
        add(threshold->column);
    forShiftedDims(compute, [&](unsigned, unsigned, Expr shift, Expr extent) {
      add(zero - shift);
      add(extent - shift);
    });
  }
  return isOrdered ? std::optional(ends) : std::nullopt;
}

/// Whether a result depends on the value where comparisons have these results.
static bool dependsOn(Value result, Value value, const ColumnFacts &facts) {
  if (result == value)
    return true;
  Operation *op = result.getDefiningOp();
  if (!op)
    return false;
  if (auto select = dyn_cast<arith::SelectOp>(op))
    if (auto known = facts.conditions.find(select.getCondition()); known != facts.conditions.end())
      return dependsOn(known->second ? select.getTrueValue() : select.getFalseValue(), value, facts);
  return llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOn(operand, value, facts); });
}

bool tile::isPieceOfRows(ComputeOp map, unsigned input) {
  std::optional<SmallVector<Expr>> ends = getColumnEnds(map);
  SmallVector<Expr> indices = getIndices(map, input), extents = map.getExtents();
  if (!ends || indices.size() != extents.size() || !map.getFill(input))
    return false;
  unsigned column = extents.size() - 1;
  for (unsigned dim = 0; dim < column; ++dim)
    if (indices[dim] != getLoopSymbol(map.getContext(), dim) || map.getInputType(input).getShape()[dim] != extents[dim])
      return false;
  if (!getShift(indices[column], column))
    return false;
  Value argument = map.getInputArgs()[input];
  Expr begin = Expr::constant(map.getContext(), 0);
  ends->push_back(extents[column]);
  for (Expr end : *ends) {
    ColumnFacts facts = getColumnFacts(map, begin, end);
    bool isUnread = llvm::none_of(map.getBody()->getTerminator()->getOperands(),
                                  [&](Value result) { return dependsOn(result, argument, facts); });
    if (!isUnread && !facts.insideDims.contains({input, column}))
      return false;
    begin = end;
  }
  return true;
}
