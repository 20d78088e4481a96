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

static void explainContraction(ProgramOp program, ContractionTilingAttr tiling, const DeviceDescription &device,
                               llvm::raw_ostream &stream) {
  std::optional<ContractionForm> form = getContractionWithEpilogue(program);
  if (!form)
    return;
  DeviceRates rates = DeviceRates::get(device);
  SmallVector<ContractionProblem> problems =
      getContractionProblems(*form, tiling.getKernel(), tiling.getWordSteps(), TypicalRuns(program));
  SmallVector<ContractionCandidate> candidates = constructContraction(problems, rates, tiling.getDepthUnit());
  ContractionShares chosen = ContractionShares::get(tiling);
  stream << "  " << candidates.size() << " candidates\n";
  for (const ContractionProblem &problem : problems) {
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
    if (auto tiling = dyn_cast<ContractionTilingAttr>(plan.getTiling()))
      explainContraction(program, tiling, device, stream);
  }
}
