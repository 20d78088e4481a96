#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/expressions/Composites.h"
#include "compiler/simplify/Passes.h"

using namespace mlir;

namespace freestone::graph {

#define GEN_PASS_DEF_DECOMPOSE
#include "compiler/simplify/Passes.h.inc"

namespace {

struct DecomposePass : impl::DecomposeBase<DecomposePass> {
  using Base::Base;

  void runOnOperation() override {
    numDecomposed += expressions::decomposeComposites(
        getOperation(), [&](Operation *op) { return llvm::is_contained(keep, op->getName().getStringRef()); });
  }
};

} // namespace

} // namespace freestone::graph
