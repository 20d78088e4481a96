#include "compiler/dialect/tile/TileDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace freestone::tile {

static SmallVector<Type> getBodyTypes(Builder builder, TypeRange inputs, TypeRange results) {
  SmallVector<Type> types = {builder.getIndexType()};
  for (TypeRange range : {inputs, results})
    for (Type type : range)
      types.push_back(
          MemRefType::get({ShapedType::kDynamic}, getStorageType(cast<graph::TensorType>(type).getElementType())));
  return types;
}

void OpaqueOp::build(OpBuilder &builder, OperationState &state, TypeRange results, sym::Expr tiles, ValueRange inputs) {
  state.addOperands(inputs);
  state.addTypes(results);
  state.getOrAddProperties<Properties>().tile_count = tiles.attr();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types = getBodyTypes(builder, inputs.getTypes(), results);
  SmallVector<Location> locations(types.size(), state.location);
  builder.createBlock(state.addRegion(), {}, types, locations);
}

ParseResult OpaqueOp::parse(OpAsmParser &parser, OperationState &state) {
  sym::Expr tiles;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  FunctionType type;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLSquare() || sym::parseExpr(parser, tiles) || parser.parseRSquare())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("ins")) && parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseRegion(*state.addRegion()) ||
      parser.parseColonType(type))
    return failure();
  state.getOrAddProperties<Properties>().tile_count = tiles.attr();
  state.addTypes(type.getResults());
  return parser.resolveOperands(inputs, type.getInputs(), location, state.operands);
}

void OpaqueOp::print(OpAsmPrinter &printer) {
  printer << " [" << getTiles() << ']';
  if (!getInputs().empty())
    printer << " ins(" << getInputs() << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getDiscardableAttrDictionary().getValue());
  printer << ' ';
  printer.printRegion(getRegion());
  printer << " : ";
  printer.printFunctionalType(*this);
}

bool settlesSizes(Operation *op) { return op->hasAttr("binds") || op->hasAttr(assertsAttr); }

void OpaqueOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (settlesSizes(*this))
    effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult OpaqueOp::verifyRegions() {
  SmallVector<Type> expected = getBodyTypes(Builder(getContext()), getInputs().getTypes(), getResultTypes());
  if (getBody()->getArgumentTypes() != TypeRange(expected))
    return emitOpError("needs a body over ") << expected;
  auto yield = dyn_cast<YieldOp>(getBody()->getTerminator());
  if (!yield || yield.getNumOperands())
    return emitOpError("needs a body that ends with an empty yield");
  return success();
}

} // namespace freestone::tile
