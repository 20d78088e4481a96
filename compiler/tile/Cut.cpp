#include "compiler/tile/Counters.h"
#include "compiler/tile/CutConvolution.h"
#include "compiler/tile/CutKernelGradient.h"
#include "compiler/tile/CutLoops.h"
#include "compiler/tile/CutPairs.h"
#include "compiler/tile/Passes.h"

namespace freestone::tile {
#define GEN_PASS_DEF_CUT
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;

namespace {

struct Cut : tile::impl::CutBase<Cut> {
  using CutBase::CutBase;

  void runOnOperation() override {
    llvm::Expected<DeviceDescription> device = DeviceDescription::get(target);
    if (!device) {
      getOperation().emitError(llvm::toString(device.takeError()));
      return signalPassFailure();
    }
    for (auto program : getOperation().getOps<tile::ProgramOp>())
      if (failed(cut(program, *device)))
        return signalPassFailure();
  }

  LogicalResult cut(tile::ProgramOp program, const DeviceDescription &device) {
    std::optional<tile::ConvolutionForm> convolution = tile::ConvolutionForm::get(program);
    if (convolution && convolution->isPacked(device)) {
      tile::count(program->getParentOp(), "convolutions", 1);
      program.setPlanAttr(tile::cutConvolution(program, *convolution, device));
      return success();
    }
    std::optional<tile::ContractionForm> form = tile::getContractionWithEpilogue(program);
    std::optional<tile::KernelGradientForm> gradient;
    if (form && kernelGradients)
      gradient = tile::KernelGradientForm::get(form->compute);
    if (gradient) {
      tile::count(program->getParentOp(), "kernel_gradients", 1);
      program.setPlanAttr(tile::cutKernelGradient(program, *gradient, device));
      return success();
    }
    if (form && pairs && tile::isPairContraction(*form, device)) {
      tile::count(program->getParentOp(), "pairs", 1);
      program.setPlanAttr(tile::cutPairs(program, *form, device));
      return success();
    }
    if (form && tile::isMicroKernelContraction(*form, device)) {
      tile::count(program->getParentOp(), "contractions", 1);
      if (keepPacked)
        tile::count(program->getParentOp(), "kept_packed", 1);
      program.setPlanAttr(tile::cutContraction(program, *form, device, keepPacked));
      return success();
    }
    std::string why;
    FailureOr<DictionaryAttr> plan = tile::cutLoops(program, device, why);
    if (failed(plan))
      return program.emitError("no way to cut this program is known: ") << why;
    program.setPlanAttr(*plan);
    return success();
  }
};

} // namespace
