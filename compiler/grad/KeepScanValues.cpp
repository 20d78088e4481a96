// What the gradient of a scan needs of each step: found in memory rather than computed again, where that is cheaper.
#include "compiler/dialect/graph/RecomputeRequest.h"
#include "compiler/expressions/Reversed.h"
#include "compiler/grad/CarriedSums.h"
#include "compiler/grad/ElementWork.h"
#include "compiler/grad/Passes.h"
#include "compiler/grad/RematerialiseCut.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace freestone::grad {

#define GEN_PASS_DEF_KEEPSCANVALUES
#include "compiler/grad/Passes.h.inc"

namespace {

using graph::ScanOp;

/// The same scan that goes along `scanned` and collects `collected` of its body beside the carried values; results that
/// there were before are `results` by number, where they stay.
ScanOp rebuild(ScanOp scan, ValueRange scanned, ArrayRef<Value> collected, ArrayRef<int64_t> results) {
  size_t states = scan.getCarried().size();
  Operation *yield = scan.getBody().front().getTerminator();
  sym::Expr steps = graph::getShape(scan.getScanned().front())[0];
  SmallVector<Value> yielded(yield->getOperands().take_front(states));
  SmallVector<Type> types(scan.getResults().take_front(states).getTypes());
  for (Value value : collected) {
    auto type = cast<graph::TensorType>(value.getType());
    SmallVector<sym::Expr> shape = {steps};
    llvm::append_range(shape, type.getShape());
    types.push_back(type.withShape(shape));
    yielded.push_back(value);
  }
  yield->setOperands(yielded);
  OpBuilder builder(scan);
  auto rebuilt = ScanOp::create(builder, scan.getLoc(), types, scan.getCarried(), scanned);
  rebuilt->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
  rebuilt.getBody().takeBody(scan.getBody());
  for (auto [before, now] : llvm::zip_equal(scan->getResults(), results))
    if (now >= 0)
      before.replaceAllUsesWith(rebuilt->getResult(now));
  scan.erase();
  return rebuilt;
}

void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Leaves out what is collected and not used, collected twice, or scanned as it is; and what is scanned and not used.
void prune(ScanOp scan) {
  size_t states = scan.getCarried().size();
  Block &body = scan.getBody().front();
  SmallVector<Value> yielded(body.getTerminator()->getOperands()), collected, scanned;
  SmallVector<int64_t> results = llvm::to_vector(llvm::seq<int64_t>(0, states));
  for (size_t index = states; index < yielded.size(); ++index) {
    Value result = scan->getResult(index), value = yielded[index];
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == &body && argument.getArgNumber() >= states)
      result.replaceAllUsesWith(scan.getScanned()[argument.getArgNumber() - states]);
    auto *same = llvm::find(collected, value);
    if (result.use_empty()) {
      results.push_back(-1);
      continue;
    }
    results.push_back(states + (same - collected.begin()));
    if (same == collected.end())
      collected.push_back(value);
  }
  SmallVector<Value> kept(yielded.begin(), yielded.begin() + states);
  llvm::append_range(kept, collected);
  bool isChanged = collected.size() != scan.getNumCollected();
  body.getTerminator()->setOperands(kept);
  eraseDead(body);
  for (size_t index = scan.getScanned().size(); index-- > 0;) {
    bool isAlone = index == 0 && scanned.empty();
    if (body.getArgument(states + index).use_empty() && !isAlone) {
      body.eraseArgument(states + index);
      isChanged = true;
    } else {
      scanned.insert(scanned.begin(), scan.getScanned()[index]);
    }
  }
  if (isChanged)
    rebuild(scan, scanned, collected, results);
}

/// Later ones first: what they leave out, earlier ones need not collect, and may be dead without.
void pruneAll(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op))
      op.erase();
    else if (auto scan = dyn_cast<ScanOp>(op))
      prune(scan);
  }
}

/// A scan, and one that goes along what it collected in the opposite order.
class ScanPair {
public:
  ScanPair(ScanOp forward, ScanOp backward) : forward(forward), backward(backward) {}

  /// Keeps what is worth it. Returns how many values.
  int64_t keep();
  ScanOp forward, backward;

private:
  void matchArguments();
  void match(Operation &op);
  Operation *findSame(Operation &op);
  int64_t getElements(Value value);
  int64_t getBytes(Value value);
  int64_t getWork(Operation *op);
  bool isInvariant(Value value) {
    return !backward.getBody().isAncestor(value.getParentRegion()) || invariants.contains(value);
  }
  SmallVector<Value> choose();

  /// Values of a backward step that are those of the forward one, in order.
  llvm::MapVector<Value, Value> same;
  DenseSet<Value> invariants;
};

void ScanPair::matchArguments() {
  size_t states = forward.getCarried().size();
  Operation *yield = forward.getBody().front().getTerminator();
  for (auto [argument, sequence] : llvm::zip_equal(backward.getSliceArgs(), backward.getScanned())) {
    Value whole = expressions::getReversed(sequence);
    if (!whole)
      continue;
    if (whole.getDefiningOp() == forward && cast<OpResult>(whole).getResultNumber() >= states)
      same[argument] = yield->getOperand(cast<OpResult>(whole).getResultNumber());
    for (auto [slice, all] : llvm::zip_equal(forward.getSliceArgs(), forward.getScanned()))
      if (all == whole)
        same[argument] = slice;
  }
}

/// The operator of the forward step that computes the same.
Operation *ScanPair::findSame(Operation &op) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    auto found = same.find(operand);
    bool isOutside = !backward.getBody().isAncestor(operand.getParentRegion());
    if (found == same.end() && !isOutside)
      return nullptr;
    operands.push_back(isOutside ? operand : found->second);
  }
  for (Operation &other : forward.getBody().front())
    if (other.getName() == op.getName() && other.getResultTypes() == op.getResultTypes() &&
        other.getOperands() == ValueRange(operands) && other.getAttrDictionary() == op.getAttrDictionary())
      return &other;
  return nullptr;
}

void ScanPair::match(Operation &op) {
  if (!isPure(&op) || op.getNumRegions() || op.getNumResults() != 1)
    return;
  if (llvm::all_of(op.getOperands(), [&](Value operand) { return isInvariant(operand); }))
    invariants.insert(op.getResult(0));
  if (Operation *other = findSame(op))
    same[op.getResult(0)] = other->getResult(0);
}

/// Sizes of which nothing is known count alike.
int64_t ScanPair::getElements(Value value) {
  auto elements = cast<graph::TensorType>(value.getType()).getNumElements().evaluate([](StringRef) { return 16; });
  return elements.value_or(1 << 20);
}

int64_t ScanPair::getBytes(Value value) {
  return getElements(value) * std::max(1u, graph::getElementType(value).getIntOrFloatBitWidth() / 8);
}

/// What an operator takes, in bytes that a cache moves meanwhile.
int64_t ScanPair::getWork(Operation *op) {
  int64_t elements = getElements(op->getResult(0));
  if (isa<graph::SliceOp, graph::TransposeOp, graph::ReshapeOp, graph::BroadcastOp>(op))
    return 0;
  if (isa<graph::UnaryOp, graph::BinaryOp>(op))
    return elements * getWorkOfElement(op);
  for (Value operand : op->getOperands())
    elements = std::max(elements, getElements(operand));
  return elements;
}

/// The cheapest values to find in memory, of those that are not.
SmallVector<Value> ScanPair::choose() {
  // What is collected is written; it is turned around, and read.
  constexpr int64_t movesOfNew = 4, movesOfOld = 3;
  KeepProblem problem;
  DenseMap<Value, unsigned> numbers;
  SmallVector<Value> values;
  ValueRange yielded = forward.getBody().front().getTerminator()->getOperands();
  for (auto [value, original] : same) {
    if (invariants.contains(value))
      continue;
    bool isArgument = isa<BlockArgument>(value), isOld = isArgument || llvm::is_contained(yielded, original);
    unsigned number = problem.add(getBytes(value) * (isOld ? movesOfOld : movesOfNew));
    numbers[value] = number;
    values.push_back(value);
    if (isArgument || isa<graph::ContractOp, graph::ConvolveOp>(value.getDefiningOp())) {
      problem.forbid(number);
      continue;
    }
    problem.takes(number, getWork(value.getDefiningOp()));
    for (Value operand : value.getDefiningOp()->getOperands())
      if (auto known = numbers.find(operand); known != numbers.end())
        problem.needs(number, known->second);
  }
  for (Operation &op : backward.getBody().front()) {
    if (op.getNumResults() == 1 && same.contains(op.getResult(0)))
      continue;
    llvm::SetVector<Value> read(op.operand_begin(), op.operand_end());
    if (op.getNumRegions())
      getUsedValuesDefinedAbove(op.getRegions(), read);
    for (Value value : read)
      if (auto known = numbers.find(value); known != numbers.end())
        problem.require(known->second);
  }
  llvm::BitVector kept = problem.solve();
  SmallVector<Value> chosen;
  for (auto [number, value] : llvm::enumerate(values))
    if (kept[number] && !isa<BlockArgument>(value))
      chosen.push_back(value);
  return chosen;
}

int64_t ScanPair::keep() {
  matchArguments();
  if (same.empty())
    return 0;
  for (Operation &op : backward.getBody().front().without_terminator())
    match(op);
  SmallVector<Value> chosen = choose();
  if (chosen.empty())
    return 0;
  size_t states = forward.getCarried().size(), before = forward->getNumResults();
  SmallVector<Value> collected(forward.getBody().front().getTerminator()->getOperands().drop_front(states));
  for (Value value : chosen)
    collected.push_back(same.lookup(value));
  forward = rebuild(forward, forward.getScanned(), collected, llvm::to_vector(llvm::seq<int64_t>(0, before)));
  OpBuilder builder(backward);
  SmallVector<Value> scanned(backward.getScanned());
  Block &body = backward.getBody().front();
  for (auto [index, value] : llvm::enumerate(chosen)) {
    scanned.push_back(expressions::makeReversed(builder, forward->getResult(before + index)));
    value.replaceAllUsesWith(body.addArgument(value.getType(), value.getLoc()));
  }
  SmallVector<Value> own(body.getTerminator()->getOperands().drop_front(backward.getCarried().size()));
  backward = rebuild(backward, scanned, own, llvm::to_vector(llvm::seq<int64_t>(0, backward->getNumResults())));
  return chosen.size();
}

/// Returns how many values are kept for all pairs of scans.
int64_t keepAll(Block &block) {
  int64_t count = 0;
  SmallVector<ScanOp> scans(block.getOps<ScanOp>());
  for (size_t later = 0; later < scans.size(); ++later)
    for (size_t earlier = 0; earlier < later; ++earlier) {
      ScanPair pair(scans[earlier], scans[later]);
      count += pair.keep();
      scans[earlier] = pair.forward;
      scans[later] = pair.backward;
    }
  pruneAll(block);
  return count;
}

struct KeepScanValues : impl::KeepScanValuesBase<KeepScanValues> {
  using Base::Base;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    // Whatever is kept: what is pruned is read in the same order, so that sums have the same bits.
    int64_t count = enable ? useCarriedSums(block) : 0;
    pruneAll(block);
    // With a request to compute again, memory counts more than time.
    if (enable && !graph::recomputesLoops(getOperation()))
      count += keepAll(block);
    if (count)
      getOperation()->setAttr("graph.kept_values", Builder(&getContext()).getI64IntegerAttr(count));
  }
};

} // namespace

} // namespace freestone::grad
