#include "compiler/step/InlineGraph.h"

#include "compiler/dialect/sym/Substitute.h"
#include "mlir/IR/IRMapping.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::step;
using expressions::Tensor;
using mlir::LogicalResult;

namespace {

constexpr StringRef symbolsAttr = "graph.symbols", definitionsAttr = "graph.definitions",
                    assertionsAttr = "graph.assertions", valueSymbolsAttr = "graph.value_symbols";

std::string print(graph::TensorType type) {
  std::string text;
  raw_string_ostream stream(text);
  stream << "[";
  interleaveComma(type.getShape(), stream, [&](sym::Expr size) { stream << size.str(); });
  stream << "] of " << type.getElementType();
  return text;
}

bool isFloat(mlir::Type type) { return isa<mlir::FloatType>(type); }

} // namespace

GraphInlining::GraphInlining(mlir::func::FuncOp graph, StepFunction &into)
    : graph(graph), into(into), values(graph.getNumArguments()) {}

StringRef GraphInlining::getInputName(unsigned index) {
  return graph.getArgAttrOfType<mlir::StringAttr>(index, "graph.name").getValue();
}

graph::TensorType GraphInlining::getInputType(unsigned index) {
  return cast<graph::TensorType>(graph.getArgumentTypes()[index]);
}

std::optional<unsigned> GraphInlining::findInput(StringRef name) {
  for (unsigned index = 0; index < getInputCount(); ++index)
    if (getInputName(index) == name)
      return index;
  return std::nullopt;
}

std::string GraphInlining::describeInputs() {
  std::string text;
  for (unsigned index = 0; index < getInputCount(); ++index)
    text += ((text.empty() ? "'" : ", '") + getInputName(index) + "'").str();
  return text;
}

std::optional<sym::Expr> GraphInlining::replace(StringRef symbol) {
  auto found = sizes.find(symbol);
  return found == sizes.end() ? std::nullopt : std::optional(found->second);
}

LogicalResult GraphInlining::setInput(unsigned index, Tensor value, std::string &error) {
  graph::TensorType formal = getInputType(index);
  auto refuse = [&](const Twine &why) {
    error = ("its input '" + getInputName(index) + "' is " + print(formal) + why).str();
    return failure();
  };
  bool converts = isFloat(formal.getElementType()) && isFloat(value.elementType());
  if (formal.getRank() != value.rank() || (!converts && formal.getElementType() != value.elementType()))
    return refuse(", and is given " + print(value.type()));
  for (auto [formalSize, size] : zip_equal(formal.getShape(), value.shape())) {
    if (auto multiple = formalSize.asMultiple())
      if (std::optional<sym::Expr> quotient = size.exactDiv(sym::Expr::constant(size.context(), multiple->second)))
        sizes.try_emplace(multiple->first, *quotient);
    sym::Expr expected = formalSize.substitute([&](StringRef symbol) { return replace(symbol); });
    if (expected != size)
      return refuse(", and is given " + print(value.type()) + ": " + size.str() + " is not " + expected.str());
  }
  values[index] = cast(value, formal.getElementType());
  return success();
}

graph::TensorType GraphInlining::getFinalType(unsigned index) {
  settleSizes();
  return cast<graph::TensorType>(
      sym::substituteSymbols(getInputType(index), [&](StringRef symbol) { return replace(symbol); }));
}

/// Every symbol that no input binds gets a name unused in the function; symbols that stand for a larger expression are
/// replaced by it.
void GraphInlining::settleSizes() {
  mlir::func::FuncOp function = into.getFunction();
  mlir::MLIRContext *context = function.getContext();
  auto definitions = graph->getAttrOfType<mlir::ArrayAttr>(definitionsAttr);
  auto isDefined = [&](StringRef symbol) {
    return definitions && any_of(definitions.getAsRange<mlir::ArrayAttr>(), [&](mlir::ArrayAttr definition) {
             return cast<mlir::StringAttr>(definition[0]) == symbol;
           });
  };
  auto known = graph->getAttrOfType<mlir::DictionaryAttr>(symbolsAttr);
  auto own = function->getAttrOfType<mlir::DictionaryAttr>(symbolsAttr);
  SmallVector<mlir::NamedAttribute> all(own ? own.getValue() : ArrayRef<mlir::NamedAttribute>());
  StringMap<bool> taken;
  for (mlir::NamedAttribute symbol : all)
    taken[symbol.getName()] = true;
  for (mlir::NamedAttribute symbol : known ? known.getValue() : ArrayRef<mlir::NamedAttribute>()) {
    StringRef name = symbol.getName();
    if (sizes.contains(name) || isDefined(name))
      continue;
    std::string free = name.str();
    while (taken.contains(free))
      free += "_";
    taken[free] = true;
    sizes[name] = sym::Expr::symbol(context, free);
    all.emplace_back(mlir::StringAttr::get(context, free), symbol.getValue());
  }
  if (definitions) // Each uses earlier definitions only.
    for (auto definition : definitions.getAsRange<mlir::ArrayAttr>()) {
      sym::Expr size = cast<sym::ExprAttr>(definition[1]).getExpr();
      sizes.try_emplace(cast<mlir::StringAttr>(definition[0]).getValue(),
                        size.substitute([&](StringRef symbol) { return replace(symbol); }));
    }
  function->setAttr(symbolsAttr, mlir::DictionaryAttr::get(context, all));
}

/// Asserts the importer's assumptions about sizes for the actual sizes.
LogicalResult GraphInlining::addAssertions(std::string &error) {
  auto list = graph->getAttrOfType<mlir::ArrayAttr>(assertionsAttr);
  if (!list)
    return success();
  mlir::func::FuncOp function = into.getFunction();
  auto own = function->getAttrOfType<mlir::ArrayAttr>(assertionsAttr);
  SmallVector<mlir::Attribute> all(own ? own.getValue() : ArrayRef<mlir::Attribute>());
  for (auto assertion : list.getAsRange<mlir::ArrayAttr>()) {
    auto sizeOf = [&](unsigned part) {
      return cast<sym::ExprAttr>(assertion[part]).getExpr().substitute([&](StringRef s) { return replace(s); });
    };
    sym::Expr lhs = sizeOf(0), rhs = sizeOf(1);
    if (lhs == rhs)
      continue;
    if (lhs.asConstant() && rhs.asConstant()) {
      error = cast<mlir::StringAttr>(assertion[2]).str() + ": " + lhs.str() + " is not " + rhs.str();
      return failure();
    }
    all.push_back(mlir::ArrayAttr::get(function.getContext(), {lhs.attr(), rhs.attr(), assertion[2]}));
  }
  if (!all.empty())
    function->setAttr(assertionsAttr, mlir::ArrayAttr::get(function.getContext(), all));
  return success();
}

LogicalResult GraphInlining::inlineBody(std::string &error) {
  bool readsSizes = bool(graph->getAttr(valueSymbolsAttr));
  graph.walk([&](graph::SymbolBinderInterface) { readsSizes = true; });
  if (readsSizes) {
    error = "it has sizes that depend on data";
    return failure();
  }
  settleSizes();
  if (failed(addAssertions(error)))
    return failure();
  mlir::Block &body = graph.getBody().front();
  mlir::IRMapping mapping;
  for (auto [argument, value] : zip_equal(body.getArguments(), values))
    mapping.map(argument, value.value());
  expressions::GraphBuilder &builder = into.builder();
  for (mlir::Operation &op : body.without_terminator())
    sym::substituteSymbols(builder.clone(op, mapping), [&](StringRef symbol) { return replace(symbol); });
  for (auto [index, result] : enumerate(body.getTerminator()->getOperands()))
    outputs.emplace_back(graph.getResultAttrOfType<mlir::StringAttr>(index, "graph.name").str(),
                         Tensor(builder, mapping.lookupOrDefault(result)));
  return success();
}

Tensor GraphInlining::findOutput(StringRef name) {
  for (const auto &[known, value] : outputs)
    if (known == name)
      return value;
  return {};
}
