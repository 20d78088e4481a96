#include "compiler/dialect/graph/Decompose.h"
#include "compiler/dialect/graph/GraphDialect.h"

using namespace mlir;

namespace freestone::graph {

int64_t decomposeComposites(Operation *root, function_ref<bool(Operation *)> keep) {
  SmallVector<CompositeOpInterface> pending;
  auto collect = [&](Operation *within) {
    within->walk([&](CompositeOpInterface op) {
      if (!keep || !keep(op))
        pending.push_back(op);
    });
  };
  collect(root);
  int64_t replaced = 0;
  while (!pending.empty()) {
    CompositeOpInterface op = pending.pop_back_val();
    OpBuilder builder(op);
    Operation *before = op->getPrevNode();
    FailureOr<SmallVector<Value>> values = op.decompose(builder);
    if (failed(values))
      continue;
    // A decomposition may contain composites again.
    Operation *made = before ? before->getNextNode() : &op->getBlock()->front();
    for (; made != op; made = made->getNextNode())
      collect(made);
    op->replaceAllUsesWith(*values);
    op->erase();
    ++replaced;
  }
  return replaced;
}

} // namespace freestone::graph
