#include "compiler/tile/PackedOperand.h"

#include "compiler/plan/Classify.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/RewriteLoops.h"
#include "compiler/tile/StorePanels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using freestone::sym::Expr;

PackedOrder PackedOrder::get(ComputeOp op, unsigned input, const ContractionDims &dims, unsigned free, bool freeFirst) {
  PackedOrder order;
  llvm::SmallBitVector used = getUsedLoops(op, input);
  for (unsigned loop : dims.batch)
    if (used[loop])
      order.loops.push_back(loop);
  order.batch = order.loops.size();
  if (freeFirst)
    order.loops.push_back(free);
  llvm::append_range(order.loops, dims.k);
  if (!freeFirst)
    order.loops.push_back(free);
  order.axis = freeFirst ? order.batch : order.loops.size() - 1;
  return order;
}

std::optional<PackedShape> tile::getPackedShape(ComputeOp op, unsigned input, const PackedOrder &order) {
  MLIRContext *context = op.getContext();
  SmallVector<Expr> extents = op.getExtents(), shape;
  // The operand's loops, numbered as dimensions of the packed tensor.
  SmallVector<Expr> renumbered(op.getNumLoops(), Expr::constant(context, 0));
  for (auto [dim, loop] : llvm::enumerate(order.loops)) {
    shape.push_back(extents[loop]);
    renumbered[loop] = getLoopSymbol(context, dim);
  }
  if (llvm::any_of(shape, [](Expr extent) { return !extent.isConstant(); }))
    return std::nullopt;
  return PackedShape{shape, getIndices(op, input, renumbered)};
}

void tile::readPacked(ComputeOp op, unsigned input, const PackedOrder &order, Value packing) {
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> results;
  for (unsigned loop : order.loops)
    results.push_back(getAffineDimExpr(loop, context));
  SmallVector<Attribute> maps(op.getIndexMaps().getValue());
  maps[input] = AffineMapAttr::get(AffineMap::get(op.getNumLoops(), op.getMapSymbols().size(), results, context));
  op.setIndexMapsAttr(ArrayAttr::get(context, maps));
  op->setOperand(input, packing);
}

Value tile::packBefore(LoopOp loop, Value source, const PackedShape &packed, PanelsAttr layout) {
  SmallVector<Expr> indices = packed.indices;
  auto copy = source.getDefiningOp<ComputeOp>();
  if (copy && isCopy(copy) && !copy.getFill(0) && copy.getMap(0).isPermutation()) {
    indices = getIndices(copy, 0, indices);
    source = copy.getInputs()[0];
  }
  OpBuilder builder(loop);
  FailureOr<ComputeOp> stored = storePanels(builder, source.getLoc(), source, indices, packed.shape, layout);
  if (failed(stored))
    return {};
  auto type = graph::TensorType::get(loop.getContext(), packed.shape, graph::getElementType(source), layout);
  return ViewOp::create(builder, source.getLoc(), type, stored->getResult(0));
}

Value tile::makePacking(ComputeOp user, Value source, ArrayRef<Expr> indices, graph::TensorType type) {
  OpBuilder builder(user);
  Location location = source.getLoc();
  ArrayRef<Expr> shape = type.getShape();
  Attribute layout = type.getLayout();
  Type element = type.getElementType();
  bool isOfWeight = isWeightOnly(source);
  if (isOfWeight)
    builder.setInsertionPointAfterValue(source);
  else
    builder.setInsertionPoint(source.getParentBlock()->findAncestorOpInBlock(*user));
  if (!isOfWeight && layout && !isa<StripsAttr>(layout)) {
    auto transformed = dyn_cast<WinogradAttr>(layout);
    FailureOr<ComputeOp> stored =
        transformed ? storeTransformed(builder, location, source, indices, shape, transformed, element)
                    : storePanels(builder, location, source, indices, shape, cast<PanelsAttr>(layout), element);
    if (failed(stored))
      return {};
    return ViewOp::create(builder, location, type, stored->getResult(0));
  }
  ComputeBuilder copy(builder, location, shape);
  bool widens = graph::getElementType(source) != element;
  if (indices != ArrayRef(copy.parallelLoops()) || graph::getShape(source) != shape || widens) {
    unsigned operand = copy.read(source, indices);
    FailureOr<ComputeOp> ordered = copy.create(element, [&](ComputeBody &body) -> Value {
      return widens ? arith::ExtFOp::create(body.builder, element, body.input(operand)).getResult()
                    : body.input(operand);
    });
    if (failed(ordered))
      return {};
    source = ordered->getResult(0);
  }
  if (auto strips = dyn_cast_or_null<StripsAttr>(layout); strips && !isOfWeight) {
    FailureOr<ComputeOp> stored = storeStrips(builder, location, source, strips);
    return succeeded(stored) ? ViewOp::create(builder, location, type, stored->getResult(0)).getResult() : Value();
  }
  return layout ? PackOp::create(builder, location, type, source).getResult() : source;
}
