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
  /// Operands that repeat from vector to vector of a row.
  SmallVector<Value> repeated;
  SmallVector<tile::CheckOp> checks;
  /// Whether some are loads or checks: LLVM hoists arithmetic by itself.
  bool isWorthwhile = false;
};

} // namespace

/// Whether an operand's elements are the same in every vector of a row that has one at least, as where the columns of
/// an index are taken modulo a divisor of the lanes.
static bool isRepeated(tile::ComputeOp compute, unsigned input, int64_t lanes) {
  unsigned column = compute.getNumParallel() - 1;
  std::optional<int64_t> columns = compute.getExtents()[column].asConstant();
  if (lanes == 1 || !columns || *columns < lanes || compute.getFill(input))
    return false;
  Expr here = tile::getLoopSymbol(compute.getContext(), column);
  auto next = [&](StringRef symbol) -> std::optional<Expr> {
    return symbol == *here.asSymbol() ? std::optional(here + lanes) : std::nullopt;
  };
  return llvm::all_of(tile::getIndices(compute, input), [&](Expr index) { return index.substitute(next) == index; });
}

static Shared findShared(tile::ComputeOp compute, int64_t lanes) {
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
    if (compute.getInputs()[input].getDefiningOp<tile::ComputeOp>())
      continue;
    if (llvm::all_of(tile::getIndices(compute, input), isFixed))
      add(argument);
    else if (isRepeated(compute, input, lanes))
      shared.repeated.push_back(argument);
    else
      continue;
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

bool codegen::hasSharedValues(tile::ComputeOp compute, int64_t lanes) {
  return findShared(compute, lanes).isWorthwhile;
}

SharedValues codegen::emitSharedValues(Emission &emission, tile::ComputeOp compute, const LanePoints &point,
                                       const LanePoints &vector) {
  assert(point.lanes == 1 && "a value that all lanes share is a scalar");
  SharedValues emitted;
  Shared shared = findShared(compute, vector.lanes);
  if (!shared.isWorthwhile)
    return emitted;
  BodyVectorizer body(emission, compute, point), lanes(emission, compute, vector);
  for (Value value : shared.values)
    emitted.values[value] = body.get(value);
  for (Value value : shared.repeated)
    emitted.values[value] = lanes.get(value);
  for (tile::CheckOp check : shared.checks) {
    emission.check(check, body.get(check.getCondition()));
    emitted.checks.insert(check);
  }
  return emitted;
}
