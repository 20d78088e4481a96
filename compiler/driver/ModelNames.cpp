#include "compiler/driver/ModelNames.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/sym/Substitute.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace freestone::driver {

std::string ModelNames::tokenFor(Kind kind, StringRef name) {
  Table &table = tables[kind];
  auto [token, isNew] = table.tokens.try_emplace(name);
  if (isNew) {
    token->second = (Twine(letters[kind]) + "$" + Twine(table.names.size()) + "$").str();
    table.names.push_back(name.str());
  }
  return token->second;
}

StringAttr ModelNames::tokenFor(Kind kind, StringAttr name) {
  return StringAttr::get(name.getContext(), tokenFor(kind, name.getValue()));
}

ModelNames::ModelNames(ModuleOp module) {
  module.removeSymNameAttr();
  takeSizes(module);
  takeNodes(module);
  takeValues(module);
  for (const std::string &size : tables[Size].names)
    printedSizes.push_back(sym::Expr::symbol(module.getContext(), size).str());
}

/// Renames the keys of a function's dictionaries about sizes.
DictionaryAttr ModelNames::renameKeys(DictionaryAttr dictionary) {
  SmallVector<NamedAttribute> renamed;
  for (NamedAttribute entry : dictionary)
    renamed.emplace_back(tokenFor(Size, entry.getName()), entry.getValue());
  return DictionaryAttr::get(dictionary.getContext(), renamed);
}

void ModelNames::renameParts(Operation *function, StringRef list, Kind kind, size_t part) {
  auto all = function->getAttrOfType<ArrayAttr>(list);
  if (!all)
    return;
  Builder builder(function->getContext());
  SmallVector<Attribute> renamed;
  for (auto parts : all.getAsRange<ArrayAttr>()) {
    SmallVector<Attribute> own = llvm::to_vector(parts);
    own[part] = tokenFor(kind, cast<StringAttr>(own[part]));
    renamed.push_back(builder.getArrayAttr(own));
  }
  function->setAttr(list, builder.getArrayAttr(renamed));
}

/// Numbers sizes in the order of inputs, then of operations: the order of expressions and dictionaries follows from
/// names.
void ModelNames::takeSizes(ModuleOp module) {
  llvm::SetVector<StringAttr> symbols;
  AttrTypeWalker walker;
  walker.addWalk([&](sym::ExprAttr attr) { attr.getExpr().collectSymbols(symbols); });
  for (auto function : module.getOps<func::FuncOp>()) {
    for (Type type : function.getArgumentTypes())
      walker.walk(type);
    function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Type type : op->getResultTypes())
        walker.walk(type);
      walker.walk(op->getAttrDictionary());
    });
  }
  for (StringAttr symbol : symbols)
    tokenFor(Size, symbol);
  for (auto function : module.getOps<func::FuncOp>()) {
    for (StringRef name : {"graph.symbols", "graph.value_symbols"})
      if (auto dictionary = function->getAttrOfType<DictionaryAttr>(name))
        function->setAttr(name, renameKeys(dictionary));
    if (auto recompute = function->getAttrOfType<DictionaryAttr>("graph.recompute")) {
      NamedAttrList list(recompute);
      if (auto hints = recompute.getAs<DictionaryAttr>("hints"))
        list.set("hints", renameKeys(hints));
      function->setAttr("graph.recompute", list.getDictionary(module.getContext()));
    }
    renameParts(function, "graph.definitions", Size, 0);
    renameParts(function, "graph.assertions", Text, 2);
  }
  sym::substituteSymbols(module, [&](StringRef name) -> std::optional<sym::Expr> {
    return sym::Expr::symbol(module.getContext(), tokenFor(Size, name));
  });
}

void ModelNames::takeNodes(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](NameLoc location) -> std::optional<Attribute> {
    return NameLoc::get(tokenFor(Node, location.getName()), location.getChildLoc());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false, /*replaceLocs=*/true, /*replaceTypes=*/false);
}

void ModelNames::takeValues(ModuleOp module) {
  constexpr StringLiteral named[] = {"graph.name", "graph.state", "graph.initial"};
  for (auto function : module.getOps<func::FuncOp>()) {
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      for (StringRef attribute : named)
        if (auto name = function.getArgAttrOfType<StringAttr>(index, attribute))
          function.setArgAttr(index, attribute, tokenFor(Value, name));
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto weight = dyn_cast<graph::WeightOp>(op))
        weight.setNameAttr(tokenFor(Value, weight.getNameAttr()));
      if (auto match = dyn_cast<graph::MatchShapeOp>(op); match && match.getLabelAttr())
        match.setLabelAttr(tokenFor(Text, match.getLabelAttr()));
    });
    for (unsigned index = 0; index < function.getNumResults(); ++index)
      for (StringRef attribute : named)
        if (auto name = function.getResultAttrOfType<StringAttr>(index, attribute))
          function.setResultAttr(index, attribute, tokenFor(Value, name));
    // Used by the importer only.
    function->removeAttr("graph.statistics");
    function->removeAttr("graph.class_weights");
  }
}

std::string ModelNames::expand(StringRef text, bool asExpressions) const {
  std::string result;
  while (!text.empty()) {
    size_t dollar = text.find('$');
    StringRef digits = dollar == StringRef::npos ? StringRef() : text.drop_front(dollar + 1).take_while(llvm::isDigit);
    size_t kind = dollar == StringRef::npos || dollar == 0 ? StringRef::npos : letters.find(text[dollar - 1]);
    size_t number, end = dollar + 1 + digits.size();
    if (kind == StringRef::npos || digits.getAsInteger(10, number) || end >= text.size() || text[end] != '$' ||
        number >= tables[kind].names.size()) {
      size_t rest = dollar == StringRef::npos ? text.size() : dollar + 1;
      result += text.take_front(rest);
      text = text.drop_front(rest);
      continue;
    }
    result += text.take_front(dollar - 1);
    result += kind == Size && asExpressions ? printedSizes[number] : tables[kind].names[number];
    text = text.drop_front(end + 1);
  }
  return result;
}

std::string ModelNames::expand(StringRef text) const { return expand(text, /*asExpressions=*/true); }

void ModelNames::expand(runtime::Descriptor &descriptor) const {
  auto rename = [&](std::string &text) { text = expand(text, /*asExpressions=*/true); };
  auto renameTensors = [&](std::vector<runtime::TensorInfo> &tensors) {
    for (runtime::TensorInfo &tensor : tensors) {
      rename(tensor.name);
      llvm::for_each(tensor.shape, rename);
    }
  };
  for (runtime::Entry &entry : descriptor.entries) {
    for (runtime::Symbol &symbol : entry.symbols)
      symbol.name = expand(symbol.name, /*asExpressions=*/false);
    renameTensors(entry.inputs);
    renameTensors(entry.outputs);
    for (runtime::Assertion &assertion : entry.assertions)
      rename(assertion.text);
    for (runtime::Phase &phase : entry.phases)
      rename(phase.label);
    rename(entry.operations);
    rename(entry.padding);
  }
  for (runtime::Weight &weight : descriptor.weights)
    rename(weight.name);
  for (runtime::StateInfo &state : descriptor.states)
    rename(state.name);
  llvm::for_each(descriptor.sites, rename);
}

void moveConstantsToWeights(ModuleOp module, WeightStore &weights) {
  size_t number = 0;
  for (auto function : module.getOps<func::FuncOp>()) {
    for (auto constant : llvm::make_early_inc_range(function.getOps<graph::ConstantOp>())) {
      auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
      graph::TensorType type = constant.getType();
      // Elements below a byte, which weights pack, stay: a constant has few.
      if (!value || value.isSplat() || !isa<FloatType>(value.getElementType()) ||
          graph::isSubByte(type.getElementType()))
        continue;
      std::string name;
      do
        name = "number " + std::to_string(number++);
      while (weights.find(name));
      ArrayRef<char> bytes = value.getRawData();
      weights.addOwned(name, type.getElementType(), *type.getStaticShape(), {bytes.begin(), bytes.end()});
      OpBuilder builder(constant);
      constant.replaceAllUsesWith(
          graph::WeightOp::create(builder, constant.getLoc(), type, builder.getStringAttr(name)).getResult());
      constant.erase();
    }
  }
}

} // namespace freestone::driver
