#include "compiler/task/RunTimeSizes.h"

#include "compiler/dialect/task/TaskDialect.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

/// Longer sums are not simplified, which takes long.
static constexpr size_t longest = 16;

RunTimeSizes::RunTimeSizes(ArrayRef<Attribute> symbols) : bounds(sym::Interval::size()) {
  for (auto symbol : llvm::map_range(symbols, [](Attribute attribute) { return cast<SymbolAttr>(attribute); })) {
    auto bound = dyn_cast_or_null<sym::ExprAttr>(symbol.getBound());
    if (bound)
      ranges[symbol.getName()] = {sym::Expr::constant(symbol.getContext(), symbol.getLower()), bound.getExpr()};
    else
      bounds.set(symbol.getName(), sym::Interval{symbol.getLower(), symbol.getUpper()});
    if (!bound && symbol.getSource() == SymbolSource::runtime)
      unlimited.insert(symbol.getName());
  }
}

/// The bound of a symbol may depend on others.
sym::SymbolicRange RunTimeSizes::find(sym::Expr expr) const {
  if (ranges.empty())
    return {expr, expr};
  return sym::findRange(expr, [&](StringRef name) -> std::optional<sym::SymbolicRange> {
    auto range = ranges.find(name);
    if (range == ranges.end())
      return std::nullopt;
    return sym::SymbolicRange{range->second.least, getGreatest(range->second.greatest)};
  });
}

bool RunTimeSizes::isUnlimited(sym::Expr expr) const {
  llvm::SetVector<StringAttr> symbols;
  expr.collectSymbols(symbols);
  return llvm::any_of(symbols, [&](StringAttr symbol) { return unlimited.contains(symbol); });
}

bool RunTimeSizes::isUnlimited(graph::TensorType type) const {
  return !unlimited.empty() && llvm::any_of(type.getShape(), [&](sym::Expr size) { return isUnlimited(size); });
}

graph::TensorType RunTimeSizes::getGreatest(ArrayRef<Type> types) const {
  auto first = cast<graph::TensorType>(types.front());
  SmallVector<sym::Expr> shape(first.getShape());
  for (auto [dim, size] : llvm::enumerate(shape)) {
    SmallVector<sym::Expr> greatest;
    for (Type type : types)
      greatest.push_back(getGreatest(cast<graph::TensorType>(type).getDim(dim)));
    if (llvm::all_equal(greatest) && greatest.front() == size)
      continue;
    // What a run never executes may have negative sizes.
    greatest.push_back(sym::Expr::constant(size.context(), 0));
    size = sym::Expr::max(greatest);
    if (size.terms().size() < longest)
      size = bounds.simplify(size);
  }
  return first.withShape(shape);
}
