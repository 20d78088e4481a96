#include "compiler/simplify/Passes.h"

#include "mlir/IR/Builders.h"

namespace freestone::graph {
#define GEN_PASS_DEF_DECOMPOSE
#include "compiler/simplify/Passes.h.inc"
} // namespace freestone::graph

using namespace mlir;
using namespace freestone;

namespace {

class Decompose : public graph::impl::DecomposeBase<Decompose> {
  void runOnOperation() override {
    SmallVector<graph::CompositeOpInterface> composites;
    getOperation().walk([&](graph::CompositeOpInterface op) { composites.push_back(op); });
    for (graph::CompositeOpInterface op : composites)
      if (failed(decompose(op)))
        return signalPassFailure();
  }

  LogicalResult decompose(graph::CompositeOpInterface op) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> values = op.decompose(builder);
    if (failed(values))
      return op->emitError("can't be made of core operators for these types");
    op->replaceAllUsesWith(*values);
    op->erase();
    return success();
  }
};

} // namespace
