#include "compiler/tile/NarrowPanels.h"

#include "compiler/plan/ConvolutionForm.h"
#include "compiler/tile/TileContraction.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

namespace {

/// Multiply-adds of whole panels, and those that narrow last ones save.
struct PanelWork {
  double all = 0, saved = 0;

  bool saves(double part) const { return saved > all * part; }
};

} // namespace

/// The work of a contraction in each of a program's typical runs.
static SmallVector<PanelWork> getPanelWork(ComputeOp compute, ContractionForm &form, const TypicalRuns &runs,
                                           const DeviceDescription &device) {
  MicroKernelAttr kernel = getMicroKernel(device, form.elementType);
  // Vectors of a convolution run along its channels out.
  std::optional<ConvolutionForm> convolution = ConvolutionForm::get(compute);
  bool alongChannels = convolution && convolution->hasPanels(kernel.getWidth());
  auto evaluate = [&](ArrayRef<unsigned> loops) { return runs.evaluate(form.getExtent(loops)); };
  SmallVector<PanelWork> work;
  for (auto [columns, rows, depth, outer] :
       llvm::zip_equal(evaluate(alongChannels ? form.m : form.n), evaluate(alongChannels ? form.n : form.m),
                       evaluate(form.k), evaluate(form.outer))) {
    double others = double(outer) * double(rows) * double(depth);
    uint64_t whole = llvm::alignTo(columns, kernel.getWidth());
    work.push_back({others * double(whole), others * double(whole - llvm::alignTo(columns, kernel.getLanes()))});
  }
  return work;
}

bool tile::payNarrowPanels(ModuleOp module, const DeviceDescription &device) {
  SmallVector<SmallVector<PanelWork>> contractions;
  size_t count = 1;
  for (auto program : module.getOps<ProgramOp>()) {
    TypicalRuns runs(program);
    for (ComputeOp compute : program.getComputes())
      if (std::optional<ContractionForm> form = ContractionForm::get(compute)) {
        contractions.push_back(getPanelWork(compute, *form, runs, device));
        count = std::max(count, contractions.back().size());
      }
  }
  // Programs of known sizes have one run.
  SmallVector<PanelWork> ofRuns(count);
  for (ArrayRef<PanelWork> work : contractions)
    for (auto [run, sum] : llvm::enumerate(ofRuns)) {
      const PanelWork &ofRun = work[std::min(run, work.size() - 1)];
      sum.all += ofRun.all;
      sum.saved += ofRun.saved;
    }
  return ofRuns.back().saves(0.01) || llvm::any_of(ofRuns, [](const PanelWork &work) { return work.saves(0.1); });
}

void tile::widenPanels(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](MicroKernelAttr kernel) {
    return MicroKernelAttr::get(kernel.getContext(), kernel.getRows(), kernel.getVectors(), kernel.getLanes(),
                                kernel.getUnroll(), /*last_vectors=*/0, kernel.getInOrder());
  });
  replacer.addReplacement([](DotProductKernelAttr kernel) {
    return DotProductKernelAttr::get(kernel.getContext(), kernel.getUnit(), kernel.getGroups(), kernel.getParts(),
                                     /*last_vectors=*/0);
  });
  for (auto program : module.getOps<ProgramOp>())
    program.setPlanAttr(cast<PlanAttr>(replacer.replace(Attribute(*program.getPlan()))));
}

int64_t tile::countNarrowPanels(ModuleOp module) {
  return llvm::count_if(module.getOps<ProgramOp>(), [](ProgramOp program) {
    bool isNarrow = false;
    (*program.getPlan()).walk([&](MicroKernelAttr kernel) { isNarrow |= kernel.getLastVectors() > 0; });
    (*program.getPlan()).walk([&](DotProductKernelAttr kernel) { isNarrow |= kernel.getLastVectors() > 0; });
    return isNarrow;
  });
}
