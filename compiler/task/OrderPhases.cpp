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

/// Who touched a buffer, and which elements each tile touched.
struct Touch {
  int64_t phase;
  Attribute tiles;
  Attribute elements;
};

/// Whether tile t of the space touches only what tile t touched before, under one distribution of tiles to workers.
bool staysOnWorker(const Touch &before, SpaceOp space, Attribute elements) {
  return !isa<UnitAttr>(elements) && before.elements == elements && before.tiles == space.getTilesAttr();
}

class OrderPhases : public task::impl::OrderPhasesBase<OrderPhases> {
public:
  using OrderPhasesBase::OrderPhasesBase;

  void runOnOperation() override {
    DenseMap<Value, SmallVector<Touch>> reads, writes;
    int64_t horizon = -1, lastBinding = -1;
    for (auto [index, phase] : llvm::enumerate(getOperation().getPhases())) {
      // Sizes that one worker derives anew while running are read by all from then on.
      int64_t latest = lastBinding;
      llvm::SetVector<int64_t> same;
      auto comeAfter = [&](ArrayRef<Touch> touches, SpaceOp space, Attribute elements) {
        for (const Touch &touch : touches) {
          if (elide && staysOnWorker(touch, space, elements))
            same.insert(touch.phase);
          else
            latest = std::max(latest, touch.phase);
        }
      };
      for (SpaceOp space : phase.getSpaces()) {
        for (auto [input, elements] : llvm::zip_equal(space.getInputs(), space.getReads()))
          comeAfter(writes.lookup(input), space, elements);
        for (auto [output, elements] : llvm::zip_equal(space.getOutputs(), space.getWrites())) {
          comeAfter(reads.lookup(output), space, elements);
          comeAfter(writes.lookup(output), space, elements);
        }
      }
      auto touch = [&](SpaceOp space, Attribute elements) {
        return Touch{static_cast<int64_t>(index), space.getTilesAttr(), elements};
      };
      for (SpaceOp space : phase.getSpaces()) {
        for (auto [input, elements] : llvm::zip_equal(space.getInputs(), space.getReads()))
          reads[input].push_back(touch(space, elements));
        for (auto [output, elements] : llvm::zip_equal(space.getOutputs(), space.getWrites()))
          writes[output].push_back(touch(space, elements));
      }

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
