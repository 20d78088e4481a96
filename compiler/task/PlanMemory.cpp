#include "compiler/task/LiveRanges.h"
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

class PlanMemory : public task::impl::PlanMemoryBase<PlanMemory> {
public:
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() override {
    LiveRanges ranges(getOperation());
    Builder builder(&getContext());
    for (BufferOp buffer : getOperation().getBuffers()) {
      if (buffer.getKind() != BufferKind::arena)
        continue;
      auto range = reuse ? ranges.get(buffer) : std::nullopt;
      auto [first, freed] = range.value_or(std::pair<int64_t, int64_t>(0, ranges.getNumPhases()));
      buffer.setFirstAttr(builder.getI64IntegerAttr(first));
      buffer.setFreedAttr(builder.getI64IntegerAttr(freed));
    }
  }
};

} // namespace
