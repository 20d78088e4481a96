#include "compiler/task/RunTimeSizes.h"

#include "compiler/dialect/task/TaskDialect.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

/// Longer sums are not simplified, which takes long.
static constexpr unsigned longest = 16;

RunTimeSizes::RunTimeSizes(ArrayRef<Attribute> symbols, ArrayAttr definitions) : bounds(sym::Interval::size()) {
  for (auto symbol : llvm::map_range(symbols, [](Attribute attribute) { return cast<SymbolAttr>(attribute); })) {
    auto bound = dyn_cast_or_null<sym::ExprAttr>(symbol.getBound());
    if (bound)
      ranges[symbol.getName()] = {sym::Expr::constant(symbol.getContext(), symbol.getLower()), bound.getExpr()};
    else
      bounds.set(symbol.getName(), sym::Interval{symbol.getLower(), symbol.getUpper()});
    if (!bound && symbol.getSource() == SymbolSource::runtime)
      unlimited.insert(symbol.getName());
  }
  for (Attribute definition : definitions ? definitions.getValue() : ArrayRef<Attribute>()) {
    auto parts = cast<ArrayAttr>(definition);
    define(cast<StringAttr>(parts[0]), cast<sym::ExprAttr>(parts[1]).getExpr());
  }
}

void RunTimeSizes::define(StringRef name, sym::Expr size) {
  if (isUnlimited(size))
    unlimited.insert(name);
  sym::SymbolicRange range = getRange(size);
  if (range.greatest != size || range.least != size)
    ranges[name] = range;
}

sym::SymbolicRange RunTimeSizes::getRange(sym::Expr expr) const {
  return sym::findRange(expr, [&](StringRef name) -> std::optional<sym::SymbolicRange> {
    auto range = ranges.find(name);
    if (range == ranges.end())
      return std::nullopt;
    return sym::SymbolicRange{range->second.least, getGreatest(range->second.greatest)};
  });
}

sym::Expr RunTimeSizes::getGreatest(sym::Expr expr) const {
  if (ranges.empty())
    return expr;
  if (auto found = greatest.find(expr); found != greatest.end())
    return found->second;
  sym::Expr most = getRange(expr).greatest;
  greatest[expr] = most;
  return most;
}

sym::Expr RunTimeSizes::getGreatest(sym::Expr expr, function_ref<std::optional<sym::Expr>(StringRef)> sizes) const {
  sym::Expr together = expr.substitute(sizes), most = getGreatest(together);
  if (most == together)
    return most;
  // Differences of sizes that a run determines are wide ranges within products.
  sym::Expr zero = sym::Expr::constant(expr.context(), 0);
  sym::SymbolicRange apart = sym::findRange(expr, [&](StringRef name) -> std::optional<sym::SymbolicRange> {
    std::optional<sym::Expr> size = sizes(name);
    if (!size)
      return std::nullopt;
    sym::Expr largest = getGreatest(*size);
    return sym::SymbolicRange{largest == *size ? *size : zero, largest};
  });
  return sym::Expr::min(most, apart.greatest);
}

bool RunTimeSizes::isUnlimited(sym::Expr expr) const {
  llvm::SetVector<StringAttr> symbols;
  expr.collectSymbols(symbols);
  return llvm::any_of(symbols, [&](StringAttr symbol) { return unlimited.contains(symbol); });
}

bool RunTimeSizes::isUnlimited(graph::TensorType type) const {
  return !unlimited.empty() && llvm::any_of(type.getShape(), [&](sym::Expr size) { return isUnlimited(size); });
}

/// At least each of these sizes of one dimension.
sym::Expr RunTimeSizes::getGreatest(ArrayRef<sym::Expr> sizes) const {
  sym::Expr first = sizes.front();
  SmallVector<sym::Expr> most = llvm::map_to_vector(sizes, [&](sym::Expr size) { return getGreatest(size); });
  if (llvm::all_equal(most) && most.front() == first)
    return first;
  // What a run never executes may have negative sizes.
  most.push_back(sym::Expr::constant(first.context(), 0));
  sym::Expr size = sym::Expr::max(most);
  if (size.countTerms(longest) == longest)
    return size;
  auto [found, isNew] = simplified.try_emplace(size);
  if (isNew)
    found->second = bounds.simplify(size);
  return found->second;
}

graph::TensorType RunTimeSizes::getGreatest(ArrayRef<Type> types) const {
  auto first = cast<graph::TensorType>(types.front());
  SmallVector<sym::Expr> shape;
  for (int64_t dim = 0; dim < first.getRank(); ++dim)
    shape.push_back(
        getGreatest(llvm::map_to_vector(types, [&](Type type) { return cast<graph::TensorType>(type).getDim(dim); })));
  return first.withShape(shape);
}
