#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/expressions/Composites.h"

using namespace mlir;

namespace freestone::expressions {

int64_t decomposeComposites(Operation *root, llvm::function_ref<bool(Operation *)> keep) {
  SmallVector<graph::CompositeOpInterface> pending;
  auto collect = [&](Operation *within) {
    within->walk([&](graph::CompositeOpInterface op) {
      if (!keep || !keep(op))
        pending.push_back(op);
    });
  };
  collect(root);
  int64_t replaced = 0;
  while (!pending.empty()) {
    graph::CompositeOpInterface op = pending.pop_back_val();
    OpBuilder builder(op);
    Operation *before = op->getPrevNode();
    FailureOr<SmallVector<Value>> values = decompose(op, builder);
    if (failed(values))
      continue;
    // A decomposition may itself contain composites.
    Operation *made = before ? before->getNextNode() : &op->getBlock()->front();
    for (; made != op; made = made->getNextNode())
      collect(made);
    op->replaceAllUsesWith(*values);
    op->erase();
    ++replaced;
  }
  return replaced;
}

} // namespace freestone::expressions
