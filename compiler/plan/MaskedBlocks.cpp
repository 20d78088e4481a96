#include "compiler/plan/MaskedBlocks.h"

#include "compiler/plan/Combiner.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/PositionRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
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
  explicit MaskFinder(ComputeOp compute) : compute(compute) {
    sources.insert(compute.getInputs().begin(), compute.getInputs().end());
  }

  /// Finds where a value is masked, or has 0 in place of the exponential of a masked value.
  void findIn(Value value) { find(value, &MaskFinder::findInValue); }
  void findZeroIn(Value value) { find(value, &MaskFinder::findInProduct); }

  Mask mask;
  /// Whether a mask is a finite number, whose exponential is 0 only beside a value that is not masked.
  bool isFinite = false;
  /// Tensors of which values are made.
  llvm::SetVector<Value> sources;
  /// The loop along which an exponential's value is relative to another, one for all of it.
  std::optional<unsigned> column;
  /// That other value, if it is in memory.
  std::optional<LoopTensor> relativeTo;

private:
  using Search = void (MaskFinder::*)(Operation *);

  void find(Value value, Search search);
  void findInValue(Operation *op);
  void findInProduct(Operation *op);
  void findColumn(Value other);
  void addRegions(Value condition, bool holds);
  void addRegion(arith::CmpIOp compare, bool holds);
  void addOperands(Value condition, bool holds, bool isInfinite);
  std::optional<LoopTensor> getInMemory(Value argument);

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
    mask.regions.push_back(distance);
}

/// An argument of the body, as a tensor in memory.
std::optional<LoopTensor> MaskFinder::getInMemory(Value argument) {
  auto element = dyn_cast<BlockArgument>(argument);
  if (!element || element.getArgNumber() >= compute.getInputs().size())
    return std::nullopt;
  unsigned input = element.getArgNumber();
  std::optional<LinearIndex> index = getStrides(compute, input);
  if (!isa<BlockArgument>(compute.getInputs()[input]) || compute.getFill(input) || !index)
    return std::nullopt;
  auto along = llvm::find_if(index->strides, [](Expr stride) { return stride.isConstant(1); });
  if (along == index->strides.end())
    return std::nullopt;
  unsigned loop = along - index->strides.begin();
  return LoopTensor{compute.getInputs()[input], std::move(*index), loop};
}

/// Truth values of memory of which one alone decides.
void MaskFinder::addOperands(Value condition, bool holds, bool isInfinite) {
  Operation *op = condition.getDefiningOp();
  if ((isa_and_nonnull<arith::AndIOp>(op) && !holds) || (isa_and_nonnull<arith::OrIOp>(op) && holds)) {
    addOperands(op->getOperand(0), holds, isInfinite);
    addOperands(op->getOperand(1), holds, isInfinite);
  } else if (isa_and_nonnull<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One())) {
    addOperands(op->getOperand(0), !holds, isInfinite);
  } else if (std::optional<LoopTensor> tensor = getInMemory(condition)) {
    mask.operands.push_back({*tensor, holds, isInfinite});
  }
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

void MaskFinder::find(Value value, Search search) {
  if (Operation *op = value.getDefiningOp())
    return (this->*search)(op);
  unsigned input = cast<BlockArgument>(value).getArgNumber();
  if (std::optional<LoopTensor> tensor = getInMemory(value);
      tensor && search == &MaskFinder::findInValue && value.getType().isF32())
    mask.operands.push_back({*tensor, /*hidden=*/true, /*isInfinite=*/false});
  Value tensor = compute.getInputs()[input];
  auto producer = tensor.getDefiningOp<ComputeOp>();
  SmallVector<Expr> loops;
  for (unsigned loop = 0; loop < compute.getNumLoops(); ++loop)
    loops.push_back(getLoopSymbol(compute.getContext(), loop));
  if (!producer || producer.getNumReductions() || getIndices(compute, input) != loops)
    return;
  sources.remove(tensor);
  std::swap(compute, producer);
  sources.insert(compute.getInputs().begin(), compute.getInputs().end());
  find(compute.getBody()->getTerminator()->getOperand(cast<OpResult>(tensor).getResultNumber()), search);
  std::swap(compute, producer);
}

void MaskFinder::findColumn(Value other) {
  auto argument = dyn_cast<BlockArgument>(other);
  if (!argument)
    return;
  relativeTo = getInMemory(argument);
  SmallVector<unsigned> read;
  for (Expr index : getIndices(compute, argument.getArgNumber()))
    llvm::append_range(read, getLoops(index));
  for (unsigned loop = 0; loop < compute.getNumLoops(); ++loop)
    if (!llvm::is_contained(read, loop))
      column = column ? compute.getNumLoops() : loop;
}

void MaskFinder::findInProduct(Operation *op) {
  if (isa<arith::MulFOp>(op)) {
    findZeroIn(op->getOperand(0));
    findZeroIn(op->getOperand(1));
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    if (matchPattern(select.getTrueValue(), m_AnyZeroFloat()))
      findZeroIn(select.getFalseValue());
    else if (matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
      findZeroIn(select.getTrueValue());
  } else if (auto exponential = dyn_cast<math::ExpOp>(op)) {
    if (auto distance = exponential.getOperand().getDefiningOp<arith::SubFOp>()) {
      findColumn(distance.getRhs());
      findIn(distance.getLhs());
    }
  }
}

void MaskFinder::findInValue(Operation *op) {
  if (isa<arith::AddFOp>(op)) {
    findIn(op->getOperand(0));
    findIn(op->getOperand(1));
  }
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!select)
    return;
  for (bool holds : {true, false}) {
    APFloat constant(0.0f);
    if (!matchPattern(holds ? select.getTrueValue() : select.getFalseValue(), m_ConstantFloat(&constant)) ||
        constant.isNaN() || constant.convertToDouble() > mostMasked)
      continue;
    size_t before = mask.regions.size();
    addRegions(select.getCondition(), holds);
    isFinite |= mask.regions.size() > before && constant.isFinite();
    addOperands(select.getCondition(), holds, constant.isInfinity());
  }
}

/// Whether some column of every row is in none of the regions: the first, the last, or that of the row's number.
static bool isEachRowSeen(ComputeOp compute, unsigned column, ArrayRef<Expr> regions) {
  MLIRContext *context = compute.getContext();
  SmallVector<Expr> extents = compute.getExtents();
  sym::Bounds bounds(sym::Interval::size());
  SmallVector<Expr> columns = {Expr::constant(context, 0), extents[column] - 1};
  for (unsigned row = 0; row < extents.size(); ++row)
    if (row != column && extents[row] == extents[column])
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

Mask tile::getMask(ComputeOp maximum) {
  std::optional<SmallVector<Combiner>> combiners = getCombiners(maximum);
  if (!combiners || combiners->size() != 1 || maximum.getNumReductions() != 1)
    return {};
  MaskFinder finder(maximum);
  finder.findIn(combiners->front().value);
  // Beside a finite mask another operand may be one too: then no value would be far above the others.
  if (finder.isFinite &&
      (finder.sources.size() != 1 || !isEachRowSeen(maximum, maximum.getNumParallel(), finder.mask.regions)))
    finder.mask.regions.clear();
  finder.mask.column = maximum.getNumParallel();
  return std::move(finder.mask);
}

Mask tile::getVanishingMask(ComputeOp map) {
  if (map.getNumReductions() || map.getNumResults() != 1)
    return {};
  MaskFinder finder(map);
  finder.findZeroIn(map.getBody()->getTerminator()->getOperand(0));
  if (!finder.column || *finder.column >= map.getNumLoops())
    return {};
  Mask &mask = finder.mask;
  if (finder.isFinite || !isEachRowSeen(map, *finder.column, mask.regions))
    mask.regions.clear();
  mask.column = *finder.column;
  mask.maximum = finder.relativeTo;
  if (!mask.maximum)
    mask.operands.clear();
  return std::move(mask);
}

namespace {

/// What a value is where some operands are 0.
enum class Vanishing { zero, no, unknown };

Vanishing getVanishing(Value value, const llvm::SmallPtrSetImpl<Value> &zeros) {
  Operation *op = value.getDefiningOp();
  if (zeros.contains(value) || (op && matchPattern(value, m_AnyZeroFloat())))
    return Vanishing::zero;
  if (!op)
    return Vanishing::unknown;
  auto of = [&](unsigned operand) { return getVanishing(op->getOperand(operand), zeros); };
  if (isa<arith::MulFOp>(op) && (of(0) == Vanishing::zero || of(1) == Vanishing::zero))
    return Vanishing::zero;
  if (isa<arith::DivFOp>(op))
    return of(0) == Vanishing::zero ? Vanishing::zero : Vanishing::unknown;
  if (isa<arith::AddFOp, arith::SubFOp>(op) && of(0) == Vanishing::zero && of(1) == Vanishing::zero)
    return Vanishing::zero;
  // Zero is a number.
  if (auto compare = dyn_cast<arith::CmpFOp>(op); compare && compare.getPredicate() == arith::CmpFPredicate::UNO)
    return of(0) == Vanishing::zero && of(1) == Vanishing::zero ? Vanishing::no : Vanishing::unknown;
  if (isa<arith::AndIOp>(op) && (of(0) == Vanishing::no || of(1) == Vanishing::no))
    return Vanishing::no;
  if (isa<arith::SelectOp>(op))
    return of(0) == Vanishing::no || of(1) == Vanishing::zero ? of(2) : Vanishing::unknown;
  return Vanishing::unknown;
}

} // namespace

bool tile::vanishes(ComputeOp compute, unsigned result, const llvm::SmallPtrSetImpl<Value> &tensors) {
  llvm::SmallPtrSet<Value, 4> zeros;
  for (auto [input, argument] : llvm::zip_equal(compute.getInputs(), compute.getInputArgs()))
    if (tensors.contains(input))
      zeros.insert(argument);
  Value value = compute.getBody()->getTerminator()->getOperand(result);
  if (compute.getNumReductions()) {
    std::optional<SmallVector<Combiner>> combiners = getCombiners(compute);
    if (!combiners || (*combiners)[result].kind != vector::CombiningKind::ADD)
      return false;
    value = (*combiners)[result].value;
  }
  return getVanishing(value, zeros) == Vanishing::zero;
}
