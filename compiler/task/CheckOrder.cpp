#include "compiler/task/OrderProof.h"
#include "compiler/task/Passes.h"

namespace freestone::task {
#define GEN_PASS_DEF_CHECKORDER
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

class CheckOrder : public task::impl::CheckOrderBase<CheckOrder> {
public:
  using CheckOrderBase::CheckOrderBase;

  void runOnOperation() override {
    bool isProved = !findUnproved(getOperation());
    proved += isProved;
    getOperation()->setAttr("task.order", StringAttr::get(&getContext(), isProved ? "proved" : "sampled"));
    if (isProved && !alwaysSamples)
      return;
    OrderProof proof(getOperation(), workers);
    runs += proof.getRuns();
    std::optional<std::string> fault = proof.findConflict();
    if (!fault)
      fault = proof.findMissingEdge();
    if (proof.getRuns() == 0)
      fault = "no sizes were found for which the order of its phases can be proved";
    if (!fault)
      return;
    getOperation().emitError(*fault);
    signalPassFailure();
  }
};

} // namespace
