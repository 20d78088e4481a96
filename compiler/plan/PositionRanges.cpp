#include "compiler/plan/PositionRanges.h"

#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;
using sym::Interval;

/// Beyond this, sums and products of bounds might overflow.
static constexpr int64_t largest = int64_t(1) << 31;

static bool isBounded(Interval range) { return -largest <= range.lo && range.hi <= largest; }

static Interval unite(Interval a, Interval b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

PositionRanges::PositionRanges(ComputeOp compute) {
  for (sym::Expr extent : compute.getExtents()) {
    std::optional<int64_t> count = extent.asConstant();
    loops.push_back(count ? Interval{0, std::max<int64_t>(*count - 1, 0)} : Interval::size());
  }
}

/// Where the condition compares a loop with a constant, each choice sees only the positions on its side.
Interval PositionRanges::getChosen(arith::SelectOp select) const {
  APInt holds;
  if (matchPattern(select.getCondition(), m_ConstantInt(&holds)))
    return get(holds.isZero() ? select.getFalseValue() : select.getTrueValue());
  auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
  auto index = compare ? compare.getLhs().getDefiningOp<IndexOp>() : IndexOp();
  APInt bound;
  if (!index || compare.getPredicate() != arith::CmpIPredicate::slt ||
      !matchPattern(compare.getRhs(), m_ConstantInt(&bound)))
    return unite(get(select.getTrueValue()), get(select.getFalseValue()));
  int64_t end = bound.getSExtValue();
  PositionRanges below = *this, from = *this;
  Interval &low = below.loops[index.getLoop()], &high = from.loops[index.getLoop()];
  low.hi = std::min(low.hi, end - 1);
  high.lo = std::max(high.lo, end);
  if (low.lo > low.hi)
    return from.get(select.getFalseValue());
  if (high.lo > high.hi)
    return below.get(select.getTrueValue());
  return unite(below.get(select.getTrueValue()), from.get(select.getFalseValue()));
}

Interval PositionRanges::get(Value position) const {
  Operation *op = position.getDefiningOp();
  APInt constant;
  if (!op)
    return {};
  if (matchPattern(position, m_ConstantInt(&constant)))
    return Interval::point(constant.getSExtValue());
  if (auto index = dyn_cast<IndexOp>(op))
    return loops[index.getLoop()];
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return getChosen(select);
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return {};
  Interval a = get(op->getOperand(0)), b = get(op->getOperand(1));
  if (!isBounded(a) || !isBounded(b))
    return {};
  if (isa<arith::AddIOp>(op))
    return {a.lo + b.lo, a.hi + b.hi};
  if (isa<arith::SubIOp>(op))
    return {a.lo - b.hi, a.hi - b.lo};
  std::initializer_list<int64_t> corners = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
  return {std::min(corners), std::max(corners)};
}

bool PositionRanges::isInside(ReadOp read, unsigned dim) const {
  Interval range = get(read.getIndices()[dim]);
  sym::Expr extent = cast<graph::TensorType>(read.getTensor().getType()).getShape()[dim];
  if (auto index = read.getIndices()[dim].getDefiningOp<IndexOp>())
    if (cast<ComputeOp>(read->getParentOp()).getExtents()[index.getLoop()] == extent)
      return true;
  std::optional<int64_t> size = extent.asConstant();
  return size && range.lo >= 0 && range.hi < *size;
}

std::optional<Expr> tile::getPositionExpr(Value position) {
  Operation *op = position.getDefiningOp();
  APInt constant;
  if (matchPattern(position, m_ConstantInt(&constant)))
    return Expr::constant(position.getContext(), constant.getSExtValue());
  if (auto index = dyn_cast_or_null<IndexOp>(op))
    return getLoopSymbol(position.getContext(), index.getLoop());
  if (auto size = dyn_cast_or_null<SizeOp>(op))
    return size.getSize().getExpr();
  if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(op))
    return cast.getType().isIndex() || cast.getType().isInteger(64) ? getPositionExpr(cast.getIn()) : std::nullopt;
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<Expr> lhs = getPositionExpr(op->getOperand(0)), rhs = getPositionExpr(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  return isa<arith::AddIOp>(op) ? *lhs + *rhs : isa<arith::SubIOp>(op) ? *lhs - *rhs : *lhs * *rhs;
}
