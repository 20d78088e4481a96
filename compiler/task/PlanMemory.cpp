#include "compiler/task/Passes.h"

#include "mlir/IR/Builders.h"

namespace freestone::task {
#define GEN_PASS_DEF_PLANMEMORY
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// The live range of a buffer: first and last phase that touch it.
struct Lifetime {
  int64_t first = -1, last = -1;

  void touch(int64_t phase) {
    if (first < 0)
      first = phase;
    last = phase;
  }
};

class PlanMemory : public task::impl::PlanMemoryBase<PlanMemory> {
public:
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() override {
    DenseMap<Value, Lifetime> lifetimes;
    SmallVector<int64_t> horizons;
    int64_t horizon = -1;
    int64_t phases = 0;
    for (PhaseOp phase : getOperation().getPhases()) {
      for (int64_t before : phase.getAllAfter())
        horizon = std::max(horizon, before);
      horizons.push_back(horizon);
      for (SpaceOp space : phase.getSpaces())
        for (Value operand : space->getOperands())
          lifetimes[operand].touch(phases);
      ++phases;
    }

    Builder builder(&getContext());
    for (BufferOp buffer : getOperation().getBuffers()) {
      if (buffer.getKind() != BufferKind::arena)
        continue;
      Lifetime lifetime = lifetimes.lookup(buffer.getBuffer());
      bool shared = reuse && lifetime.first >= 0;
      buffer.setHorizonAttr(builder.getI64IntegerAttr(shared ? horizons[lifetime.first] : -1));
      buffer.setLastUseAttr(builder.getI64IntegerAttr(shared ? lifetime.last : phases - 1));
    }
  }
};

} // namespace
