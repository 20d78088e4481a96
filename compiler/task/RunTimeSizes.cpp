#include "compiler/task/RunTimeSizes.h"

#include "compiler/dialect/task/TaskDialect.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

RunTimeSizes::RunTimeSizes(ArrayRef<Attribute> symbols) {
  for (Attribute attribute : symbols)
    if (auto symbol = cast<SymbolAttr>(attribute); symbol.getSource() == SymbolSource::runtime)
      ranges[symbol.getName()] = {sym::Expr::constant(symbol.getContext(), symbol.getLower()),
                                  cast<sym::ExprAttr>(symbol.getBound()).getExpr()};
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

graph::TensorType RunTimeSizes::getGreatest(Type type) const {
  auto tensor = cast<graph::TensorType>(type);
  sym::Expr zero = sym::Expr::constant(type.getContext(), 0);
  // What a run never executes may have negative sizes.
  return tensor.withShape(llvm::map_to_vector(tensor.getShape(), [&](sym::Expr size) {
    sym::Expr greatest = getGreatest(size);
    return greatest == size ? size : sym::Expr::max(greatest, zero);
  }));
}
