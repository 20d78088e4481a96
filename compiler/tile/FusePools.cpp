#include "compiler/tile/Passes.h"

#include "compiler/plan/ConvolutionForm.h"
#include "compiler/tile/Counters.h"
#include "compiler/tile/MakeGroup.h"

namespace freestone::tile {
#define GEN_PASS_DEF_FUSEPOOLS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

namespace {

class FusePools : public tile::impl::FusePoolsBase<FusePools> {
public:
  using FusePoolsBase::FusePoolsBase;

  void runOnOperation() override {
    if (!enable)
      return;
    for (ComputeOp op : llvm::to_vector(getOperation().getBody().front().getOps<ComputeOp>()))
      if (fuse(op))
        count(getOperation(), "pools", 1);
  }

private:
  bool fuse(ComputeOp op);
};

/// Fuses a convolution with its only reader if that pools it, into a new group or the reader's.
bool FusePools::fuse(ComputeOp op) {
  std::optional<ConvolutionForm> form = ConvolutionForm::get(op);
  if (!form || !isa_and_nonnull<PanelsAttr, WinogradAttr>(op.getInputType(form->weights).getLayout()) ||
      !op.getResult(0).hasOneUse())
    return false;
  auto reader = dyn_cast<ComputeOp>(*op.getResult(0).user_begin());
  if (!reader)
    return false;
  SmallVector<ComputeOp> members = {op};
  auto group = dyn_cast<GroupOp>(reader->getParentOp());
  if (group)
    llvm::append_range(members, group.getBody()->getOps<ComputeOp>());
  else
    members.push_back(reader);
  form = ConvolutionForm::get(members);
  if (!form || !form->pooling)
    return false;
  if (group)
    op->moveBefore(reader);
  else
    makeGroup(members);
  return true;
}

} // namespace
