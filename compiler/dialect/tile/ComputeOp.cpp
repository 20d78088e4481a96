#include "compiler/dialect/tile/TileDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace freestone::tile {

SmallVector<sym::Expr> ComputeOp::getExtents() { return getExprs(getLoopExtents()); }
SmallVector<sym::Expr> ComputeOp::getSymbolSizes() { return getExprs(getMapSymbols()); }

SmallVector<AffineMap> ComputeOp::getMaps() { return llvm::to_vector(getIndexMaps().getAsValueRange<AffineMapAttr>()); }

/// The types of the body's arguments.
static SmallVector<Type> getBodyTypes(TypeRange inputs, TypeRange results, bool reduces, ArrayRef<Attribute> inits,
                                      TypeRange reads) {
  SmallVector<Type> types;
  for (Type input : inputs)
    types.push_back(getScalarType(cast<graph::TensorType>(input).getElementType()));
  if (reduces)
    for (auto [result, init] : llvm::zip(results, inits))
      types.push_back(cast<TypedAttr>(init).getType());
  llvm::append_range(types, reads);
  return types;
}

void ComputeOp::build(OpBuilder &builder, OperationState &state, TypeRange results, ArrayRef<sym::Expr> extents,
                      int64_t numParallel, ValueRange inputs, ArrayRef<AffineMap> maps, ArrayRef<sym::Expr> symbols,
                      ArrayRef<Attribute> fills, ArrayRef<Attribute> inits, ValueRange reads) {
  MLIRContext *context = builder.getContext();
  SmallVector<Attribute> allFills(fills);
  allFills.resize(inputs.size(), UnitAttr::get(context));
  state.addOperands(inputs);
  state.addOperands(reads);
  state.addTypes(results);
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {static_cast<int32_t>(inputs.size()), static_cast<int32_t>(reads.size())};
  properties.loop_extents = getExprArrayAttr(context, extents);
  properties.num_parallel = builder.getI64IntegerAttr(numParallel);
  properties.index_maps = builder.getAffineMapArrayAttr(maps);
  properties.map_symbols = getExprArrayAttr(context, symbols);
  properties.fill_values = builder.getArrayAttr(allFills);
  properties.init_values = builder.getArrayAttr(inits);

  OpBuilder::InsertionGuard guard(builder);
  bool reduces = static_cast<size_t>(numParallel) < extents.size();
  SmallVector<Type> types = getBodyTypes(inputs.getTypes(), results, reduces, inits, reads.getTypes());
  SmallVector<Location> locations(types.size(), state.location);
  builder.createBlock(state.addRegion(), {}, types, locations);
}

static ParseResult parseOperandsWithMaps(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                                         SmallVectorImpl<Attribute> &maps) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
    AffineMapAttr map;
    if (parser.parseOperand(operands.emplace_back()) || parser.parseColon() || parser.parseAttribute(map))
      return failure();
    maps.push_back(map);
    return success();
  });
}

static ParseResult parseAttributeList(OpAsmParser &parser, SmallVectorImpl<Attribute> &attributes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseAttribute(attributes.emplace_back()); });
}

/// `[parallel, reduction]`: the parallel loops come first.
static ParseResult parseIterators(OpAsmParser &parser, int64_t &numParallel, int64_t &count) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    StringRef kind;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&kind))
      return failure();
    if (kind != "parallel" && kind != "reduction")
      return parser.emitError(location, "a loop is 'parallel' or 'reduction'");
    if (kind == "parallel" && numParallel != count)
      return parser.emitError(location, "parallel loops come before those that reduce");
    numParallel += kind == "parallel";
    ++count;
    return success();
  });
}

ParseResult ComputeOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  SmallVector<sym::Expr> extents, symbols;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, reads;
  SmallVector<Attribute> maps, fills, inits;
  int64_t numParallel = 0, numLoops = 0;
  FunctionType type;
  Region *region = state.addRegion();

  SMLoc location = parser.getCurrentLocation();
  if (sym::parseShape(parser, extents) || parseIterators(parser, numParallel, numLoops))
    return failure();
  if (numLoops != static_cast<int64_t>(extents.size()))
    return parser.emitError(location) << extents.size() << " extents, but " << numLoops << " loops";
  if (succeeded(parser.parseOptionalKeyword("ins")) && parseOperandsWithMaps(parser, inputs, maps))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("symbols")) && sym::parseShape(parser, symbols))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("fill")) && parseAttributeList(parser, fills))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("init")) && parseAttributeList(parser, inits))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("reads")) && parser.parseOperandList(reads, OpAsmParser::Delimiter::Paren))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseRegion(*region) ||
      parser.parseColonType(type))
    return failure();

  fills.resize(std::max(fills.size(), inputs.size()), builder.getUnitAttr());
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {static_cast<int32_t>(inputs.size()), static_cast<int32_t>(reads.size())};
  properties.loop_extents = getExprArrayAttr(parser.getContext(), extents);
  properties.num_parallel = builder.getI64IntegerAttr(numParallel);
  properties.index_maps = builder.getArrayAttr(maps);
  properties.map_symbols = getExprArrayAttr(parser.getContext(), symbols);
  properties.fill_values = builder.getArrayAttr(fills);
  properties.init_values = builder.getArrayAttr(inits);
  state.addTypes(type.getResults());
  inputs.append(reads);
  return parser.resolveOperands(inputs, type.getInputs(), location, state.operands);
}

void ComputeOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  sym::printShape(printer, getExtents());
  printer << " [";
  llvm::interleaveComma(llvm::seq<unsigned>(0, getNumLoops()), printer,
                        [&](unsigned loop) { printer << (isParallel(loop) ? "parallel" : "reduction"); });
  printer << ']';
  if (!getInputs().empty()) {
    printer << " ins(";
    llvm::interleaveComma(llvm::zip_equal(getInputs(), getIndexMaps()), printer,
                          [&](auto pair) { printer << std::get<0>(pair) << " : " << std::get<1>(pair); });
    printer << ')';
  }
  if (!getMapSymbols().empty()) {
    printer << " symbols ";
    sym::printShape(printer, getSymbolSizes());
  }
  if (llvm::any_of(getFillValues(), [](Attribute fill) { return !isa<UnitAttr>(fill); }))
    printer << " fill " << getFillValues();
  if (!getInitValues().empty())
    printer << " init " << getInitValues();
  if (!getReads().empty())
    printer << " reads(" << getReads() << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getDiscardableAttrDictionary().getValue());
  printer << ' ';
  printer.printRegion(getRegion());
  printer << " : ";
  printer.printFunctionalType(*this);
}

LogicalResult ComputeOp::verify() {
  if (getNumParallel() > getNumLoops())
    return emitOpError("has more parallel loops than loops");
  if (getIndexMaps().size() != getInputs().size() || getFillValues().size() != getInputs().size())
    return emitOpError("needs one map and one fill per operand");
  SmallVector<sym::Expr> extents = getExtents();
  sym::Bounds bounds(sym::Interval::size());
  for (auto [index, map] : llvm::enumerate(getMaps())) {
    graph::TensorType type = getInputType(index);
    if (map.getNumDims() != getNumLoops() || map.getNumSymbols() > getMapSymbols().size())
      return emitOpError("map of operand ") << index << " has other dimensions than the " << getNumLoops() << " loops";
    if (map.getNumResults() != type.getShape().size())
      return emitOpError("map of operand ") << index << " gives " << map.getNumResults() << " coordinates for " << type;
    if (TypedAttr fill = getFill(index)) {
      if (fill.getType() != getScalarType(type.getElementType()))
        return emitOpError("fill of operand ") << index << " is no scalar of " << type;
      continue;
    }
    for (auto [coordinate, extent] : llvm::zip_equal(map.getResults(), type.getShape())) {
      auto dim = dyn_cast<AffineDimExpr>(coordinate);
      if (dim && bounds.provablyLT(extent, extents[dim.getPosition()]))
        return emitOpError("reads operand ")
               << index << " outside: loop " << dim.getPosition() << " runs to " << extents[dim.getPosition()].str()
               << " over a dimension of " << extent.str();
    }
  }
  for (graph::TensorType type : llvm::map_range(getResultTypes(), llvm::CastTo<graph::TensorType>))
    if (type.getShape() != ArrayRef(extents).take_front(getNumParallel()))
      return emitOpError("result ") << type << " has other dimensions than the parallel loops";
  if (getInitValues().size() != (getNumReductions() ? getNumResults() : 0))
    return emitOpError("needs an initial value per result where loops reduce, and none elsewhere");
  for (auto [index, result] : llvm::enumerate(getResultTypes()))
    if (getNumReductions() &&
        getInit(index).getType() != getScalarType(cast<graph::TensorType>(result).getElementType()))
      return emitOpError("initial value of result ") << index << " is no scalar of " << result;
  return success();
}

LogicalResult ComputeOp::verifyRegions() {
  SmallVector<Type> expected = getBodyTypes(getInputs().getTypes(), getResultTypes(), getNumReductions(),
                                            getInitValues().getValue(), getReads().getTypes());
  if (getBody()->getArgumentTypes() != TypeRange(expected))
    return emitOpError("needs a body over ") << expected;
  auto yield = dyn_cast<YieldOp>(getBody()->getTerminator());
  if (!yield || yield.getNumOperands() != getNumResults())
    return emitOpError("needs a body that yields a scalar per result");
  for (auto [value, result] : llvm::zip_equal(yield.getValues(), getResultTypes()))
    if (value.getType() != getScalarType(cast<graph::TensorType>(result).getElementType()))
      return yield.emitOpError("yields ") << value.getType() << " for " << result;
  for (IndexOp index : getBody()->getOps<IndexOp>())
    if (index.getLoop() >= getNumLoops())
      return index.emitOpError("names one of ") << getNumLoops() << " loops";
  return success();
}

} // namespace freestone::tile
