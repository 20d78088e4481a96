#include "compiler/task/ValueMemory.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"

using namespace mlir;
using namespace freestone;
using sym::Expr;

bool task::isComputed(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<tile::ComputeOp, tile::OpaqueOp, tile::GroupOp, tile::PackOp, tile::LibraryOp, tile::CallOp>(op);
}

Value task::copyValue(OpBuilder &builder, Value value) {
  Location location = value.getLoc();
  auto type = cast<graph::TensorType>(value.getType());
  // One loop over all elements, unless the expression of their number is too large.
  graph::TensorType flat = type;
  if (Expr elements = type.getNumElements(); type.getShape().size() > 1 && !type.getLayout() && !elements.isInvalid())
    flat = type.withShape({elements});
  if (flat != type)
    value = graph::ReshapeOp::create(builder, location, flat, value);
  SmallVector<Expr> extents(flat.getShape());
  AffineMap identity = builder.getMultiDimIdentityMap(extents.size());
  auto compute = tile::ComputeOp::create(builder, location, TypeRange(flat), extents, extents.size(), ValueRange(value),
                                         ArrayRef(identity), ArrayRef<Expr>(), ArrayRef<Attribute>(),
                                         ArrayRef<Attribute>(), ValueRange());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(compute.getBody());
    tile::YieldOp::create(builder, location, ValueRange(compute.getBody()->getArguments()));
  }
  Value copy = compute.getResult(0);
  return flat == type ? copy : graph::ReshapeOp::create(builder, location, type, copy).getResult();
}
