#include "compiler/tile/ExplainTiles.h"

#include "compiler/tile/TileContraction.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

static constexpr size_t shownCandidates = 5;

static bool isSame(const ContractionShares &lhs, const ContractionShares &rhs) {
  return lhs.rowElements == rhs.rowElements && lhs.mostRows == rhs.mostRows && lhs.leastTiles == rhs.leastTiles &&
         lhs.panels == rhs.panels && lhs.depth == rhs.depth;
}

/// One candidate at one problem: its numbers, the predicted cycles of one worker, and their causes in percent.
static void explainCandidate(const ContractionProblem &problem, const ContractionShares &shares,
                             const DeviceRates &rates, bool isChosen, llvm::raw_ostream &stream) {
  TilingCost cost = estimateContraction(problem, shares, rates, 1);
  double total = cost.getTotal();
  stream << llvm::formatv("    {0} depth {1,5}  rows {2,5}  panels {3,3}  least tiles {4,3}: {5,12:F0} cycles;",
                          isChosen ? "*" : " ", shares.depth, getMostRows(problem, shares), shares.panels,
                          shares.leastTiles, total);
  for (auto [name, part] : {std::pair("compute", cost.compute),
                            {"L2", cost.l2},
                            {"L3", cost.l3},
                            {"memory", cost.memory},
                            {"packing", cost.packing},
                            {"overhead", cost.overhead}})
    stream << llvm::formatv(" {0} {1:F1}%", name, 100 * part / total);
  stream << "\n";
}

/// The tiling in a run with such sizes.
static Attribute getTiling(Attribute tiling, llvm::function_ref<int64_t(sym::Expr)> valueOf) {
  auto variants = dyn_cast<VariantsTilingAttr>(tiling);
  if (!variants)
    return tiling;
  for (VariantAttr variant : variants.getVariants())
    if (valueOf(variant.getSize()) <= variant.getMost())
      return variant.getTiling();
  return variants.getOtherwise();
}

static void explainContraction(ProgramOp program, ContractionTilingAttr tiling, const DeviceDescription &device,
                               llvm::raw_ostream &stream) {
  std::optional<ContractionForm> form = getContractionWithEpilogue(program);
  if (!form)
    return;
  DeviceRates rates = DeviceRates::get(device);
  TypicalRuns runs(program);
  SmallVector<ContractionProblem> problems =
      getContractionProblems(*form, tiling.getKernel(), tiling.getWordSteps(), runs);
  SmallVector<ContractionCandidate> candidates = constructContraction(problems, rates, tiling.getDepthUnit());
  stream << "  " << candidates.size() << " candidates\n";
  for (auto [number, problem] : llvm::enumerate(problems)) {
    auto atRun = [&](sym::Expr size) { return runs.evaluate(size)[number]; };
    ContractionShares chosen =
        ContractionShares::get(cast<ContractionTilingAttr>(getTiling(program.getPlan()->getTiling(), atRun)));
    stream << llvm::formatv("  {0} x {1} x {2} x {3} (outer, rows, columns, depth)\n", problem.outer, problem.m,
                            problem.n, problem.k);
    explainCandidate(problem, chosen, rates, /*isChosen=*/true, stream);
    for (const ContractionCandidate &candidate : ArrayRef(candidates).take_front(shownCandidates))
      if (!isSame(candidate.shares, chosen))
        explainCandidate(problem, candidate.shares, rates, /*isChosen=*/false, stream);
  }
}

void tile::explainTiles(ModuleOp module, const DeviceDescription &device, llvm::raw_ostream &stream) {
  for (auto program : module.getOps<ProgramOp>()) {
    PlanAttr plan = program.getPlanAttr();
    if (!plan)
      continue;
    stream << program.getSymName() << " " << plan.getTiling() << "\n  tiles " << plan.getTiles() << "\n";
    auto variants = dyn_cast<VariantsTilingAttr>(plan.getTiling());
    if (auto tiling = dyn_cast<ContractionTilingAttr>(variants ? variants.getOtherwise() : plan.getTiling()))
      explainContraction(program, tiling, device, stream);
  }
}
