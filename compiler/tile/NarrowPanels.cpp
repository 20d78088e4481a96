#include "compiler/tile/NarrowPanels.h"

#include "compiler/plan/ConvolutionForm.h"
#include "compiler/tile/TileContraction.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

bool tile::payNarrowPanels(ModuleOp module, const DeviceDescription &device) {
  double all = 0, saved = 0;
  for (auto program : module.getOps<ProgramOp>()) {
    TypicalRuns runs(program);
    auto count = [&](auto loops, ContractionForm &form) { return double(runs.evaluate(form.getExtent(loops)).back()); };
    for (ComputeOp compute : program.getComputes()) {
      std::optional<ContractionForm> form = ContractionForm::get(compute);
      if (!form)
        continue;
      MicroKernelAttr kernel = getMicroKernel(device, form->elementType);
      // Vectors of a convolution run along its channels out.
      std::optional<ConvolutionForm> convolution = ConvolutionForm::get(compute);
      bool alongChannels = convolution && convolution->hasPanels(kernel.getWidth());
      auto columns = int64_t(count(alongChannels ? form->m : form->n, *form));
      double others = count(form->outer, *form) * count(alongChannels ? form->n : form->m, *form) *
                      double(runs.evaluate(form->getDepth(/*wordSteps=*/1)).back());
      int64_t unused = llvm::alignTo(columns, kernel.getWidth()) - llvm::alignTo(columns, kernel.getLanes());
      all += others * double(columns);
      saved += others * double(unused);
    }
  }
  return saved > all / 100;
}

void tile::widenPanels(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](MicroKernelAttr kernel) {
    return MicroKernelAttr::get(kernel.getContext(), kernel.getRows(), kernel.getVectors(), kernel.getLanes(),
                                kernel.getUnroll(), /*last_vectors=*/0);
  });
  for (auto program : module.getOps<ProgramOp>())
    program.setPlanAttr(cast<PlanAttr>(replacer.replace(Attribute(*program.getPlan()))));
}

int64_t tile::countNarrowPanels(ModuleOp module) {
  return llvm::count_if(module.getOps<ProgramOp>(), [](ProgramOp program) {
    bool isNarrow = false;
    (*program.getPlan()).walk([&](MicroKernelAttr kernel) { isNarrow |= kernel.getLastVectors() > 0; });
    return isNarrow;
  });
}
