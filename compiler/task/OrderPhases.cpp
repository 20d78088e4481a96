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

/// Who wrote a buffer, and which elements each tile wrote.
struct Write {
  int64_t phase;
  Attribute tiles;
  Attribute elements;
};

/// Whether tile t of the reader touches only what tile t of the writer wrote, under one distribution of tiles to workers.
bool staysOnWorker(const Write &write, SpaceOp reader, Attribute elements) {
  return !isa<UnitAttr>(elements) && write.elements == elements && write.tiles == reader.getTilesAttr();
}

class OrderPhases : public task::impl::OrderPhasesBase<OrderPhases> {
public:
  using OrderPhasesBase::OrderPhasesBase;

  void runOnOperation() override {
    DenseMap<Value, SmallVector<Write>> writes;
    int64_t horizon = -1, lastBinding = -1;
    for (auto [index, phase] : llvm::enumerate(getOperation().getPhases())) {
      // Sizes that one worker derives anew while running are read by all from then on.
      int64_t latest = lastBinding;
      llvm::SetVector<int64_t> same;
      for (SpaceOp space : phase.getSpaces()) {
        for (auto [input, elements] : llvm::zip_equal(space.getInputs(), space.getReads())) {
          for (const Write &write : writes.lookup(input)) {
            if (elide && staysOnWorker(write, space, elements))
              same.insert(write.phase);
            else
              latest = std::max(latest, write.phase);
          }
        }
      }
      for (SpaceOp space : phase.getSpaces())
        for (auto [output, elements] : llvm::zip_equal(space.getOutputs(), space.getWrites()))
          writes[output].push_back({static_cast<int64_t>(index), space.getTilesAttr(), elements});

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
