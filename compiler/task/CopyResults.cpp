#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/task/Passes.h"
#include "compiler/task/ValueMemory.h"

namespace freestone::task {
#define GEN_PASS_DEF_COPYRESULTS
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

class CopyResults : public task::impl::CopyResultsBase<CopyResults> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    Operation *terminator = function.getBody().front().getTerminator();
    OpBuilder builder(terminator);
    DenseSet<Value> taken;
    SmallVector<OpOperand *> outputs;
    // State has its own memory already, which no output shares.
    for (OpOperand &result : terminator->getOpOperands()) {
      if (function.getResultAttr(result.getOperandNumber(), stateAttr))
        taken.insert(getMemory(result.get()));
      else
        outputs.push_back(&result);
    }
    for (OpOperand *result : outputs) {
      Value memory = getMemory(result->get());
      if (isComputed(memory) && taken.insert(memory).second)
        continue;
      result->set(copyValue(builder, result->get()));
      ++copies;
    }
  }
};

} // namespace
