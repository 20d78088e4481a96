#include "compiler/driver/TuneContractions.h"

#include "cache/CompilerIdentity.h"
#include "cache/Store.h"
#include "compiler/driver/ProgramCache.h"
#include "compiler/driver/TimeTilings.h"
#include "compiler/plan/Plans.h"
#include "compiler/plan/Variants.h"
#include "compiler/tile/TileContraction.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <chrono>
#include <cmath>

using namespace mlir;
using namespace freestone;
using namespace freestone::driver;
using sym::Expr;
using tile::TimedTiling;
using tile::TreeTilingAttr;

/// Tilings that are timed for a contraction.
static constexpr size_t mostTilings = 8;
/// How much faster than the predicted best a tiling must be to replace it: times of one program vary by less.
static constexpr double leastGain = 0.03;
/// Typical runs with more operands or work are left out.
static constexpr int64_t mostBytes = int64_t(64) << 20;
static constexpr double mostMultiplyAdds = double(int64_t(1) << 31);
/// Until no further contraction is timed.
static constexpr std::chrono::seconds timeOfModel(60);

namespace {

/// The typical runs that choose a tiling of a program, in their order; other runs are not timed.
struct ChoosingRuns {
  SmallVector<tile::ContractionProblem> problems;
  SmallVector<RunSizes> sizes;
};

ChoosingRuns getRuns(tile::ProgramOp program, tile::ContractionForm &form, size_t variant,
                     const tile::ContractionTree &tree) {
  tile::TypicalRuns typical(program);
  ChoosingRuns runs;
  auto problems = tile::getContractionProblems(form, tree.kernel, tree.multiply.getWordSteps(), typical, std::nullopt);
  for (auto [number, problem] : llvm::enumerate(problems)) {
    auto valueOf = [&](Expr size) { return typical.evaluate(size)[number]; };
    runs.sizes.push_back(std::nullopt);
    if (tile::getVariantOf(program.getPlan()->getTiling(), valueOf) != variant)
      continue;
    runs.problems.push_back(problem);
    auto count = [&](int64_t rows, int64_t columns) { return double(problem.outer) * double(rows) * double(columns); };
    double elements = count(problem.m, problem.k) + count(problem.k, problem.n) + count(problem.m, problem.n);
    if (problem.getMultiplyAdds() <= mostMultiplyAdds && elements * double(problem.bytes) <= double(mostBytes))
      runs.sizes.back() =
          llvm::map_to_vector(program.getSymbols(), [&](StringAttr symbol) { return valueOf(Expr::symbol(symbol)); });
  }
  return runs;
}

std::string printSizes(ArrayRef<RunSizes> runs) {
  std::string text;
  for (const RunSizes &run : runs) {
    text += "(";
    if (run)
      text += llvm::join(llvm::map_range(*run, [](int64_t size) { return std::to_string(size); }), " ");
    text += ")";
  }
  return text;
}

std::string printTimes(ArrayRef<TimedTiling> timed) {
  llvm::json::Array tilings;
  for (const TimedTiling &tiling : timed)
    tilings.push_back(llvm::json::Object{{"tiling", mlir::debugString(tiling.tiling)},
                                         {"alone", llvm::json::Array(tiling.alone)},
                                         {"together", llvm::json::Array(tiling.together)}});
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(tilings));
  return text;
}

/// Nothing if the text is not of these tilings.
SmallVector<TimedTiling> parseTimes(StringRef text, ArrayRef<TreeTilingAttr> tilings) {
  SmallVector<TimedTiling> timed;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return {};
  }
  const llvm::json::Array *kept = value->getAsArray();
  if (!kept || kept->size() != tilings.size())
    return {};
  for (auto [tiling, entry] : llvm::zip_equal(tilings, *kept)) {
    const llvm::json::Object *object = entry.getAsObject();
    if (!object || object->getString("tiling") != mlir::debugString(tiling))
      return {};
    timed.push_back({tiling, {}, {}});
    for (auto [name, seconds] : {std::pair("alone", &timed.back().alone), {"together", &timed.back().together}})
      if (const llvm::json::Array *numbers = object->getArray(name))
        for (const llvm::json::Value &number : *numbers)
          seconds->push_back(number.getAsNumber().value_or(0));
  }
  return timed;
}

/// The geometric mean of how long a tiling takes relative to another.
double compareTimes(const TimedTiling &tiling, const TimedTiling &other) {
  double sum = 0, count = 0;
  for (auto times : {&TimedTiling::alone, &TimedTiling::together})
    for (auto [lhs, rhs] : llvm::zip(tiling.*times, other.*times))
      if (lhs > 0 && rhs > 0) {
        sum += std::log(lhs / rhs);
        ++count;
      }
  return count > 0 ? std::exp(sum / count) : 1;
}

/// Times of tilings, kept from one compilation to the next.
class Tuner {
public:
  Tuner(const Options &options, const DeviceDescription &device)
      : options(options), device(device), store(options.cache),
        compiler(store.folder() ? cache::CompilerIdentity::read(*store.folder()) : ""),
        end(std::chrono::steady_clock::now() + timeOfModel) {}

  /// Tunes all tilings among which the runs of a program choose.
  void tune(tile::ProgramOp program);
  Tuning take() { return std::move(tuning); }

private:
  /// The fastest tiling of those runs that choose this one.
  TreeTilingAttr tune(tile::ProgramOp program, tile::ContractionForm &form, size_t variant, TreeTilingAttr chosen);
  SmallVector<TimedTiling> getTimes(tile::ProgramOp program, ArrayRef<TreeTilingAttr> tilings, ArrayRef<RunSizes> runs);

  const Options &options;
  const DeviceDescription &device;
  cache::Store store;
  std::string compiler;
  std::chrono::steady_clock::time_point end;
  Tuning tuning;
};

SmallVector<TimedTiling> Tuner::getTimes(tile::ProgramOp program, ArrayRef<TreeTilingAttr> tilings,
                                         ArrayRef<RunSizes> runs) {
  cache::Ingredients ingredients = describeDevice(compiler, device);
  ingredients.add("times of", describeProgram(program));
  ingredients.add("sizes", printSizes(runs));
  if (!compiler.empty())
    if (std::optional<std::string> text = store.find(cache::Kind::Text, ingredients))
      if (SmallVector<TimedTiling> timed = parseTimes(*text, tilings); !timed.empty()) {
        ++tuning.found;
        return timed;
      }
  if (std::chrono::steady_clock::now() > end)
    return {};
  SmallVector<TimedTiling> timed = timeTilings(program, tilings, runs, options, device);
  if (!timed.empty() && !compiler.empty())
    store.keep(cache::Kind::Text, ingredients, printTimes(timed), "");
  return timed;
}

TreeTilingAttr Tuner::tune(tile::ProgramOp program, tile::ContractionForm &form, size_t variant,
                           TreeTilingAttr chosen) {
  ChoosingRuns runs = getRuns(program, form, variant, *tile::ContractionTree::get(chosen));
  if (llvm::none_of(runs.sizes, [](const RunSizes &run) { return run.has_value(); }))
    return chosen;
  SmallVector<TreeTilingAttr> tilings =
      tile::getBestTilings(chosen, runs.problems, tile::DeviceRates::get(device), mostTilings);
  if (tilings.size() < 2)
    return chosen;
  SmallVector<TimedTiling> timed = getTimes(program, tilings, runs.sizes);
  if (timed.empty())
    return chosen;
  ++tuning.tuned;
  const TimedTiling &best = *llvm::min_element(timed, [&](const TimedTiling &lhs, const TimedTiling &rhs) {
    return compareTimes(lhs, timed.front()) < compareTimes(rhs, timed.front());
  });
  TreeTilingAttr fastest = compareTimes(best, timed.front()) < 1 - leastGain ? best.tiling : chosen;
  llvm::append_range(tuning.times[program.getSymName()], timed);
  return fastest;
}

void Tuner::tune(tile::ProgramOp program) {
  std::optional<tile::ContractionForm> form = tile::getContractionWithEpilogue(program);
  if (!form || !program.getPlan())
    return;
  Attribute tiling = program.getPlan()->getTiling();
  auto variants = dyn_cast<tile::ChoiceAttr>(tiling);
  SmallVector<Attribute> tilings = variants ? variants.getTilings() : SmallVector<Attribute>{tiling};
  int64_t replaced = 0;
  for (auto [number, each] : llvm::enumerate(tilings))
    if (tile::ContractionTree::getMultiplyAdds(each)) {
      TreeTilingAttr chosen = cast<TreeTilingAttr>(each);
      each = tune(program, *form, number, chosen);
      replaced += each != chosen;
    }
  if (replaced == 0)
    return;
  Attribute faster = tilings.front();
  if (variants) {
    auto others = llvm::map_to_vector(llvm::zip(variants.getVariants(), tilings), [](auto pair) {
      auto [variant, tiling] = pair;
      return tile::VariantAttr::get(variant.getContext(), variant.getSize(), variant.getMost(), tiling);
    });
    faster = tile::ChoiceAttr::get(tiling.getContext(), others, tilings.back());
  }
  FailureOr<tile::PlanAttr> plan = tile::makePlan(program, faster);
  if (failed(plan))
    return;
  program.setPlanAttr(*plan);
  tuning.replaced += replaced;
}

} // namespace

Tuning driver::tuneContractions(ModuleOp module, const Options &options, const DeviceDescription &device) {
  Tuner tuner(options, device);
  for (auto program : module.getOps<tile::ProgramOp>())
    tuner.tune(program);
  return tuner.take();
}
