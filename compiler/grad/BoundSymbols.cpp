#include "compiler/grad/BoundSymbols.h"

#include "compiler/dialect/sym/Substitute.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace freestone;

namespace freestone::grad {

static constexpr llvm::StringLiteral symbolsAttr = "graph.symbols", definitionsAttr = "graph.definitions";

using Names = llvm::SetVector<StringAttr>;

/// Adds the symbols of an operator: of its attributes, its results and its regions' arguments.
static void collectSymbols(Operation *op, AttrTypeWalker &walker) {
  walker.walk(op->getAttrDictionary());
  for (Type type : op->getResultTypes())
    walker.walk(type);
  for (Region &region : op->getRegions())
    for (Type type : region.getArgumentTypes())
      walker.walk(type);
}

static void addWalk(AttrTypeWalker &walker, Names &names) {
  walker.addWalk([&](sym::ExprAttr size) { size.getExpr().collectSymbols(names); });
}

Names findBoundSymbols(Operation *op) {
  Names bound;
  auto add = [&](sym::Expr size) {
    if (std::optional<StringRef> name = size.asSymbol())
      bound.insert(StringAttr::get(op->getContext(), *name));
  };
  op->walk([&](graph::SymbolBinderInterface binder) {
    if (binder == op || isa<graph::MatchShapeOp>(binder))
      return;
    SmallVector<sym::Expr> sizes;
    binder.collectBound(sizes);
    llvm::for_each(sizes, add);
    if (auto loop = dyn_cast<graph::WhileOp>(*binder); loop && loop.getTrip())
      add(loop.getTrip()->getExpr());
  });
  if (bound.empty())
    return bound;
  auto function = op->getParentOfType<func::FuncOp>();
  Names known;
  AttrTypeWalker walker;
  addWalk(walker, known);
  // Notes of the function are of all symbols.
  for (Type type : function.getArgumentTypes())
    walker.walk(type);
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *other) {
    collectSymbols(other, walker);
    return other == op ? WalkResult::skip() : WalkResult::advance();
  });
  bound.remove_if([&](StringAttr name) { return known.contains(name); });
  if (bound.empty())
    return bound;
  llvm::SmallDenseSet<StringAttr> derived(bound.begin(), bound.end());
  sym::addDefined(function->getAttrOfType<ArrayAttr>(definitionsAttr), derived);
  if (derived.size() > bound.size())
    for (auto definition : function->getAttrOfType<ArrayAttr>(definitionsAttr).getAsRange<ArrayAttr>())
      if (auto name = cast<StringAttr>(definition[0]); derived.contains(name))
        bound.insert(name);
  return bound;
}

bool hasSizeOf(Value value, const Names &symbols) {
  Names used;
  for (sym::Expr size : graph::getShape(value))
    size.collectSymbols(used);
  return llvm::any_of(used, [&](StringAttr name) { return symbols.contains(name); });
}

sym::Expr declareSymbol(func::FuncOp function, StringRef stem, sym::SymbolBoundsAttr bounds) {
  Names taken;
  AttrTypeWalker walker;
  addWalk(walker, taken);
  function->walk([&](Operation *op) { collectSymbols(op, walker); });
  auto known = function->getAttrOfType<DictionaryAttr>(symbolsAttr);
  NamedAttrList symbols(known ? known.getValue() : ArrayRef<NamedAttribute>());
  std::string name = stem.str();
  while (taken.contains(StringAttr::get(function.getContext(), name)) || symbols.get(name))
    name += "_";
  if (bounds) {
    symbols.set(name, bounds);
    function->setAttr(symbolsAttr, symbols.getDictionary(function.getContext()));
  }
  return sym::Expr::symbol(function.getContext(), name);
}

llvm::DenseMap<StringAttr, sym::Expr> renameSymbols(func::FuncOp function, const Names &symbols) {
  llvm::DenseMap<StringAttr, sym::Expr> names;
  for (StringAttr name : symbols) {
    auto known = function->getAttrOfType<DictionaryAttr>(symbolsAttr);
    auto bounds = known ? known.getAs<sym::SymbolBoundsAttr>(name) : sym::SymbolBoundsAttr();
    if (!bounds)
      bounds = sym::SymbolBoundsAttr::get(function.getContext(), sym::SymbolBounds{sym::Interval::size(), 1});
    names[name] = declareSymbol(function, name, bounds);
  }
  auto definitions = function->getAttrOfType<ArrayAttr>(definitionsAttr);
  if (!definitions)
    return names;
  auto replace = [&](StringRef name) -> std::optional<sym::Expr> {
    auto found = names.find(StringAttr::get(function.getContext(), name));
    return found == names.end() ? std::nullopt : std::optional(found->second);
  };
  SmallVector<Attribute> all(definitions.getValue());
  for (auto definition : definitions.getAsRange<ArrayAttr>())
    if (auto found = names.find(cast<StringAttr>(definition[0])); found != names.end())
      all.push_back(
          ArrayAttr::get(function.getContext(), {StringAttr::get(function.getContext(), *found->second.asSymbol()),
                                                 sym::substituteSymbols(definition[1], replace)}));
  if (all.size() > definitions.size())
    function->setAttr(definitionsAttr, ArrayAttr::get(function.getContext(), all));
  return names;
}

void applyNames(Operation *op, const llvm::DenseMap<StringAttr, sym::Expr> &names) {
  if (!names.empty())
    sym::substituteSymbols(op, [&](StringRef name) -> std::optional<sym::Expr> {
      auto found = names.find(StringAttr::get(op->getContext(), name));
      return found == names.end() ? std::nullopt : std::optional(found->second);
    });
}

} // namespace freestone::grad
