#include "compiler/tile/Passes.h"

#include "compiler/device/DeviceDescription.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/Counters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace freestone::tile {
#define GEN_PASS_DEF_TABULATEMAPS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

namespace {

bool isByte(Value value) { return value.getType().isInteger(8); }

/// For each value of a body the 8 bits that it is a function of; null where there are none, or more than these.
class Sources {
public:
  explicit Sources(ComputeOp compute) {
    for (Value argument : compute.getBody()->getArguments())
      if (isByte(argument))
        sources[argument] = argument;
    for (Operation &op : compute.getBody()->without_terminator())
      if (op.getNumResults() == 1)
        sources[op.getResult(0)] = find(op);
  }

  Value get(Value value) const { return sources.lookup(value); }

private:
  Value find(Operation &op) const {
    Value source, result = op.getResult(0), none = isByte(result) ? result : Value();
    if (!isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) || matchPattern(&op, m_Constant()))
      return matchPattern(&op, m_Constant()) ? Value() : none;
    for (Value operand : op.getOperands()) {
      if (matchPattern(operand, m_Constant()))
        continue;
      Value other = get(operand);
      if (!other || (source && source != other))
        return none;
      source = other;
    }
    return source ? source : none;
  }

  llvm::DenseMap<Value, Value> sources;
};

/// The operations from 8 bits to 8 bits that they alone make, in order.
struct Chain {
  Value source, result;
  SmallVector<Operation *> ops;

  Chain(Value source, Value result) : source(source), result(result) {
    llvm::SetVector<Operation *> found;
    SmallVector<Value> values = {result};
    while (!values.empty()) {
      Value value = values.pop_back_val();
      if (value != source && found.insert(value.getDefiningOp()))
        llvm::append_range(values, value.getDefiningOp()->getOperands());
    }
    ops.assign(found.begin(), found.end());
    llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  }

  /// Whether nothing else needs an operation, which then goes with the result.
  llvm::SmallPtrSet<Operation *, 16> getOwn() const {
    llvm::SmallPtrSet<Operation *, 16> own;
    for (Operation *op : llvm::reverse(ops))
      if (op == result.getDefiningOp() ||
          llvm::all_of(op->getUsers(), [&](Operation *user) { return own.contains(user); }))
        own.insert(op);
    return own;
  }
};

/// The results for all 256 numbers; nothing where an operation has none for one of them.
std::optional<SmallVector<int8_t>> evaluate(const Chain &chain) {
  // Copies, since folding may change an operation in place.
  SmallVector<OwningOpRef<Operation *>> copies;
  for (Operation *op : chain.ops)
    copies.emplace_back(op->clone());
  SmallVector<int8_t> table;
  for (int64_t number = 0; number < LookupOp::numbers; ++number) {
    llvm::DenseMap<Value, Attribute> known;
    known[chain.source] = IntegerAttr::get(chain.source.getType(), APInt(8, number));
    for (auto [op, copy] : llvm::zip_equal(chain.ops, copies)) {
      auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return known.lookup(operand); });
      SmallVector<OpFoldResult> results;
      if (failed(copy->fold(operands, results)) || results.size() != 1)
        return std::nullopt;
      auto value = dyn_cast<Value>(results.front());
      Attribute result = value ? known.lookup(value) : cast<Attribute>(results.front());
      if (!isa_and_nonnull<IntegerAttr, FloatAttr>(result))
        return std::nullopt;
      known[op->getResult(0)] = result;
    }
    table.push_back(cast<IntegerAttr>(known.lookup(chain.result)).getValue().getSExtValue());
  }
  return table;
}

class TabulateMaps : public tile::impl::TabulateMapsBase<TabulateMaps> {
public:
  using TabulateMapsBase::TabulateMapsBase;

  void runOnOperation() override {
    if (!enable)
      return;
    FailureOr<DeviceDescription> device = DeviceDescription::getFor(getOperation(), target);
    if (failed(device))
      return signalPassFailure();
    operationsOfLookup = device->permutesBytes ? permutations : parts;
    int64_t tabulated = 0;
    getOperation().walk([&](ComputeOp compute) { tabulated += tabulate(compute); });
    count(getOperation(), "tabulated_maps", tabulated);
  }

private:
  int64_t tabulate(ComputeOp compute);
  bool pays(ComputeOp compute, const Chain &chain);

  /// Operations on registers: two permutations, their choice by the highest bit and conversions; or sixteen shuffles of
  /// 16 bytes, with a difference and a sum each.
  static constexpr int64_t permutations = 6, parts = 48;
  int64_t operationsOfLookup = 0;
};

/// Whether the operations of a chain take longer than a lookup. Bodies without wider elements have as many lanes as
/// bytes: a value of 32 bits is then four registers.
bool TabulateMaps::pays(ComputeOp compute, const Chain &chain) {
  llvm::SmallPtrSet<Operation *, 16> own = chain.getOwn();
  int64_t cost = 0;
  for (Operation *op : own)
    cost += getOperationCost(*op);
  auto isNarrow = [](Type type) { return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() <= 8; };
  bool areBytes = compute.getNumReductions() == 0 && compute.getReads().empty() &&
                  llvm::all_of(compute.getBody()->getArgumentTypes(), isNarrow);
  for (Operation &op : compute.getBody()->without_terminator())
    areBytes &= own.contains(&op) || llvm::all_of(op.getResultTypes(), isNarrow);
  constexpr int64_t registersOfNumbers = 4;
  return (areBytes ? registersOfNumbers * cost : cost) > operationsOfLookup * 5 / 4;
}

int64_t TabulateMaps::tabulate(ComputeOp compute) {
  Sources sources(compute);
  int64_t tabulated = 0;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*compute.getBody()))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    if (op.getNumResults() != 1 || !isByte(op.getResult(0)))
      continue;
    Value result = op.getResult(0), source = sources.get(result);
    if (!source || source == result)
      continue;
    Chain chain(source, result);
    if (!pays(compute, chain))
      continue;
    std::optional<SmallVector<int8_t>> table = evaluate(chain);
    if (!table)
      continue;
    OpBuilder builder(&op);
    result.replaceAllUsesWith(LookupOp::create(builder, op.getLoc(), source, *table));
    op.erase();
    ++tabulated;
  }
  return tabulated;
}

} // namespace
