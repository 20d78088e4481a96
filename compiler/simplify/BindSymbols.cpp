#include "compiler/dialect/sym/Substitute.h"
#include "compiler/dialect/sym/SymDialect.h"
#include "compiler/simplify/Passes.h"

using namespace mlir;

namespace freestone::graph {

#define GEN_PASS_DEF_BINDSYMBOLS
#include "compiler/simplify/Passes.h.inc"

namespace {

struct BindSymbolsPass : impl::BindSymbolsBase<BindSymbolsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto symbols = function->getAttrOfType<DictionaryAttr>("graph.symbols");
    if (!symbols)
      return;
    llvm::StringMap<sym::Expr> values;
    SmallVector<NamedAttribute> rest;
    for (NamedAttribute symbol : symbols) {
      auto bounds = cast<sym::SymbolBoundsAttr>(symbol.getValue());
      if (bounds.getLo() == bounds.getHi())
        values[symbol.getName()] = sym::Expr::constant(&getContext(), bounds.getLo());
      else
        rest.push_back(symbol);
    }
    if (values.empty())
      return;
    function->setAttr("graph.symbols", DictionaryAttr::get(&getContext(), rest));
    sym::substituteSymbols(function, [&](StringRef name) -> std::optional<sym::Expr> {
      auto found = values.find(name);
      return found == values.end() ? std::nullopt : std::optional(found->second);
    });
  }
};

} // namespace

} // namespace freestone::graph
