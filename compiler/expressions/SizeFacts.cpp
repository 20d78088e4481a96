#include "compiler/expressions/SizeFacts.h"
#include "compiler/dialect/sym/SymbolicRange.h"
#include "compiler/dialect/sym/Syntax.h"
#include <functional>
#include <numeric>

using namespace llvm;

namespace freestone::expressions {
namespace {

/// Of expressions that have no symbol, and of those that are analysed.
constexpr unsigned mostTerms = 8, mostAnalysed = 24;

bool isSmall(Expr expr) { return expr.countTerms(mostAnalysed) < mostAnalysed; }

/// The binding time of a symbol: with the inputs (0), right after them (1), or at run time (2).
int stageOf(SymbolOrigin origin) {
  bool isLate = origin == SymbolOrigin::Data || origin == SymbolOrigin::DataDefinition;
  return isLate ? 2 : origin == SymbolOrigin::Definition ? 1 : 0;
}

bool isDefinition(SymbolOrigin origin) {
  return origin == SymbolOrigin::Definition || origin == SymbolOrigin::DataDefinition;
}

/// A replacement may contain only symbols that are bound no later than the replaced one. What data decide is not known
/// to be as required before it is compared: it keeps its symbol.
bool mayReplace(const SizeFacts &facts, StringRef symbol, Expr replacement) {
  SetVector<mlir::StringAttr> used;
  replacement.collectSymbols(used);
  auto replaced = facts.symbols().find(symbol.str());
  if (replaced->second.origin == SymbolOrigin::Data)
    return false;
  return llvm::all_of(used, [&](mlir::StringAttr name) {
    auto other = facts.symbols().find(name.str());
    if (name == symbol || other == facts.symbols().end())
      return false;
    int before = stageOf(other->second.origin), after = stageOf(replaced->second.origin);
    return before < after || (before == after && before < 2 && (before != 1 || other < replaced));
  });
}

} // namespace

/// The prefixes '#' and '%' are reserved for symbols of passes.
static std::string nameOf(StringRef given) {
  bool isOfAPass = given.starts_with("#") || given.starts_with("%");
  return (Twine(isOfAPass ? "_" : "") + given).str();
}

Expr SizeFacts::symbol(StringRef given, SymbolOrigin origin, sym::Interval range) {
  std::string name = nameOf(given);
  auto [entry, isNew] = declared.insert({name, Symbol{origin, {range, 1}}});
  if (isNew)
    known.set(name, range);
  return Expr::symbol(context, name);
}

Expr SizeFacts::dimension(StringRef name) {
  FailureOr<Expr> size = sym::parseExpr(context, name);
  std::optional<std::pair<StringRef, int64_t>> multiple = succeeded(size) ? size->asMultiple() : std::nullopt;
  auto [base, factor] = multiple.value_or(std::pair(name, int64_t(1)));
  return symbol(base, SymbolOrigin::Dimension, sym::Interval::size()) * factor;
}

Expr SizeFacts::element(StringRef name, int64_t input, int64_t element, sym::Interval range) {
  Expr expr = fresh(name, SymbolOrigin::Element, range);
  Symbol &symbol = declared.find(expr.asSymbol()->str())->second;
  symbol.input = input;
  symbol.element = element;
  return expr;
}

Expr SizeFacts::fresh(StringRef stem, SymbolOrigin origin, sym::Interval range) {
  std::string first = nameOf(stem), name = first;
  for (unsigned next = 1; declared.contains(name) || replaced.contains(name); ++next)
    name = (first + "_" + Twine(next)).str();
  return symbol(name, origin, range);
}

Expr SizeFacts::freshCount(StringRef stem, Expr most) {
  Expr count = fresh(stem, SymbolOrigin::Data, {0, interval(most).hi});
  limit(count, most);
  return count;
}

void SizeFacts::limit(Expr symbol, Expr most) { declared.find(symbol.asSymbol()->str())->second.most = most; }

Expr SizeFacts::define(StringRef stem, Expr definition, sym::Interval range) {
  definition = simplify(definition);
  if (definition.isInvalid() || definition.isConstant() || definition.asSymbol())
    return definition;
  for (const auto &[name, symbol] : declared)
    if (symbol.definition == definition)
      return Expr::symbol(context, name);
  bool isLate = dependsOnData(definition);
  Expr expr = fresh(stem, isLate ? SymbolOrigin::DataDefinition : SymbolOrigin::Definition, range);
  declared.find(expr.asSymbol()->str())->second.definition = definition;
  return expr;
}

bool SizeFacts::isShort(Expr expr) { return expr.countTerms(mostTerms + 1) <= mostTerms; }

bool SizeFacts::restrict(StringRef name, sym::Interval range, int64_t multipleOf) {
  auto entry = declared.find(name.str());
  if (entry == declared.end())
    return false;
  sym::Interval &current = entry->second.bounds.range;
  current = {std::max(current.lo, range.lo), std::min(current.hi, range.hi)};
  entry->second.bounds.multipleOf = std::lcm(entry->second.bounds.multipleOf, multipleOf);
  known.set(name, entry->second.bounds);
  return true;
}

bool SizeFacts::dependsOnData(Expr expr) const {
  SetVector<mlir::StringAttr> used;
  expr.collectSymbols(used);
  return llvm::any_of(used, [&](mlir::StringAttr name) {
    auto symbol = declared.find(name.str());
    return symbol != declared.end() && stageOf(symbol->second.origin) == 2;
  });
}

Expr SizeFacts::greatest(Expr expr) const {
  if (!dependsOnData(expr))
    return expr;
  bool isLimited = true;
  std::function<std::optional<sym::SymbolicRange>(StringRef)> rangeOf =
      [&](StringRef name) -> std::optional<sym::SymbolicRange> {
    auto symbol = declared.find(name.str());
    if (symbol == declared.end() || stageOf(symbol->second.origin) < 2)
      return std::nullopt;
    if (symbol->second.definition)
      return sym::findRange(symbol->second.definition, rangeOf);
    sym::Interval range = symbol->second.bounds.range;
    Expr most = symbol->second.most ? this->greatest(symbol->second.most) : Expr();
    if (!most && range.hi == sym::Interval::plusInfinity)
      isLimited = false;
    return sym::SymbolicRange{constant(range.lo), most ? most : constant(range.hi)};
  };
  Expr greatest = sym::findRange(expr, rangeOf).greatest;
  if (isLimited)
    return simplify(greatest);
  // A minimum with a constant has a limit whatever the rest is.
  int64_t most = interval(expr).hi;
  return most == sym::Interval::plusInfinity ? Expr() : constant(most);
}

Expr SizeFacts::simplify(Expr expr) const { return isSmall(expr) ? known.simplify(expr) : expr; }

sym::Interval SizeFacts::interval(Expr expr) const {
  return isSmall(expr) ? known.interval(expr) : sym::Interval::all();
}

bool SizeFacts::isDefinedAs(Expr symbol, Expr definition) const {
  std::optional<StringRef> name = symbol.asSymbol();
  auto found = name ? declared.find(name->str()) : declared.end();
  return found != declared.end() && found->second.definition == definition;
}

bool SizeFacts::isAsserted(Expr lhs, Expr rhs) const {
  return llvm::any_of(asserted, [&](const Assertion &other) {
    return (other.lhs == lhs && other.rhs == rhs) || (other.lhs == rhs && other.rhs == lhs);
  });
}

bool SizeFacts::areEqual(Expr lhs, Expr rhs) const {
  lhs = simplify(lhs);
  rhs = simplify(rhs);
  return lhs == rhs || isDefinedAs(lhs, rhs) || isDefinedAs(rhs, lhs) || isAsserted(lhs, rhs);
}

SizeFacts::Learnt SizeFacts::learnEqual(Expr lhs, Expr rhs, const Twine &text) {
  lhs = simplify(lhs);
  rhs = simplify(rhs);
  if (lhs == rhs || isDefinedAs(lhs, rhs) || isDefinedAs(rhs, lhs))
    return {};
  if (isSmall(lhs - rhs) && known.provablyDistinct(lhs, rhs))
    return {Outcome::Contradiction, {}, {}};
  // The later of two symbols is replaced, so that the names of the first inputs are kept.
  auto order = [&](Expr expr) -> int64_t {
    std::optional<StringRef> name = expr.asSymbol();
    auto entry = name ? declared.find(name->str()) : declared.end();
    return entry == declared.end() ? -1 : entry - declared.begin();
  };
  if (order(lhs) > order(rhs))
    std::swap(lhs, rhs);
  for (auto [symbol, replacement] : {std::pair(rhs, lhs), std::pair(lhs, rhs)})
    if (order(symbol) >= 0 && mayReplace(*this, *symbol.asSymbol(), replacement))
      return {Outcome::Substitute, symbol.asSymbol()->str(), replacement};
  if (!isAsserted(lhs, rhs))
    asserted.push_back({lhs, rhs, text.str()});
  return {Outcome::Assert, {}, {}};
}

void SizeFacts::requireSize(Expr expr, const Twine &text) {
  Expr zero = constant(0), least = Expr::min(expr, zero);
  if (llvm::any_of(asserted, [&](const Assertion &other) { return other.lhs == least && other.rhs == zero; }))
    return;
  asserted.push_back({least, zero, text.str(), /*isSign=*/true});
  if (std::optional<StringRef> name = expr.asSymbol())
    restrict(*name, sym::Interval::size());
}

void SizeFacts::substitute(StringRef symbol, Expr replacement, const Twine &text) {
  auto replace = [&](StringRef name) -> std::optional<Expr> {
    return name == symbol ? std::optional(replacement) : std::nullopt;
  };
  // Bounds of the replaced symbol apply to its replacement.
  auto gone = declared.find(symbol.str());
  if (gone == declared.end())
    return;
  Symbol before = gone->second;
  if (std::optional<StringRef> other = replacement.asSymbol())
    restrict(*other, before.bounds.range, before.bounds.multipleOf);
  // A dimension needs no check: the runtime compares it. An element does.
  if (before.origin != SymbolOrigin::Element) {
    declared.erase(gone);
    replaced.insert(symbol);
  }
  for (auto &entry : declared)
    for (Expr *expr : {&entry.second.definition, &entry.second.most})
      if (*expr)
        *expr = simplify(expr->substitute(replace));
  for (Assertion &assertion : asserted) {
    assertion.lhs = assertion.lhs.substitute(replace);
    assertion.rhs = assertion.rhs.substitute(replace);
    // The bounds of a symbol may derive from this assertion.
    if (assertion.isSign)
      continue;
    assertion.lhs = simplify(assertion.lhs);
    assertion.rhs = simplify(assertion.rhs);
  }
  llvm::erase_if(asserted, [](const Assertion &assertion) { return assertion.lhs == assertion.rhs; });
  if (before.origin == SymbolOrigin::Element)
    asserted.push_back({Expr::symbol(context, symbol), replacement, text.str()});
  if (isDefinition(before.origin))
    asserted.push_back({before.definition, replacement, text.str()});
}

} // namespace freestone::expressions
