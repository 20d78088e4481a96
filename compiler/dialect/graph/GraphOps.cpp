#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace freestone::graph {

// Directives of the assembly formats.

/// A list of expressions: `[0, n - 1]`.
static ParseResult parseExprs(OpAsmParser &parser, ExprsAttr &attr) {
  SmallVector<sym::Expr> exprs;
  if (sym::parseShape(parser, exprs))
    return failure();
  attr = ExprsAttr::get(parser.getContext(), exprs);
  return success();
}

static void printExprs(OpAsmPrinter &printer, Operation *, ExprsAttr attr) {
  sym::printShape(printer, attr.getValue());
}

/// Two types, as one where they are equal.
static ParseResult parseSameTypes(OpAsmParser &parser, Type &lhs, Type &rhs) {
  auto parse = [&](Type &type) {
    TensorType tensor;
    ParseResult result = parser.parseCustomTypeWithFallback(tensor);
    type = tensor;
    return result;
  };
  if (parse(lhs))
    return failure();
  rhs = lhs;
  return succeeded(parser.parseOptionalComma()) ? parse(rhs) : success();
}

static void printSameTypes(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs) {
  printer.printStrippedAttrOrType(cast<TensorType>(lhs));
  if (lhs == rhs)
    return;
  printer << ", ";
  printer.printStrippedAttrOrType(cast<TensorType>(rhs));
}

} // namespace freestone::graph

#define GET_OP_CLASSES
#include "compiler/dialect/graph/GraphOps.cpp.inc"

void freestone::graph::GraphDialect::registerOperations() {
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/graph/GraphOps.cpp.inc"
      >();
}

bool freestone::graph::takesStorageOnly(Operation *op) {
  if (auto scatter = dyn_cast<ScatterElementsOp>(op))
    return scatter.getKind() == ScatterKind::none;
  if (auto scatter = dyn_cast<ScatterNdOp>(op))
    return scatter.getKind() == ScatterKind::none;
  return op->getNumRegions() != 0 ||
         isa<ConstantOp, WeightOp, CastOp, BitcastOp, SelectOp, BroadcastOp, ReshapeOp, PackOp, UnpackOp, TransposeOp,
             SliceOp, PadOp, ConcatOp, MatchShapeOp, GatherOp, GatherElementsOp, GatherNdOp, CompressOp, BarrierOp,
             CallOp, YieldOp>(op);
}
