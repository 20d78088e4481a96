#include "compiler/task/NamedSizes.h"

#include "compiler/dialect/task/TaskDialect.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

/// Of sizes without a name, atoms included: a product of two sizes, each divided once, has as many.
static constexpr unsigned mostTerms = 8;

NamedSizes::NamedSizes(ArrayRef<Attribute> symbols, ArrayAttr definitions, bool isEnabled)
    : earlier(definitions), isEnabled(isEnabled) {
  for (Attribute symbol : symbols)
    taken.insert(cast<SymbolAttr>(symbol).getName());
  if (definitions)
    for (auto definition : definitions.getAsRange<ArrayAttr>())
      taken.insert(cast<StringAttr>(definition[0]).getValue());
}

sym::Expr NamedSizes::getName(sym::Expr size) {
  if (!isEnabled || size.isInvalid() || size.countTerms(mostTerms + 1) <= mostTerms)
    return size;
  sym::Expr &name = names[size];
  if (name)
    return name;
  std::string text;
  for (unsigned number = names.size() - 1; text.empty() || !taken.insert(text).second; ++number)
    text = ("size" + Twine(number)).str();
  return name = sym::Expr::symbol(size.context(), text);
}

ArrayAttr NamedSizes::getDefinitions() const {
  if (names.empty())
    return earlier;
  SmallVector<Attribute> definitions;
  if (earlier)
    llvm::append_range(definitions, earlier);
  MLIRContext *context = names.front().first.context();
  for (auto [size, name] : names)
    definitions.push_back(
        ArrayAttr::get(context, {StringAttr::get(context, *name.asSymbol()), Attribute(size.attr())}));
  return ArrayAttr::get(context, definitions);
}
