#include "compiler/dialect/sym/Substitute.h"
#include "compiler/dialect/tile/TileDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace freestone::tile {

void ProgramOp::build(OpBuilder &builder, OperationState &state, StringRef name, ArrayRef<StringAttr> symbols,
                      FunctionType type) {
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.symbol_names = builder.getArrayAttr(SmallVector<Attribute>(symbols.begin(), symbols.end()));
  properties.function_type = TypeAttr::get(type);
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locations(type.getNumInputs(), state.location);
  builder.createBlock(state.addRegion(), {}, type.getInputs(), locations);
}

SmallVector<StringAttr> ProgramOp::getSymbols() { return llvm::to_vector(getSymbolNames().getAsRange<StringAttr>()); }
SmallVector<ComputeOp> ProgramOp::getComputes() { return llvm::to_vector(getBody()->getOps<ComputeOp>()); }

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<Attribute> symbols;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> results;
  if (parser.parseSymbolName(name) || parser.parseKeyword("symbols") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&]() -> ParseResult {
                                       std::string symbol;
                                       if (parser.parseKeywordOrString(&symbol))
                                         return failure();
                                       symbols.push_back(builder.getStringAttr(symbol));
                                       return success();
                                     }) ||
      parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren, /*allowType=*/true))
    return failure();
  if (succeeded(parser.parseOptionalArrow()) && parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
        return parser.parseType(results.emplace_back());
      }))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseRegion(*state.addRegion(), arguments))
    return failure();

  SmallVector<Type> types;
  for (OpAsmParser::Argument &argument : arguments)
    types.push_back(argument.type);
  state.addAttribute(getSymNameAttrName(state.name), name);
  state.addAttribute(getSymbolNamesAttrName(state.name), builder.getArrayAttr(symbols));
  state.addAttribute(getFunctionTypeAttrName(state.name),
                     TypeAttr::get(FunctionType::get(parser.getContext(), types, results)));
  return success();
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << " symbols [";
  llvm::interleaveComma(getSymbols(), printer, [&](StringAttr symbol) { printer.printKeywordOrString(symbol); });
  printer << "](";
  llvm::interleaveComma(getBody()->getArguments(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") -> (" << getResultTypes() << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getSymNameAttrName(), getSymbolNamesAttrName(), getFunctionTypeAttrName()});
  printer << ' ';
  printer.printRegion(getRegion(), /*printEntryBlockArgs=*/false);
}

LogicalResult ProgramOp::verifyRegions() {
  if (getBody()->getArgumentTypes() != TypeRange(getArgumentTypes()))
    return emitOpError("needs a body over its arguments");
  auto terminator = dyn_cast<ReturnOp>(getBody()->getTerminator());
  if (!terminator || terminator.getOperandTypes() != TypeRange(getResultTypes()))
    return emitOpError("needs a body that returns its results");
  for (Operation &op : getBody()->without_terminator())
    if (!isa<ComputeOp, OpaqueOp, graph::ReshapeOp>(op))
      return op.emitOpError("can't stand in a program");
  if (PlanAttr plan = getPlanAttr())
    if (plan.getReads().size() != getArgumentTypes().size() || plan.getWrites().size() != getResultTypes().size())
      return emitOpError("has a plan for ")
             << plan.getReads().size() << " arguments and " << plan.getWrites().size() << " results";
  return success();
}

SmallVector<sym::Expr> CallOp::getSizes() { return getExprs(getSymbolSizes()); }

ParseResult CallOp::parse(OpAsmParser &parser, OperationState &state) {
  FlatSymbolRefAttr callee;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<Attribute> names;
  SmallVector<sym::Expr> sizes;
  FunctionType type;
  SMLoc location = parser.getCurrentLocation();
  auto parseSize = [&]() -> ParseResult {
    std::string name;
    return failure(parser.parseKeywordOrString(&name) || parser.parseEqual() ||
                   sym::parseExpr(parser, sizes.emplace_back()));
  };
  if (parser.parseAttribute(callee) || parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSize) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
    return failure();
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.callee = callee;
  properties.symbol_sizes = getExprArrayAttr(parser.getContext(), sizes);
  state.addTypes(type.getResults());
  return parser.resolveOperands(inputs, type.getInputs(), location, state.operands);
}

/// The sizes are printed with the program's names for readability; only their order matters.
void CallOp::print(OpAsmPrinter &printer) {
  auto program = SymbolTable::lookupNearestSymbolFrom<ProgramOp>(*this, getCalleeAttr());
  SmallVector<StringAttr> names = program ? program.getSymbols() : SmallVector<StringAttr>();
  printer << ' ';
  printer.printSymbolName(getCallee());
  printer << '(' << getInputs() << ") [";
  llvm::interleaveComma(llvm::enumerate(getSizes()), printer, [&](auto entry) {
    std::string name = "s" + std::to_string(entry.index());
    printer.printKeywordOrString(entry.index() < names.size() ? names[entry.index()].getValue() : StringRef(name));
    printer << " = " << entry.value();
  });
  printer << ']';
  printer.printOptionalAttrDict((*this)->getDiscardableAttrDictionary().getValue());
  printer << " : ";
  printer.printFunctionalType(*this);
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto program = symbolTable.lookupNearestSymbolFrom<ProgramOp>(*this, getCalleeAttr());
  if (!program)
    return emitOpError("calls '") << getCallee() << "', which is no tile.program";
  SmallVector<StringAttr> names = program.getSymbols();
  SmallVector<sym::Expr> sizes = getSizes();
  if (names.size() != sizes.size())
    return emitOpError("gives ") << sizes.size() << " sizes to a program of " << names.size() << " symbols";
  auto valueOf = [&](StringRef symbol) -> std::optional<sym::Expr> {
    for (auto [name, size] : llvm::zip_equal(names, sizes))
      if (name.getValue() == symbol)
        return size;
    return std::nullopt;
  };
  auto agree = [&](TypeRange actual, ArrayRef<Type> expected, StringRef what) -> LogicalResult {
    if (actual.size() != expected.size())
      return emitOpError("has ") << actual.size() << ' ' << what << "s, its program " << expected.size();
    for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(actual, expected))) {
      Type substituted = sym::substituteSymbols(std::get<1>(pair), valueOf);
      if (std::get<0>(pair) != substituted)
        return emitOpError() << what << ' ' << index << " is " << std::get<0>(pair) << ", its program's "
                             << substituted;
    }
    return success();
  };
  if (failed(agree(getInputs().getTypes(), program.getArgumentTypes(), "operand")))
    return failure();
  return agree(getResultTypes(), program.getResultTypes(), "result");
}

} // namespace freestone::tile
