#include "compiler/plan/MaskedBlocks.h"

#include "compiler/plan/Combiner.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/PositionRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// Finds the conditions of positions under which a value is masked. Maps of the values, over the same loops, are seen
/// through.
class MaskFinder {
public:
  explicit MaskFinder(ComputeOp maximum) : compute(maximum) {}

  void findIn(Value value);

  SmallVector<Expr> regions;
  /// Whether a mask is a finite number, whose exponential is 0 only beside a value that is not masked.
  bool isFinite = false;
  /// Tensors of which values are made.
  llvm::SetVector<Value> sources;

private:
  void findIn(BlockArgument element);
  void addRegions(Value condition, bool holds);
  void addRegion(arith::CmpIOp compare, bool holds);

  ComputeOp compute;
};

/// What a comparison of two constants, one of them chosen by a condition, says of the condition.
std::optional<bool> getChoice(arith::CmpFOp compare, arith::SelectOp select) {
  APFloat whenTrue(0.0f), whenFalse(0.0f), other(0.0f);
  if (!matchPattern(select.getTrueValue(), m_ConstantFloat(&whenTrue)) ||
      !matchPattern(select.getFalseValue(), m_ConstantFloat(&whenFalse)) ||
      !matchPattern(compare.getRhs(), m_ConstantFloat(&other)))
    return std::nullopt;
  auto compares = [&](const APFloat &value) { return arith::applyCmpPredicate(compare.getPredicate(), value, other); };
  if (compares(whenTrue) == compares(whenFalse))
    return std::nullopt;
  return compares(whenTrue);
}

} // namespace

void MaskFinder::addRegion(arith::CmpIOp compare, bool holds) {
  using Predicate = arith::CmpIPredicate;
  std::optional<Expr> lhs = getPositionExpr(compare.getLhs()), rhs = getPositionExpr(compare.getRhs());
  if (!lhs || !rhs)
    return;
  Predicate predicate = holds ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
  Expr distance = predicate == Predicate::slt || predicate == Predicate::sle ? *rhs - *lhs : *lhs - *rhs;
  if (predicate == Predicate::sle || predicate == Predicate::sge)
    distance = distance + 1;
  else if (predicate != Predicate::slt && predicate != Predicate::sgt)
    return;
  std::optional<LinearIndex> linear = asLinear(distance, compute.getNumLoops());
  if (linear && llvm::all_of(linear->strides, [](Expr stride) { return stride.isConstant(); }))
    regions.push_back(distance);
}

void MaskFinder::addRegions(Value condition, bool holds) {
  Operation *op = condition.getDefiningOp();
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op)) {
    addRegion(compare, holds);
  } else if ((isa_and_nonnull<arith::AndIOp>(op) && !holds) || (isa_and_nonnull<arith::OrIOp>(op) && holds)) {
    addRegions(op->getOperand(0), holds);
    addRegions(op->getOperand(1), holds);
  } else if (auto compare = dyn_cast_or_null<arith::CmpFOp>(op)) {
    auto select = compare.getLhs().getDefiningOp<arith::SelectOp>();
    if (std::optional<bool> choice = select ? getChoice(compare, select) : std::nullopt)
      addRegions(select.getCondition(), *choice == holds);
  }
}

void MaskFinder::findIn(BlockArgument element) {
  Value tensor = compute.getInputs()[element.getArgNumber()];
  auto producer = tensor.getDefiningOp<ComputeOp>();
  SmallVector<Expr> loops;
  for (unsigned loop = 0; loop < compute.getNumLoops(); ++loop)
    loops.push_back(getLoopSymbol(compute.getContext(), loop));
  if (!producer || producer.getNumReductions() || getIndices(compute, element.getArgNumber()) != loops)
    return;
  sources.remove(tensor);
  std::swap(compute, producer);
  sources.insert(compute.getInputs().begin(), compute.getInputs().end());
  findIn(compute.getBody()->getTerminator()->getOperand(cast<OpResult>(tensor).getResultNumber()));
  std::swap(compute, producer);
}

void MaskFinder::findIn(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return findIn(cast<BlockArgument>(value));
  if (isa_and_nonnull<arith::AddFOp>(op)) {
    findIn(op->getOperand(0));
    findIn(op->getOperand(1));
  }
  auto select = dyn_cast_or_null<arith::SelectOp>(op);
  if (!select)
    return;
  // Far below all scores, and far above the lowest number, of which scores are subtracted.
  constexpr double lowest = -1e30;
  for (bool holds : {true, false}) {
    APFloat constant(0.0f);
    if (!matchPattern(holds ? select.getTrueValue() : select.getFalseValue(), m_ConstantFloat(&constant)) ||
        constant.isNaN() || constant.convertToDouble() > lowest)
      continue;
    size_t before = regions.size();
    addRegions(select.getCondition(), holds);
    isFinite |= regions.size() > before && constant.isFinite();
  }
}

/// Whether some column of every row is in none of the regions: the first, the last, or that of the row's number.
static bool isEachRowSeen(ComputeOp maximum, ArrayRef<Expr> regions) {
  MLIRContext *context = maximum.getContext();
  unsigned column = maximum.getNumParallel();
  SmallVector<Expr> extents = maximum.getExtents();
  sym::Bounds bounds(sym::Interval::size());
  SmallVector<Expr> columns = {Expr::constant(context, 0), extents[column] - 1};
  for (unsigned row = 0; row < column; ++row)
    if (extents[row] == extents[column])
      columns.push_back(getLoopSymbol(context, row));
  return llvm::any_of(columns, [&](Expr seen) {
    return llvm::all_of(regions, [&](Expr region) {
      Expr there = region.substitute([&](StringRef symbol) -> std::optional<Expr> {
        return asLoop(symbol) == column ? std::optional(seen) : std::nullopt;
      });
      return bounds.provablyLE(there, Expr::constant(context, 0));
    });
  });
}

SmallVector<Expr> tile::getMaskedRegions(ComputeOp maximum) {
  std::optional<SmallVector<Combiner>> combiners = getCombiners(maximum);
  if (!combiners || combiners->size() != 1 || maximum.getNumReductions() != 1)
    return {};
  MaskFinder finder(maximum);
  finder.sources.insert(maximum.getInputs().begin(), maximum.getInputs().end());
  finder.findIn(combiners->front().value);
  // Beside a finite mask another operand may be one too: then no value would be far above the others.
  if (finder.isFinite && (finder.sources.size() != 1 || !isEachRowSeen(maximum, finder.regions)))
    return {};
  return finder.regions;
}
