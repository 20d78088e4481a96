#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/task/Passes.h"

#include "mlir/IR/Builders.h"

namespace freestone::task {
#define GEN_PASS_DEF_COPYRESULTS
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;

namespace {

/// The value whose memory this one is: reshapes are free.
Value memoryOf(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape->getOperand(0);
  return value;
}

bool isComputed(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<tile::ComputeOp, tile::OpaqueOp, tile::GroupOp, tile::PackOp, tile::LibraryOp, tile::CallOp>(op);
}

Value copy(OpBuilder &builder, Location location, Value value) {
  auto type = cast<graph::TensorType>(value.getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getShape().size());
  SmallVector<sym::Expr> extents(type.getShape());
  auto compute = tile::ComputeOp::create(builder, location, TypeRange(type), extents, extents.size(), ValueRange(value), ArrayRef(identity),
                                         ArrayRef<sym::Expr>(), ArrayRef<Attribute>(), ArrayRef<Attribute>(), ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(compute.getBody());
  tile::YieldOp::create(builder, location, ValueRange(compute.getBody()->getArguments()));
  return compute.getResult(0);
}

class CopyResults : public task::impl::CopyResultsBase<CopyResults> {
public:
  void runOnOperation() override {
    Operation *terminator = getOperation().getBody().front().getTerminator();
    OpBuilder builder(terminator);
    DenseSet<Value> taken;
    for (OpOperand &result : terminator->getOpOperands()) {
      Value memory = memoryOf(result.get());
      if (isComputed(memory) && taken.insert(memory).second)
        continue;
      result.set(copy(builder, result.get().getLoc(), result.get()));
      ++copies;
    }
  }
};

} // namespace
