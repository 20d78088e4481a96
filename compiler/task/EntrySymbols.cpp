#include "compiler/task/EntrySymbols.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/task/ValueMemory.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

using SymbolNames = llvm::SetVector<StringAttr>;

void collect(Type type, SymbolNames &names) {
  if (auto tensor = dyn_cast<graph::TensorType>(type))
    for (sym::Expr size : tensor.getShape())
      size.collectSymbols(names);
}

/// Two sizes that import could not prove equal, and the node that requires it.
struct Assertion {
  sym::Expr left, right;
  StringRef reason;
};

SmallVector<Assertion> assertionsOf(func::FuncOp function) {
  SmallVector<Assertion> assertions;
  if (auto list = function->getAttrOfType<ArrayAttr>("graph.assertions"))
    for (auto parts : list.getAsRange<ArrayAttr>())
      assertions.push_back({cast<sym::ExprAttr>(parts[0]).getExpr(), cast<sym::ExprAttr>(parts[1]).getExpr(),
                            cast<StringAttr>(parts[2]).getValue()});
  return assertions;
}

/// Visits a function and the bodies of its loops and branches, each where it is called.
void walk(func::FuncOp function, llvm::function_ref<void(func::FuncOp)> enter,
          llvm::function_ref<void(Operation *)> visit) {
  enter(function);
  auto walkBody = [&](FlatSymbolRefAttr name) {
    walk(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(function, name), enter, visit);
  };
  function.walk([&](Operation *op) {
    visit(op);
    if (auto loop = dyn_cast<tile::LoopOp>(op)) {
      walkBody(loop.getBodyAttr());
    } else if (auto branch = dyn_cast<tile::BranchOp>(op)) {
      walkBody(branch.getThenBodyAttr());
      walkBody(branch.getElseBodyAttr());
    }
  });
}

void collect(func::FuncOp function, SymbolNames &names) {
  auto collectTypes = [&](TypeRange types) {
    for (Type type : types)
      collect(type, names);
  };
  auto enter = [&](func::FuncOp entered) { collectTypes(entered.getArgumentTypes()); };
  walk(function, enter, [&](Operation *op) {
    collectTypes(op->getResultTypes());
    if (auto loop = dyn_cast<tile::LoopOp>(op))
      for (std::optional<sym::ExprAttr> count : {loop.getTrips(), loop.getSlices()})
        if (count)
          count->getExpr().collectSymbols(names);
    auto call = dyn_cast<tile::CallOp>(op);
    if (!call)
      return;
    for (sym::Expr size : call.getSizes())
      size.collectSymbols(names);
    if (auto bound = call->getAttrOfType<sym::ExprAttr>("bound"))
      bound.getExpr().collectSymbols(names);
  });
}

SymbolNames symbolsOf(func::FuncOp function) {
  SymbolNames names;
  collect(function, names);
  for (const Assertion &assertion : assertionsOf(function))
    for (sym::Expr side : {assertion.left, assertion.right})
      side.collectSymbols(names);
  return names;
}

/// Finds the binding of a function's symbols.
class Binder {
public:
  explicit Binder(func::FuncOp function)
      : function(function), values(function->getAttrOfType<DictionaryAttr>("graph.value_symbols")),
        bounds(function->getAttrOfType<DictionaryAttr>("graph.symbols")) {
    // Weights and states are arguments of the function, but not inputs of the entry.
    for (BlockArgument argument : function.getArguments())
      if (!function.getArgAttr(argument.getArgNumber(), "graph.weight") &&
          !function.getArgAttr(argument.getArgNumber(), stateAttr))
        inputs.push_back(argument);
    walk(
        function, [](func::FuncOp) {},
        [&](Operation *op) {
          if (auto name = op->getAttrOfType<StringAttr>("binds"))
            runtimeBounds[name] = op->getAttrOfType<sym::ExprAttr>("bound");
        });
  }

  FailureOr<Attribute> bind(StringAttr name) {
    auto known = bounds ? bounds.getAs<sym::SymbolBoundsAttr>(name) : sym::SymbolBoundsAttr();
    sym::SymbolBounds range = known ? known.getBounds() : sym::SymbolBounds();
    auto make = [&](SymbolSource source, int64_t tensor, int64_t index, Attribute bound = {},
                    int64_t scale = 1) -> Attribute {
      return SymbolAttr::get(name.getContext(), name.getValue(), source, tensor, index, scale, range.range.lo,
                             range.range.hi, range.multipleOf, bound);
    };
    if (auto place = values ? values.getAs<DenseI64ArrayAttr>(name) : DenseI64ArrayAttr())
      return make(SymbolSource::element, inputNumber(place[0]), place[1]);
    if (auto bound = runtimeBounds.find(name); bound != runtimeBounds.end())
      return make(SymbolSource::runtime, -1, 0, bound->second);
    for (auto [number, input] : llvm::enumerate(inputs))
      for (auto [dim, size] : llvm::enumerate(cast<graph::TensorType>(input.getType()).getShape()))
        if (auto multiple = size.asMultiple(); multiple && multiple->first == name.getValue())
          return make(SymbolSource::dim, number, dim, /*bound=*/{}, multiple->second);
    return function.emitError("nothing binds the size '")
           << name.getValue() << "': no dimension of an input is this size or a multiple of it";
  }

private:
  int64_t inputNumber(int64_t argument) const {
    for (auto [number, input] : llvm::enumerate(inputs))
      if (input.getArgNumber() == argument)
        return number;
    return -1;
  }

  func::FuncOp function;
  DictionaryAttr values, bounds;
  SmallVector<BlockArgument> inputs;
  DenseMap<StringAttr, sym::ExprAttr> runtimeBounds;
};

} // namespace

FailureOr<EntrySymbols> task::collectEntrySymbols(func::FuncOp function) {
  Binder binder(function);
  SymbolNames names = symbolsOf(function);
  // Backwards: a definition uses earlier ones only.
  SmallVector<Attribute> definitions;
  SymbolNames defined;
  if (auto all = function->getAttrOfType<ArrayAttr>("graph.definitions"))
    for (Attribute definition : llvm::reverse(all)) {
      auto name = cast<StringAttr>(cast<ArrayAttr>(definition)[0]);
      if (!names.contains(name))
        continue;
      definitions.push_back(definition);
      defined.insert(name);
      cast<sym::ExprAttr>(cast<ArrayAttr>(definition)[1]).getExpr().collectSymbols(names);
    }
  EntrySymbols symbols;
  for (StringAttr name : names) {
    if (defined.contains(name))
      continue;
    FailureOr<Attribute> symbol = binder.bind(name);
    if (failed(symbol))
      return failure();
    symbols.bound.push_back(*symbol);
  }
  std::reverse(definitions.begin(), definitions.end());
  if (!definitions.empty())
    symbols.definitions = ArrayAttr::get(function.getContext(), definitions);
  return symbols;
}

ArrayAttr task::describeAssertion(sym::Expr actual, sym::Expr expected, StringRef reason) {
  Builder builder(actual.context());
  StringAttr text =
      builder.getStringAttr(reason + ": the size " + actual.str() + ", which must equal " + expected.str() + ",");
  return builder.getArrayAttr({actual.attr(), expected.attr(), text});
}

ArrayAttr task::entryAssertions(func::FuncOp function) {
  SmallVector<Attribute> assertions;
  for (const auto &[left, right, reason] : assertionsOf(function))
    assertions.push_back(describeAssertion(left, right, reason));
  return assertions.empty() ? ArrayAttr() : ArrayAttr::get(function.getContext(), assertions);
}
