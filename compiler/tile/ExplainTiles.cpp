#include "compiler/tile/ExplainTiles.h"

#include "compiler/plan/FormTrees.h"
#include "compiler/plan/Traffic.h"
#include "compiler/plan/Variants.h"
#include "compiler/tile/ConstructConvolution.h"
#include "compiler/tile/HoistWeights.h"
#include "compiler/tile/LevelTraffic.h"
#include "compiler/tile/TileContraction.h"
#include "compiler/tile/TileConvolution.h"
#include "compiler/tile/TileWindow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

static constexpr size_t shownCandidates = 5;

static bool isSame(const ContractionChoice &one, const ContractionChoice &other) {
  const ContractionShares &lhs = one.shares, &rhs = other.shares;
  return one.isInner == other.isInner &&
         (one.isInner || (lhs.rowElements == rhs.rowElements && lhs.mostRows == rhs.mostRows &&
                          lhs.leastTiles == rhs.leastTiles && lhs.panels == rhs.panels && lhs.depth == rhs.depth));
}

/// One candidate at one problem: its numbers, the predicted cycles of one worker, their causes in percent, and the
/// measured time of one worker (0: none).
static void explainCost(StringRef numbers, const TilingCost &cost, bool isChosen, double seconds,
                        llvm::raw_ostream &stream) {
  double total = cost.getTotal();
  stream << llvm::formatv("    {0} {1,-51}: {2,12:F0} cycles;", isChosen ? "*" : " ", numbers, total);
  for (auto [name, part] : {std::pair("compute", cost.compute),
                            {"L2", cost.l2},
                            {"L3", cost.l3},
                            {"memory", cost.memory},
                            {"packing", cost.packing},
                            {"overhead", cost.overhead}})
    stream << llvm::formatv(" {0} {1:F1}%", name, 100 * part / total);
  if (seconds > 0)
    stream << llvm::formatv("; measured {0:F2} us", seconds * 1e6);
  stream << "\n";
}

static void explainCandidate(const ContractionProblem &problem, const ContractionChoice &choice,
                             const DeviceRates &rates, bool isChosen, double seconds, llvm::raw_ostream &stream) {
  const ContractionShares &shares = choice.shares;
  std::string numbers =
      choice.isInner
          ? llvm::formatv("inner products in blocks of {0} x {1}", problem.innerRows, problem.innerColumns).str()
          : llvm::formatv("depth {0,5}  rows {1,5}  panels {2,3}  least tiles {3,3}", shares.depth,
                          getMostRows(problem, shares), shares.panels, shares.leastTiles)
                .str();
  explainCost(numbers, choice.estimate(problem, rates, 1), isChosen, seconds, stream);
}

/// The micro-kernel, the steps of a word, the unit of blocks of k and the strips in all tilings of a contraction; with
/// this micro-kernel if none is a tree.
static std::tuple<MicroKernelAttr, int64_t, int64_t, ContractionStrips> getUnits(Attribute tiling,
                                                                                 MicroKernelAttr kernel) {
  for (Attribute each : getAlternatives(tiling))
    if (std::optional<ContractionTree> contraction = ContractionTree::getMultiplyAdds(each))
      return {contraction->kernel, contraction->multiply.getWordSteps(), contraction->depthUnit,
              ContractionShares::get(*contraction).strips};
  return {kernel, 1, kernel.getLanes(), {}};
}

/// The choices that were measured in a run, with their times by one worker.
static SmallVector<std::pair<ContractionChoice, double>> getMeasured(ArrayRef<TimedTiling> timed, size_t run) {
  SmallVector<std::pair<ContractionChoice, double>> measured;
  for (const TimedTiling &tiling : timed)
    if (run < tiling.alone.size() && tiling.alone[run] > 0)
      measured.push_back({{.shares = ContractionShares::get(*ContractionTree::get(tiling.tiling))}, tiling.alone[run]});
  return measured;
}

static void explainContraction(ProgramOp program, ContractionForm &form, const DeviceDescription &device,
                               ArrayRef<TimedTiling> timed, llvm::raw_ostream &stream) {
  Attribute tiling = program.getPlan()->getTiling();
  DeviceRates rates = DeviceRates::get(device);
  TypicalRuns runs(program);
  auto [kernel, wordSteps, depthUnit, strips] = getUnits(tiling, getMicroKernel(device, form.elementType));
  SmallVector<ContractionProblem> problems =
      getContractionProblems(form, kernel, wordSteps, runs, InnerProducts::get(form, device));
  SmallVector<ContractionCandidate> candidates = constructContraction(problems, rates, depthUnit, strips);
  stream << "  " << candidates.size() << " candidates\n";
  for (auto [number, problem] : llvm::enumerate(problems)) {
    auto atRun = [&](sym::Expr size) { return runs.evaluate(size)[number]; };
    Attribute ofRun = getChosen(tiling, atRun);
    std::optional<ContractionTree> contraction = ContractionTree::get(ofRun);
    bool isSplit = contraction && contraction->dotProducts;
    ContractionChoice chosen = candidates.front().choice;
    chosen.isInner = !contraction;
    if (contraction && !isSplit)
      chosen.shares = ContractionShares::get(*contraction);
    stream << llvm::formatv("  {0} x {1} x {2} x {3} (outer, rows, columns, depth)\n", problem.outer, problem.m,
                            problem.n, problem.k);
    SmallVector<std::pair<ContractionChoice, double>> shown = getMeasured(timed, number);
    if (shown.empty())
      for (const ContractionCandidate &candidate : ArrayRef(candidates).take_front(shownCandidates))
        shown.push_back({candidate.choice, 0});
    auto isChosen = [&](const auto &each) { return isSame(each.first, chosen); };
    auto known = llvm::find_if(shown, isChosen);
    if (isSplit)
      stream << "    * products in parts, whose time is not predicted; without them:\n";
    explainCandidate(problem, chosen, rates, /*isChosen=*/!isSplit, known == shown.end() ? 0 : known->second, stream);
    for (const auto &each : shown)
      if (!isChosen(each))
        explainCandidate(problem, each.first, rates, /*isChosen=*/false, each.second, stream);
  }
}

static void explainConvolution(ProgramOp program, ConvolutionForm &form, const DeviceDescription &device,
                               llvm::raw_ostream &stream) {
  auto tiling = program.getTiling<ConvolutionTilingAttr>();
  DeviceRates rates = DeviceRates::get(device);
  TypicalRuns runs(program);
  SmallVector<ConvolutionProblem> problems =
      getConvolutionProblems(form, tiling.getKernel(), runs, tiling.getOverlap());
  SmallVector<ConvolutionCandidate> candidates =
      constructConvolution(problems, rates, /*isStage=*/false, /*together=*/true);
  stream << "  " << candidates.size() << " candidates\n";
  ConvolutionShares chosen = ConvolutionShares::get(tiling);
  for (const ConvolutionProblem &problem : problems) {
    auto [outer, columns, rows, pixels, channels, pictures] = problem.sizes;
    stream << llvm::formatv("  {0} x {1} x {2} x {3} x {4} (outer, channels out, rows, pixels, channels in)\n",
                            outer * pictures, columns, rows, pixels, channels);
    auto explain = [&](const ConvolutionShares &shares, bool isChosen) {
      ConvolutionBlocks<int64_t> blocks = getBlocks(problem, shares);
      std::string numbers =
          llvm::formatv("channels {0,4}  tiles {1,4} of {2,3} x {3,4}  panels {4,3}", blocks.channelStep, blocks.tiles,
                        blocks.rowStep, blocks.pixelStep, blocks.panelStep);
      if (blocks.pictureStep > 1)
        numbers += llvm::formatv("  pictures {0,2}", blocks.pictureStep);
      explainCost(numbers, estimateConvolution(problem, shares, rates, 1), isChosen, /*seconds=*/0, stream);
    };
    explain(chosen, /*isChosen=*/true);
    std::set<ConvolutionSteps> shown = {ConvolutionSteps::get(problem, chosen)};
    for (const ConvolutionCandidate &candidate : candidates)
      if (shown.size() <= shownCandidates && shown.insert(ConvolutionSteps::get(problem, candidate.shares)).second)
        explain(candidate.shares, /*isChosen=*/false);
  }
}

static void explainWindow(ProgramOp program, WindowForm &form, const DeviceDescription &device,
                          llvm::raw_ostream &stream) {
  auto tiling = program.getTiling<WindowTilingAttr>();
  DeviceRates rates = DeviceRates::get(device);
  SmallVector<WindowProblem> problems =
      getWindowProblems(form, device, TypicalRuns(program), tiling.getOverlap(), tiling.getInPlace());
  SmallVector<WindowShares> candidates = constructWindow(problems, device, tiling.getUnroll() > 1);
  stream << "  " << candidates.size() << " candidates\n";
  WindowShares chosen = WindowShares::get(tiling);
  for (const WindowProblem &problem : problems) {
    stream << llvm::formatv("  {0} x {1} x {2} x {3} x {4} (outer, channels out, rows, pixels, taps)\n", problem.outer,
                            problem.channels, problem.sizes.rows, problem.sizes.pixels, problem.taps);
    auto explain = [&](const WindowShares &shares, bool isChosen) {
      WindowBlocks<int64_t> blocks = getBlocks(problem, shares);
      explainCost(llvm::formatv("rows {0}  vectors {1}  tiles of {2,4} x {3,4}  copy {4,6}", shares.rows,
                                shares.vectors, blocks.rowStep, blocks.pixelStep, shares.copy)
                      .str(),
                  estimateWindow(problem, shares, rates, 1), isChosen, /*seconds=*/0, stream);
    };
    explain(chosen, /*isChosen=*/true);
    for (const WindowShares &candidate : ArrayRef(candidates).take_front(shownCandidates))
      if (candidate != chosen)
        explain(candidate, /*isChosen=*/false);
  }
}

/// Whether a contraction may choose the node.
static bool isOfContraction(Attribute tiling) {
  auto rows = dyn_cast<RowsTilingAttr>(tiling);
  std::optional<ContractionTree> tree = ContractionTree::get(tiling);
  return (rows && rows.hasBlocks()) || (tree && (!tree->dotProducts || tree->dotProducts.getParts() > 1));
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

void tile::explainTiles(ModuleOp module, const DeviceDescription &device, const TimedTilings &times,
                        llvm::raw_ostream &stream) {
  llvm::StringSet<> run;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.getSymName() != initName && function.getSymName() != packName)
      function.walk([&](CallOp call) { run.insert(call.getCallee()); });
  for (auto program : module.getOps<ProgramOp>()) {
    PlanAttr plan = program.getPlanAttr();
    if (!plan)
      continue;
    stream << program.getSymName() << " " << plan.getTiling() << "\n  tiles " << plan.getTiles() << "\n";
    if (ArrayAttr tree = getFormTree(program))
      stream << "  stands for " << tree << "\n";
    std::optional<ContractionForm> form = getContractionWithEpilogue(program);
    if (form && llvm::all_of(getAlternatives(plan.getTiling()), isOfContraction))
      explainContraction(program, *form, device, times.lookup(program.getSymName()), stream);
    std::optional<ConvolutionForm> convolution = ConvolutionForm::get(program);
    if (convolution && isa<ConvolutionTilingAttr>(plan.getTiling()))
      explainConvolution(program, *convolution, device, stream);
    std::optional<WindowForm> window = WindowForm::get(program);
    if (window && isa<WindowTilingAttr>(plan.getTiling()))
      explainWindow(program, *window, device, stream);
    if (run.contains(program.getSymName()))
      explainTraffic(program, DeviceRates::get(device), stream);
  }
}
