#include "compiler/tile/Passes.h"

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/sym/SymDialect.h"
#include "compiler/expressions/Expressions.h"
#include "compiler/tile/Counters.h"

namespace freestone::tile {
#define GEN_PASS_DEF_SELECTBRANCHES
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using expressions::GraphBuilder;
using expressions::Tensor;

namespace {

/// Computes short branches of one function.
class Selector {
public:
  Selector(func::FuncOp function, const DeviceDescription &device)
      : function(function), device(device), bounds(sym::Interval::size()) {
    auto symbols = function->getAttrOfType<DictionaryAttr>("graph.symbols");
    for (NamedAttribute symbol : symbols ? symbols.getValue() : ArrayRef<NamedAttribute>())
      if (auto known = dyn_cast<sym::SymbolBoundsAttr>(symbol.getValue()))
        bounds.set(symbol.getName(), known.getBounds());
  }

  /// Replaces them; returns how many. Inner ones come first, since a branch without others may be short.
  int64_t run() {
    SmallVector<graph::IfOp> branches;
    function.walk([&](graph::IfOp op) { branches.push_back(op); });
    int64_t selected = 0;
    for (graph::IfOp op : branches)
      if (isShort(op)) {
        select(op);
        ++selected;
      }
    return selected;
  }

private:
  bool isShort(graph::IfOp op);
  static bool isHarmless(Operation &op);
  std::optional<double> estimate(Operation &op);
  std::optional<double> estimateBytes(Value value);
  static void select(graph::IfOp op);

  func::FuncOp function;
  const DeviceDescription &device;
  sym::Bounds bounds;
};

/// Whether an operator may run though its side is not taken: it checks nothing, draws no random numbers, determines no
/// size, and its cost is that of moving its elements, and of some operations on each.
bool Selector::isHarmless(Operation &op) {
  return isa<graph::ConstantOp, graph::WeightOp, graph::SizesOp, graph::IotaOp, graph::UnaryOp, graph::BinaryOp,
             graph::CompareOp, graph::SelectOp, graph::CastOp, graph::BroadcastOp, graph::ReshapeOp, graph::TransposeOp,
             graph::SliceOp, graph::PadOp, graph::ConcatOp, graph::ReduceOp>(op);
}

/// The most bytes that a value ever has; nothing if there is no limit.
std::optional<double> Selector::estimateBytes(Value value) {
  auto type = cast<graph::TensorType>(value.getType());
  int64_t most = bounds.interval(type.getNumElements()).hi;
  if (most == sym::Interval::plusInfinity)
    return std::nullopt;
  return double(most) * std::max(8u, type.getElementType().getIntOrFloatBitWidth()) / 8;
}

/// The seconds of one unit for an operator, at its greatest sizes.
std::optional<double> Selector::estimate(Operation &op) {
  if (isa<graph::ConstantOp, graph::WeightOp, graph::SizesOp, graph::ReshapeOp>(op))
    return 0;
  std::optional<double> bytes = estimateBytes(op.getResult(0));
  // What is read of a larger operand, as a slice reads it, is no more than what is written, but for sums.
  if (isa<graph::ReduceOp>(op))
    bytes = estimateBytes(op.getOperand(0));
  if (!bytes)
    return std::nullopt;
  // Functions of one number take some twenty multiply-adds.
  double operations = *bytes / 4 * (isa<graph::UnaryOp>(op) ? 20 : 1);
  return 2 * *bytes / device.getBandwidth(0) + operations / device.getMultiplyAdds(32);
}

/// Whether both sides together take no longer than waiting for the condition does.
bool Selector::isShort(graph::IfOp op) {
  double seconds = 0;
  for (Value result : op.getResults()) {
    auto type = cast<graph::TensorType>(result.getType());
    std::optional<double> bytes = estimateBytes(result);
    if (graph::isStorageOnly(type.getElementType()) || !bytes)
      return false;
    seconds += 3 * *bytes / device.getBandwidth(0);
  }
  for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
    Block &block = region->front();
    if (block.getTerminator()->getOperandTypes() != op->getResultTypes())
      return false;
    for (Operation &inner : block.without_terminator()) {
      std::optional<double> more = isHarmless(inner) ? estimate(inner) : std::nullopt;
      if (!more)
        return false;
      seconds += *more;
    }
  }
  return seconds <= device.getHandOffSeconds();
}

void Selector::select(graph::IfOp op) {
  GraphBuilder builder(op.getLoc(), op);
  SmallVector<SmallVector<Value>, 2> sides;
  for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
    Block &block = region->front();
    sides.emplace_back(block.getTerminator()->getOperands());
    block.getTerminator()->erase();
    op->getBlock()->getOperations().splice(op->getIterator(), block.getOperations());
  }
  Tensor condition(builder, op.getCondition());
  for (auto [result, left, right] : llvm::zip_equal(op.getResults(), sides[0], sides[1])) {
    Tensor whenTrue(builder, left);
    Value chosen = left == right ? left
                                 : expressions::select(expressions::broadcastTo(condition, whenTrue.shape()), whenTrue,
                                                       Tensor(builder, right))
                                       .value();
    result.replaceAllUsesWith(chosen);
  }
  op.erase();
}

struct SelectBranches : tile::impl::SelectBranchesBase<SelectBranches> {
  using SelectBranchesBase::SelectBranchesBase;

  void runOnOperation() override {
    if (!enable)
      return;
    FailureOr<DeviceDescription> device = DeviceDescription::getFor(getOperation(), target);
    if (failed(device))
      return signalPassFailure();
    count(getOperation(), "selected_branches", Selector(getOperation(), *device).run());
  }
};

} // namespace
