#include "compiler/tile/Counters.h"
#include "compiler/tile/Passes.h"

#include "mlir/IR/PatternMatch.h"

namespace freestone::tile {
#define GEN_PASS_DEF_USELIBRARY
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;

namespace {

bool areTensors(TypeRange types) { return llvm::all_of(types, llvm::IsaPred<graph::TensorType>); }

class UseLibrary : public tile::impl::UseLibraryBase<UseLibrary> {
public:
  using UseLibraryBase::UseLibraryBase;

  void runOnOperation() override {
    SmallVector<Operation *> chosen;
    for (Operation &inner : getOperation().getBody().front())
      if (inner.getName().getStringRef() == op)
        chosen.push_back(&inner);
    IRRewriter rewriter(&getContext());
    for (Operation *old : chosen) {
      if (old->getNumRegions() || !areTensors(old->getOperandTypes()) || !areTensors(old->getResultTypes())) {
        old->emitError("takes or gives more than tensors, and can't be computed by a library");
        return signalPassFailure();
      }
      rewriter.setInsertionPoint(old);
      rewriter.replaceOpWithNewOp<tile::LibraryOp>(old, old->getResultTypes(), rewriter.getStringAttr(service),
                                                   rewriter.getI64IntegerAttr(version), old->getOperands());
    }
    tile::count(getOperation(), "served", chosen.size());
  }
};

} // namespace
