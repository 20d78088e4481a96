#include "compiler/task/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace freestone::task {
#define GEN_PASS_DEF_ORDERPHASES
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// An access to a buffer by a phase, with the elements of each tile.
struct PhaseTouch {
  int64_t phase;
  PhaseOp::Deal deal;
  Attribute tiles;
  Attribute elements;

  /// Whether tile t of both accesses touches the same elements, with equal dealing of tiles to workers. A single tile
  /// may touch any elements.
  bool staysOnWorker(const PhaseTouch &other) const {
    bool areAligned = !isa<UnitAttr>(elements) && elements == other.elements;
    bool isOnly = cast<sym::ExprAttr>(tiles).getExpr().isConstant(1);
    return (areAligned || isOnly) && tiles == other.tiles && deal == other.deal;
  }
};

class OrderPhases : public task::impl::OrderPhasesBase<OrderPhases> {
public:
  using OrderPhasesBase::OrderPhasesBase;

  void runOnOperation() override {
    DenseMap<Value, SmallVector<PhaseTouch>> reads, writes;
    int64_t horizon = -1, lastBinding = -1;
    for (auto [index, phase] : llvm::enumerate(getOperation().getPhases())) {
      // Sizes that worker 0 derives at run time are read by all workers from then on.
      int64_t latest = lastBinding;
      llvm::SetVector<int64_t> same;
      auto comeAfter = [&](ArrayRef<PhaseTouch> touches, const PhaseTouch &touch) {
        for (const PhaseTouch &before : touches) {
          if (elide && before.staysOnWorker(touch))
            same.insert(before.phase);
          else
            latest = std::max(latest, before.phase);
        }
      };
      SmallVector<SpaceOp, 8> spaces = phase.getSpaces();
      SmallVector<PhaseOp::Deal, 8> deals = phase.getDeals();
      auto forTouches = [&](llvm::function_ref<void(Value, const PhaseTouch &, bool isWrite)> visit) {
        for (auto [space, deal] : llvm::zip_equal(spaces, deals)) {
          PhaseTouch touch{static_cast<int64_t>(index), deal, space.getTilesAttr(), {}};
          for (auto [operands, accesses, isWrite] : {std::tuple(space.getInputs(), space.getReads(), false),
                                                     std::tuple(space.getOutputs(), space.getWrites(), true)})
            for (auto [operand, elements] : llvm::zip_equal(operands, accesses)) {
              touch.elements = elements;
              visit(operand, touch, isWrite);
            }
        }
      };
      forTouches([&](Value buffer, const PhaseTouch &touch, bool isWrite) {
        comeAfter(writes.lookup(buffer), touch);
        if (isWrite)
          comeAfter(reads.lookup(buffer), touch);
      });
      forTouches([&](Value buffer, const PhaseTouch &touch, bool isWrite) {
        (isWrite ? writes : reads)[buffer].push_back(touch);
      });

      OpBuilder builder(phase);
      elided += same.size();
      bool mustWait = latest > horizon;
      waits += mustWait;
      phase.setAllAfterAttr(builder.getDenseI64ArrayAttr(mustWait ? ArrayRef(latest) : ArrayRef<int64_t>()));
      phase.setSameAfterAttr(builder.getDenseI64ArrayAttr(same.takeVector()));
      horizon = std::max(horizon, latest);
      if (phase.getBinds())
        lastBinding = index;
    }
  }
};

} // namespace
