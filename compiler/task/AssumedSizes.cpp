#include "compiler/task/AssumedSizes.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

AssumedSizes::AssumedSizes(ProgramOp program, int64_t value) {
  for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
    values[symbol.getName()] = std::clamp(value, symbol.getLower(), symbol.getUpper());
  if (auto definitions = program.getDefinitions())
    for (auto definition : definitions->getAsRange<ArrayAttr>())
      values[cast<StringAttr>(definition[0])] = evaluate(cast<sym::ExprAttr>(definition[1]).getExpr());
}

int64_t AssumedSizes::evaluate(sym::Expr size) const {
  constexpr int64_t large = int64_t(1) << 50;
  auto valueOf = [&](StringRef symbol) -> std::optional<int64_t> {
    auto found = values.find(symbol);
    return found == values.end() ? 1 : found->second;
  };
  return size.evaluate(valueOf).value_or(large);
}
