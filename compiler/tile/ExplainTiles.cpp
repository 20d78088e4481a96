#include "compiler/tile/ExplainTiles.h"

#include "compiler/plan/Traffic.h"
#include "compiler/tile/HoistWeights.h"
#include "compiler/tile/LevelTraffic.h"
#include "compiler/tile/TileContraction.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
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

/// The bytes that a program has to move, and those that each level fetches in typical runs of one worker.
static void explainTraffic(ProgramOp program, const DeviceRates &rates, llvm::raw_ostream &stream) {
  Traffic traffic = Traffic::get(program);
  stream << "  reads " << traffic.read << " bytes, writes " << traffic.written << "\n";
  TypicalRuns runs(program);
  llvm::MapVector<StringRef, SmallVector<int64_t>> values;
  for (StringAttr symbol : program.getSymbols())
    values[symbol.getValue()] = runs.evaluate(sym::Expr::symbol(program.getContext(), symbol.getValue()));
  size_t count = runs.evaluate(sym::Expr::constant(program.getContext(), 1)).size();
  for (size_t number = 0; number < count; ++number) {
    auto valueOf = [&](sym::Expr size) {
      auto known = [&, number = number](StringRef symbol) { return std::optional(values.lookup(symbol)[number]); };
      return size.evaluate(known).value_or(std::numeric_limits<int64_t>::max());
    };
    FetchedBytes fetched = predictFetched(program, rates, valueOf);
    stream << "    ";
    llvm::interleaveComma(values, stream,
                          [&](const auto &value) { stream << value.first << " = " << value.second[number]; });
    stream << llvm::formatv("{0}moves {1}; fetches into L1 {2:F0}, L2 {3:F0}, L3 {4:F0} bytes\n",
                            values.empty() ? "" : ": ", valueOf(traffic.getTotal()), fetched.l1, fetched.l2,
                            fetched.l3);
  }
}

void tile::explainTiles(ModuleOp module, const DeviceDescription &device, llvm::raw_ostream &stream) {
  llvm::StringSet<> run;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.getSymName() != initName)
      function.walk([&](CallOp call) { run.insert(call.getCallee()); });
  for (auto program : module.getOps<ProgramOp>()) {
    PlanAttr plan = program.getPlanAttr();
    if (!plan)
      continue;
    stream << program.getSymName() << " " << plan.getTiling() << "\n  tiles " << plan.getTiles() << "\n";
    auto variants = dyn_cast<VariantsTilingAttr>(plan.getTiling());
    if (auto tiling = dyn_cast<ContractionTilingAttr>(variants ? variants.getOtherwise() : plan.getTiling()))
      explainContraction(program, tiling, device, stream);
    if (run.contains(program.getSymName()))
      explainTraffic(program, DeviceRates::get(device), stream);
  }
}
