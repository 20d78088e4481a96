#include "compiler/codegen/cpu/SharedValues.h"

#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

/// The loop-invariant values and checks of a body, in its order: equal for all columns.
struct Shared {
  SmallVector<Value> values;
  SmallVector<tile::CheckOp> checks;
  /// Whether some are loads or checks: LLVM hoists arithmetic by itself.
  bool isWorthwhile = false;
};

} // namespace

static Shared findShared(tile::ComputeOp compute) {
  Shared shared;
  if (compute.getNumReductions() || !compute.getNumParallel())
    return shared;
  unsigned column = compute.getNumParallel() - 1;
  llvm::SmallPtrSet<Value, 16> isShared(compute.getReadArgs().begin(), compute.getReadArgs().end());
  auto add = [&](Value value) {
    isShared.insert(value);
    shared.values.push_back(value);
  };
  for (auto [input, argument] : llvm::enumerate(compute.getInputArgs())) {
    auto isFixed = [&](Expr index) { return !llvm::is_contained(tile::getLoops(index), column); };
    // Results of the program's other computes stay in registers.
    if (compute.getInputs()[input].getDefiningOp<tile::ComputeOp>() ||
        !llvm::all_of(tile::getIndices(compute, input), isFixed))
      continue;
    add(argument);
    shared.isWorthwhile = true;
  }
  for (Operation &op : compute.getBody()->without_terminator()) {
    auto index = dyn_cast<tile::IndexOp>(op);
    if ((index && index.getLoop() == column) ||
        !llvm::all_of(op.getOperands(), [&](Value operand) { return isShared.contains(operand); }))
      continue;
    if (auto check = dyn_cast<tile::CheckOp>(op))
      shared.checks.push_back(check);
    else if (op.hasTrait<OpTrait::ConstantLike>())
      isShared.insert(op.getResult(0));
    else
      add(op.getResult(0));
    shared.isWorthwhile |= isa<tile::CheckOp, tile::ReadOp>(op);
  }
  return shared;
}

bool codegen::hasSharedValues(tile::ComputeOp compute) { return findShared(compute).isWorthwhile; }

SharedValues codegen::emitSharedValues(Emission &emission, tile::ComputeOp compute, const LanePoints &row) {
  assert(row.lanes == 1 && "a value that all lanes share is a scalar");
  SharedValues emitted;
  Shared shared = findShared(compute);
  if (!shared.isWorthwhile)
    return emitted;
  BodyVectorizer body(emission, compute, row);
  for (Value value : shared.values)
    emitted.values[value] = body.get(value);
  for (tile::CheckOp check : shared.checks) {
    emission.check(check, body.get(check.getCondition()));
    emitted.checks.insert(check);
  }
  return emitted;
}
