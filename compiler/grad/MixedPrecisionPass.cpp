#include "compiler/grad/MixedPrecision.h"
#include "compiler/grad/Passes.h"

using namespace mlir;

namespace freestone::grad {

#define GEN_PASS_DEF_MIXEDPRECISION
#include "compiler/grad/Passes.h.inc"

namespace {

struct MixedPrecisionPass : impl::MixedPrecisionBase<MixedPrecisionPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    FloatType narrow;
    if (type == "bf16")
      narrow = BFloat16Type::get(&getContext());
    else if (type == "f16")
      narrow = Float16Type::get(&getContext());
    if (!narrow) {
      function.emitError("can't be computed in '") << type << "': the narrow types are bf16 and f16";
      return signalPassFailure();
    }
    if (!function.isExternal())
      lowerPrecision(function, narrow);
  }
};

} // namespace

} // namespace freestone::grad
