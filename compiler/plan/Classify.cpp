#include "compiler/plan/Classify.h"

#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

StringRef stringify(ProgramClass programClass) {
  static constexpr StringRef names[] = {"elementwise", "broadcast",   "injective", "reduction",
                                        "contraction", "convolution", "opaque"};
  return names[static_cast<unsigned>(programClass)];
}

bool isMap(ComputeOp op) { return !op.getNumReductions() && op.getReads().empty(); }

bool isCopy(ComputeOp op) {
  return isMap(op) && op.getInputs().size() == 1 && op.getNumResults() == 1 &&
         op.getBody()->getTerminator()->getOperand(0) == op.getInputArgs()[0];
}

bool isNarrowing(ComputeOp op) {
  if (!isMap(op) || op.getInputs().size() != 1 || op.getNumResults() != 1 || op.getFill(0))
    return false;
  Operation *body = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  return isa_and_nonnull<arith::TruncFOp>(body) && body->getOperand(0) == op.getInputArgs()[0];
}

bool isReadAtParallelLoops(ComputeOp op, unsigned input) {
  AffineMap map = op.getMap(input);
  if (map.getNumResults() != op.getNumParallel())
    return false;
  for (auto [position, result] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || dim.getPosition() != position)
      return false;
  }
  return true;
}

/// Whether the coordinates are constants or loops in increasing order.
static bool isOrderedSubset(AffineMap map) {
  int64_t last = -1;
  for (AffineExpr result : map.getResults()) {
    if (isa<AffineConstantExpr>(result))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || static_cast<int64_t>(dim.getPosition()) <= last)
      return false;
    last = dim.getPosition();
  }
  return true;
}

/// The operand that a factor of the product reads, seen through widening casts.
static std::optional<unsigned> getFactor(ComputeOp op, Value value, bool &widens) {
  while (Operation *cast = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(cast))
      return std::nullopt;
    widens = true;
    value = cast->getOperand(0);
  }
  unsigned number = llvm::cast<BlockArgument>(value).getArgNumber();
  if (number >= op.getInputs().size())
    return std::nullopt;
  return number;
}

std::optional<ContractionDims> getContractionDims(ComputeOp op) {
  // The parts of a factor may lie beside it.
  bool hasTables = llvm::any_of(op.getReads(), [](Value table) {
    return !isa_and_nonnull<PartsAttr>(cast<graph::TensorType>(table.getType()).getLayout());
  });
  if (!op.getNumReductions() || hasTables || op.getNumResults() != 1 || op.getInputs().size() != 2)
    return std::nullopt;
  Operation *add = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add))
    return std::nullopt;
  Value accumulator = op.getAccumulators()[0];
  bool accumulatorFirst = add->getOperand(0) == accumulator;
  Operation *multiply = add->getOperand(accumulatorFirst ? 1 : 0).getDefiningOp();
  if ((!accumulatorFirst && add->getOperand(1) != accumulator) || !multiply ||
      !isa<arith::MulFOp, arith::MulIOp>(multiply))
    return std::nullopt;
  ContractionDims dims;
  bool widens = false;
  std::optional<unsigned> a = getFactor(op, multiply->getOperand(0), widens);
  std::optional<unsigned> b = getFactor(op, multiply->getOperand(1), widens);
  if (!a || !b || *a == *b)
    return std::nullopt;
  dims.accumulate = widens ? Accumulate::widenMultiplyAdd : Accumulate::multiplyAdd;

  llvm::SmallBitVector ofA = getUsedLoops(op, *a), ofB = getUsedLoops(op, *b);
  for (unsigned loop = op.getNumParallel(); loop < op.getNumLoops(); ++loop)
    if (!ofA[loop] || !ofB[loop])
      return std::nullopt;
  bool rightIsB = true;
  for (unsigned loop = op.getNumParallel(); loop > 0; --loop)
    if (ofA[loop - 1] != ofB[loop - 1]) {
      rightIsB = ofB[loop - 1];
      break;
    }
  // Panels are rows of columns, whatever the order of the dimensions.
  auto panels = dyn_cast_or_null<PanelsAttr>(op.getResultType(0).getLayout());
  if (panels)
    rightIsB = ofB[panels.getAxis()];
  dims.lhs = rightIsB ? *a : *b;
  dims.rhs = rightIsB ? *b : *a;
  const llvm::SmallBitVector &ofLeft = rightIsB ? ofA : ofB, &ofRight = rightIsB ? ofB : ofA;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!op.isParallel(loop))
      dims.k.push_back(loop);
    else if (ofLeft[loop] && ofRight[loop])
      dims.batch.push_back(loop);
    else if (ofLeft[loop])
      dims.m.push_back(loop);
    else if (ofRight[loop])
      dims.n.push_back(loop);
    else
      return std::nullopt;
  }
  // Without rows and columns, no element is read twice: an ordinary reduction.
  if (dims.m.empty() && dims.n.empty())
    return std::nullopt;
  // Free loops of the right operand that enclose those of the left repeat the whole product, as batch loops do.
  if (!dims.m.empty() && !panels) {
    auto enclosing = llvm::partition_point(dims.n, [&](unsigned loop) { return loop < dims.m.front(); });
    if (enclosing != dims.n.end()) {
      dims.batch.append(dims.n.begin(), enclosing);
      dims.n.erase(dims.n.begin(), enclosing);
      llvm::sort(dims.batch);
    }
  }
  return dims;
}

/// Whether several loops move one coordinate over overlapping ranges. Loops with strides that keep their ranges apart
/// are digits of one index, not a window.
static bool hasWindow(ComputeOp op, unsigned input, const sym::Bounds &bounds) {
  if (op.getFill(input))
    return true;
  SmallVector<Expr> extents = op.getExtents();
  for (Expr index : getIndices(op, input)) {
    SmallVector<unsigned> loops = getLoops(index);
    if (loops.size() < 2)
      continue;
    std::optional<LinearIndex> linear = asLinear(index, op.getNumLoops());
    if (!linear)
      continue;
    for (unsigned outer : loops)
      for (unsigned inner : loops)
        if (outer != inner && !bounds.provablyLE(linear->strides[inner] * extents[inner], linear->strides[outer]) &&
            !bounds.provablyLE(linear->strides[outer] * extents[outer], linear->strides[inner]))
          return true;
  }
  return false;
}

ProgramClass classify(ComputeOp op, const sym::Bounds &bounds) {
  if (!op.getReads().empty())
    return ProgramClass::opaque;
  if (std::optional<ContractionDims> dims = getContractionDims(op))
    return hasWindow(op, dims->lhs, bounds) || hasWindow(op, dims->rhs, bounds) ? ProgramClass::convolution
                                                                                : ProgramClass::contraction;
  if (op.getNumReductions())
    return ProgramClass::reduction;
  ProgramClass result = ProgramClass::elementwise;
  for (unsigned input = 0; input < op.getInputs().size(); ++input) {
    AffineMap map = op.getMap(input);
    if (op.getFill(input) || !isOrderedSubset(map))
      return ProgramClass::injective;
    if (!isReadAtParallelLoops(op, input) && map.getNumResults() > 0)
      result = ProgramClass::broadcast;
  }
  return result;
}

ProgramClass classify(ComputeOp op) { return classify(op, sym::Bounds(sym::Interval::size())); }

} // namespace freestone::tile
