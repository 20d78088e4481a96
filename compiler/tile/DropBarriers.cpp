#include "compiler/tile/Passes.h"

#include "compiler/dialect/graph/GraphDialect.h"

namespace freestone::tile {
#define GEN_PASS_DEF_DROPBARRIERS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;

namespace {

struct DropBarriers : tile::impl::DropBarriersBase<DropBarriers> {
  void runOnOperation() override {
    getOperation().walk([](graph::BarrierOp barrier) {
      barrier.getResult().replaceAllUsesWith(barrier.getOperand());
      barrier.erase();
    });
  }
};

} // namespace
