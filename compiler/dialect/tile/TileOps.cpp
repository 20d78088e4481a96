#include "compiler/dialect/tile/TileDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace freestone::tile {
ParseResult parseTrips(OpAsmParser &parser, sym::ExprAttr &trips);
void printTrips(OpAsmPrinter &printer, Operation *op, sym::ExprAttr trips);
} // namespace freestone::tile

#define GET_OP_CLASSES
#include "compiler/dialect/tile/TileOps.cpp.inc"

namespace freestone::tile {

ParseResult SizeOp::parse(OpAsmParser &parser, OperationState &state) {
  sym::Expr size;
  Type type;
  if (sym::parseExpr(parser, size) || parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
    return failure();
  state.getOrAddProperties<Properties>().size = size.attr();
  state.addTypes(type);
  return success();
}

void SizeOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getSize().getExpr();
  printer.printOptionalAttrDict((*this)->getDiscardableAttrDictionary().getValue());
  printer << " : " << getType();
}

void ReadOp::build(OpBuilder &builder, OperationState &state, Value tensor, ValueRange indices) {
  build(builder, state, getScalarType(cast<graph::TensorType>(tensor.getType()).getElementType()), tensor, indices);
}

unsigned ReadOp::getReadNumber() {
  auto compute = cast<ComputeOp>((*this)->getParentOp());
  return cast<BlockArgument>(getTensor()).getArgNumber() - compute.getReadArgs().front().getArgNumber();
}

LogicalResult ReadOp::verify() {
  auto type = cast<graph::TensorType>(getTensor().getType());
  if (getIndices().size() != type.getShape().size())
    return emitOpError("needs an index per dimension of ") << type;
  if (getElement().getType() != getScalarType(type.getElementType()))
    return emitOpError("gives a scalar of ") << type;
  if (!isa<BlockArgument>(getTensor()))
    return emitOpError("reads an argument of a body");
  return success();
}

LogicalResult RandomBitsOp::verify() {
  if (getKey().size() != 4)
    return emitOpError("needs a key of 4 words, not of ") << getKey().size();
  return success();
}

LogicalResult LookupOp::verify() {
  if (getTable().size() != numbers)
    return emitOpError("needs a table of ") << numbers << " numbers, not of " << getTable().size();
  return success();
}

LogicalResult GroupOp::verifyRegions() {
  for (Operation &op : getBody()->without_terminator())
    if (!isa<ComputeOp, OpaqueOp, graph::ReshapeOp>(op))
      return op.emitOpError("can't stand in a group");
  auto yield = dyn_cast<YieldOp>(getBody()->getTerminator());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError("needs a body that yields its results");
  return success();
}

LogicalResult PackOp::verify() {
  auto from = cast<graph::TensorType>(getTensor().getType()), to = cast<graph::TensorType>(getPacked().getType());
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError("changes nothing but the layout, not ") << from << " to " << to;
  if (from.getLayout() || !to.getLayout())
    return emitOpError("goes from row-major to a layout");
  return success();
}

LogicalResult ViewOp::verify() {
  auto from = cast<graph::TensorType>(getTensor().getType()), to = cast<graph::TensorType>(getResult().getType());
  graph::TensorType laidOut = from.getLayout() ? from : to, stored = from.getLayout() ? to : from;
  bool isPacked = isa_and_nonnull<graph::PackedAttr>(laidOut.getLayout());
  bool hasStorage = isa_and_nonnull<PanelsAttr, WinogradAttr, PartsAttr, StripsAttr>(laidOut.getLayout());
  if ((!isPacked && !hasStorage) || stored.getLayout())
    return emitOpError("goes from a layout to its storage or back, not from ") << from << " to " << to;
  if (isPacked) {
    bool areBytes = stored.getElementType().isUnsignedInteger(8);
    if (!areBytes || stored.getNumElements() != graph::PackedAttr::getStorageSize(laidOut))
      return emitOpError("needs the bytes of ") << laidOut << ", not " << stored;
    return success();
  }
  if (stored.getShape() != ArrayRef(getStorageShape(laidOut)) || from.getElementType() != to.getElementType())
    return emitOpError("needs the elements of ") << laidOut << " as they are stored, not " << stored;
  return success();
}

LogicalResult LibraryOp::verify() {
  if (getName().empty() || getVersion() < 1)
    return emitOpError("needs a name, and a version of at least 1");
  for (Type type : llvm::concat<const Type>(getInputs().getTypes(), getResultTypes()))
    if (cast<graph::TensorType>(type).getLayout())
      return emitOpError("takes and gives row-major tensors, not ") << type;
  return success();
}

} // namespace freestone::tile
