#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "compiler/dialect/graph/GraphDialect.cpp.inc"
#include "compiler/dialect/graph/GraphEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/graph/GraphAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/graph/GraphTypes.cpp.inc"

#include "compiler/dialect/graph/GraphInterfaces.cpp.inc"

namespace freestone::graph {

void GraphDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/graph/GraphAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/dialect/graph/GraphTypes.cpp.inc"
      >();
  registerOperations();
}

Operation *GraphDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  auto tensor = dyn_cast<TensorType>(type);
  if (!elements || !tensor)
    return nullptr;
  // Indices that are too many for a constant of another shape or type stay operations on the constant.
  if (!elements.isSplat() &&
      elements.getNumElements() > ConstantOp::getMaxElements(tensor.getRank(), tensor.getElementType()))
    return nullptr;
  return ConstantOp::create(builder, location, tensor, elements);
}

/// `graph.value_symbols = {n = [argument, element]}`.
static LogicalResult verifyValueSymbols(FunctionOpInterface function, DictionaryAttr symbols) {
  for (NamedAttribute symbol : symbols) {
    auto source = dyn_cast<DenseI64ArrayAttr>(symbol.getValue());
    if (!source || source.size() != 2 || source[0] < 0 || source[0] >= function.getNumArguments() || source[1] < 0)
      return function.emitOpError("graph.value_symbols names no element of an argument for ") << symbol.getName();
    auto type = dyn_cast<TensorType>(function.getArgument(source[0]).getType());
    if (!type || !type.getElementType().isIntOrFloat())
      return function.emitOpError("graph.value_symbols binds ")
             << symbol.getName() << " by an argument that is no tensor of numbers";
  }
  return success();
}

/// `graph.definitions = [["n", #sym.expr<2*m>]]`.
static bool isDefinition(Attribute attribute) {
  auto parts = dyn_cast<ArrayAttr>(attribute);
  return parts && parts.size() == 2 && isa<StringAttr>(parts[0]) && isa<sym::ExprAttr>(parts[1]);
}

LogicalResult GraphDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto dictionary = dyn_cast<DictionaryAttr>(attribute.getValue());
  if (name == "graph.symbols") {
    if (!function || !dictionary ||
        !llvm::all_of(dictionary, [](NamedAttribute entry) { return isa<sym::SymbolBoundsAttr>(entry.getValue()); }))
      return op->emitOpError("graph.symbols gives #sym.bounds for symbols of a function");
    return success();
  }
  if (name == "graph.value_symbols") {
    if (!function || !dictionary)
      return op->emitOpError("graph.value_symbols is a dictionary on a function");
    return verifyValueSymbols(function, dictionary);
  }
  if (name == "graph.definitions") {
    auto definitions = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!function || !definitions || !llvm::all_of(definitions, isDefinition))
      return op->emitOpError("graph.definitions gives [name, #sym.expr] for symbols of a function");
  }
  return success();
}

static LogicalResult verifyNameAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == "graph.random_key") {
    if (!isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError("graph.random_key of an argument has no value");
    return success();
  }
  if (!isa<StringAttr>(attribute.getValue()))
    return op->emitOpError() << attribute.getName() << " of an argument or result is a string";
  return success();
}

LogicalResult GraphDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return verifyNameAttribute(op, attribute);
}

LogicalResult GraphDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return verifyNameAttribute(op, attribute);
}

ArrayAttr getExprArrayAttr(MLIRContext *context, ArrayRef<sym::Expr> exprs) {
  return ArrayAttr::get(context, llvm::map_to_vector(exprs, [](sym::Expr expr) -> Attribute { return expr.attr(); }));
}

SmallVector<sym::Expr> getExprs(ArrayAttr attr) {
  return llvm::map_to_vector(attr, [](Attribute expr) { return cast<sym::ExprAttr>(expr).getExpr(); });
}

void registerGraphDialects(DialectRegistry &registry) {
  registry.insert<GraphDialect, sym::SymDialect, func::FuncDialect>();
}

} // namespace freestone::graph
