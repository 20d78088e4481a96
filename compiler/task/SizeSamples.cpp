#include "compiler/task/SizeSamples.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/sym/Substitute.h"
#include "llvm/ADT/SetVector.h"
#include <random>
#include <set>

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

using Values = RunSizes::Values;

constexpr int64_t wanted = 5, tries = 256;

/// By how much sizes without a limit exceed their lower bounds.
constexpr int64_t unlimited = 6;

std::optional<int64_t> evaluate(sym::Expr expr, const Values &values) {
  return expr.evaluate([&](StringRef symbol) -> std::optional<int64_t> {
    auto found = values.find(std::string_view(symbol));
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

sym::Expr exprOf(Attribute attribute) { return cast<sym::ExprAttr>(attribute).getExpr(); }

ArrayRef<Attribute> elementsOf(ArrayAttr list) { return list ? list.getValue() : ArrayRef<Attribute>(); }

class Sampler {
public:
  explicit Sampler(ProgramOp program) : program(program) {
    for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
      (symbol.getSource() == SymbolSource::runtime ? found : given).push_back(symbol);
    llvm::SmallDenseSet<StringAttr> later;
    for (SymbolAttr symbol : found)
      later.insert(StringAttr::get(program.getContext(), symbol.getName()));
    sym::addDefined(program.getDefinitionsAttr(), later);
    for (Attribute attribute : elementsOf(program.getAssertionsAttr())) {
      auto assertion = cast<ArrayAttr>(attribute);
      llvm::SetVector<StringAttr> used;
      for (int side : {0, 1})
        exprOf(assertion[side]).collectSymbols(used);
      bool isLate = llvm::any_of(used, [&](StringAttr symbol) { return later.contains(symbol); });
      (isLate ? checkedLater : checkedFirst).push_back(assertion);
    }
  }

  /// Attempt `number`; nothing if no run has these sizes.
  std::optional<RunSizes> sample(int64_t number) {
    Values values;
    for (auto [index, symbol] : llvm::enumerate(given))
      values[symbol.getName().str()] = fit(choose(number, index), symbol);
    RunSizes sizes;
    if (!meetAssertions(values))
      return std::nullopt;
    sizes.bound = *complete(values, /*atBound=*/true);
    for (SymbolAttr symbol : found)
      values[symbol.getName().str()] = (symbol.getLower() + sizes.bound.find(symbol.getName())->second) / 2;
    std::optional<Values> later = complete(values, /*atBound=*/false);
    for (ArrayAttr assertion : checkedLater)
      later = later ? meetLater(assertion, *later) : std::nullopt;
    auto isMetLater = [&](ArrayAttr assertion) { return isMet(assertion, *later); };
    if (!later || !areSizes(sizes.bound) || !areSizes(*later) || !llvm::all_of(checkedLater, isMetLater))
      return std::nullopt;
    sizes.found = *later;
    return sizes;
  }

private:
  int64_t choose(int64_t number, int64_t index) {
    // The last sizes have reductions along the first symbol in several parts.
    static constexpr int64_t sizes[wanted][4] = {
        {0, 0, 0, 0}, {3, 5, 7, 11}, {130, 67, 41, 97}, {5003, 2003, 1009, 3001}, {40009, 3, 5, 2}};
    // Symbols that are no sizes, such as the number of a dimension, have few valid values, which random attempts find.
    return number < wanted ? sizes[number][index % 4] : random() % (int64_t(4) << number % 5);
  }

  static bool isIn(int64_t value, SymbolAttr symbol) {
    return value >= symbol.getLower() && value <= symbol.getUpper() && value % symbol.getMultipleOf() == 0;
  }

  /// A value near `value` within the symbol's bounds.
  static int64_t fit(int64_t value, SymbolAttr symbol) {
    int64_t multiple = symbol.getMultipleOf(), most = symbol.getUpper() / multiple * multiple;
    value = std::clamp(value, symbol.getLower(), symbol.getUpper());
    int64_t rest = value % multiple;
    return rest == 0 ? value : value > most - multiple ? most : value - rest + multiple;
  }

  /// Adds the sizes that follow from the given symbols, and the symbols determined at run time: at their bounds, each
  /// of which may depend on earlier ones, or with their values in `values`.
  std::optional<Values> complete(Values values, bool atBound) {
    auto define = [&] {
      for (Attribute definition : elementsOf(program.getDefinitionsAttr())) {
        auto parts = cast<ArrayAttr>(definition);
        std::optional<int64_t> value = evaluate(exprOf(parts[1]), values);
        if (!value)
          return false;
        values[cast<StringAttr>(parts[0]).str()] = *value;
      }
      return true;
    };
    if (atBound)
      for (SymbolAttr symbol : found)
        values[symbol.getName().str()] = symbol.getLower();
    if (!define())
      return std::nullopt;
    for (SymbolAttr symbol : atBound ? ArrayRef(found) : ArrayRef<SymbolAttr>()) {
      std::optional<int64_t> bound = symbol.getBound() ? evaluate(exprOf(symbol.getBound()), values)
                                                       : std::min(symbol.getLower() + unlimited, symbol.getUpper());
      if (!bound)
        return std::nullopt;
      values[symbol.getName().str()] = *bound;
      if (!define())
        return std::nullopt;
    }
    return values;
  }

  bool holds(ArrayAttr assertion, const Values &values) {
    std::optional<Values> all = complete(values, /*atBound=*/true);
    if (!all)
      return false;
    return isMet(assertion, *all);
  }

  static bool isMet(ArrayAttr assertion, const Values &values) {
    std::optional<int64_t> left = evaluate(exprOf(assertion[0]), values);
    return left && left == evaluate(exprOf(assertion[1]), values);
  }

  /// Changes sizes, at most one for each assertion, until all assertions hold.
  bool meetAssertions(Values &values) {
    if (!complete(values, /*atBound=*/true))
      return false;
    std::set<StringRef> taken;
    for (ArrayAttr assertion : checkedFirst)
      if (!holds(assertion, values) && !meet(assertion, values, taken))
        return false;
    // Later changes may have violated earlier assertions.
    return llvm::all_of(checkedFirst, [&](ArrayAttr assertion) { return holds(assertion, values); });
  }

  /// Changes one size so that the assertion holds.
  bool meet(ArrayAttr assertion, Values &values, std::set<StringRef> &taken) {
    for (SymbolAttr symbol : given) {
      if (taken.contains(symbol.getName()))
        continue;
      Values changed = values;
      int64_t &value = changed[symbol.getName().str()];
      // If one side is a bare symbol, the value of the other side; else values nearby.
      SmallVector<int64_t> candidates;
      std::optional<Values> all = complete(values, /*atBound=*/true);
      for (int side : {0, 1})
        if (std::optional<int64_t> other = all ? evaluate(exprOf(assertion[side]), *all) : std::nullopt)
          candidates.push_back(*other);
      for (int64_t step = 0; step <= 256; ++step)
        candidates.push_back(fit(step, symbol));
      for (int64_t candidate : candidates) {
        if (!isIn(candidate, symbol))
          continue;
        value = candidate;
        if (!holds(assertion, changed))
          continue;
        values = changed;
        taken.insert(symbol.getName());
        return true;
      }
    }
    return false;
  }

  /// The values with a symbol that the run determines, one side of an assertion, as large as the other side, where it
  /// may be.
  std::optional<Values> meetLater(ArrayAttr assertion, const Values &values) {
    for (int side : {0, 1}) {
      std::optional<StringRef> name = exprOf(assertion[side]).asSymbol();
      auto symbol =
          name ? llvm::find_if(found, [&](SymbolAttr symbol) { return symbol.getName() == *name; }) : found.end();
      std::optional<int64_t> other = evaluate(exprOf(assertion[1 - side]), values);
      if (symbol == found.end() || !other || !isIn(*other, *symbol))
        continue;
      std::optional<int64_t> most = symbol->getBound() ? evaluate(exprOf(symbol->getBound()), values) : other;
      if (!most || *other > *most)
        continue;
      Values changed = values;
      changed[name->str()] = *other;
      return complete(changed, /*atBound=*/false);
    }
    return values;
  }

  /// Whether all sizes exist and are not negative.
  bool areSizes(const Values &values) {
    auto isSize = [&](sym::Expr expr) { return evaluate(expr, values).value_or(-1) >= 0; };
    for (BufferOp buffer : program.getBuffers())
      if (!isSize(buffer.getBytes()) ||
          !llvm::all_of(cast<graph::TensorType>(buffer.getBuffer().getType()).getShape(), isSize))
        return false;
    for (PhaseOp phase : program.getPhases())
      for (SpaceOp space : phase.getSpaces())
        if (!isSize(space.getTiles().getExpr()))
          return false;
    return true;
  }

  ProgramOp program;
  SmallVector<SymbolAttr> given, found;
  /// Assertions on what is known before the run, and on what it determines.
  SmallVector<ArrayAttr> checkedFirst, checkedLater;
  std::mt19937_64 random{1};
};

} // namespace

std::vector<RunSizes> task::sampleSizes(ProgramOp program) {
  Sampler sampler(program);
  std::vector<RunSizes> samples;
  int64_t enough = program.getSymbols().empty() ? 1 : wanted;
  for (int64_t number = 0; number < tries && static_cast<int64_t>(samples.size()) < enough; ++number)
    if (std::optional<RunSizes> sizes = sampler.sample(number))
      if (llvm::none_of(samples, [&](const RunSizes &other) { return other.bound == sizes->bound; }))
        samples.push_back(std::move(*sizes));
  return samples;
}
