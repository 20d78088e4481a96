#include "compiler/tile/TypicalRuns.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// One, few, some, many: what stands for a size that is known at run time only.
static constexpr int64_t unknownSizes[] = {1, 16, 128, 1024};
/// More runs than these change no choice.
static constexpr size_t mostRuns = 28;
/// Unknown symbols that differ from all others in some runs.
static constexpr size_t singledOut = 4;

/// What unknown symbols are in run `number`, in the order in which they are met: first all equal, then each another
/// size, then every second one another, so that runs are tall, wide, deep and single rows; then one of them many while
/// all others are few, and one of them any size while all others are many.
static llvm::unique_function<int64_t(StringRef)> getUnknowns(size_t number) {
  constexpr size_t count = std::size(unknownSizes);
  return [number, met = llvm::StringMap<size_t>()](StringRef symbol) mutable {
    size_t place = met.try_emplace(symbol, met.size()).first->second, family = number / count;
    size_t steps[] = {0, place, place % 2 * (count / 2)};
    if (family < std::size(steps))
      return unknownSizes[(number + steps[family]) % count];
    if (family == std::size(steps))
      return unknownSizes[place == number % count ? count - 1 : 1];
    return unknownSizes[place == family - std::size(steps) - 1 ? number % count : count - 1];
  };
}
static constexpr size_t unknownRuns = (4 + singledOut) * std::size(unknownSizes);
static_assert(singledOut == std::size(unknownSizes), "one run for each symbol that is singled out");

TypicalRuns::TypicalRuns(ProgramOp program) {
  llvm::SetVector<SmallVector<int64_t>> found;
  SmallVector<StringAttr> symbols = llvm::to_vector(program.getSymbols());
  auto module = program->getParentOfType<ModuleOp>();
  for (auto function : module ? llvm::to_vector(module.getOps<func::FuncOp>()) : SmallVector<func::FuncOp>()) {
    std::optional<TypicalSizes> typical;
    function.walk([&](CallOp call) {
      if (call.getCallee() != program.getSymName())
        return;
      if (!typical)
        typical.emplace(function);
      for (size_t number = 0; number < unknownRuns && found.size() < mostRuns; ++number) {
        llvm::unique_function<int64_t(StringRef)> unknown = getUnknowns(number);
        found.insert(llvm::map_to_vector(call.getSizes(), [&](Expr size) {
          return typical->evaluate(size, unknown).value_or(std::numeric_limits<int32_t>::max());
        }));
      }
    });
  }
  if (found.empty())
    for (size_t number = 0; number < unknownRuns; ++number) {
      llvm::unique_function<int64_t(StringRef)> unknown = getUnknowns(number);
      found.insert(llvm::map_to_vector(symbols, [&](StringAttr symbol) { return unknown(symbol); }));
    }
  for (const SmallVector<int64_t> &values : found) {
    Values run;
    for (auto [symbol, value] : llvm::zip_equal(symbols, values))
      run[symbol.getValue()] = value;
    runs.push_back(std::move(run));
  }
}

TypicalRuns::TypicalRuns(TypicalSizes sizes) : sizes(std::move(sizes)) {}

SmallVector<int64_t> TypicalRuns::evaluate(Expr size) const {
  auto bound = [&](std::optional<int64_t> value) { return std::clamp(value.value_or(most), least, most); };
  if (runs.empty())
    return llvm::map_to_vector(unknownSizes, [&](int64_t unknown) { return bound(sizes.evaluate(size, unknown)); });
  return llvm::map_to_vector(runs, [&](const Values &run) {
    return bound(size.evaluate([&](StringRef symbol) -> std::optional<int64_t> {
      auto known = run.find(symbol);
      return known == run.end() ? std::nullopt : std::optional(known->second);
    }));
  });
}

TypicalRuns TypicalRuns::with(ArrayRef<std::pair<Expr, Expr>> values) const {
  TypicalRuns more = *this;
  for (auto [symbol, value] : values)
    for (auto [run, number] : llvm::zip_equal(more.runs, evaluate(value)))
      run[*symbol.asSymbol()] = number;
  return more;
}
