#include "compiler/task/ValueMemory.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace freestone;
using sym::Expr;

std::optional<task::KeptOperand> task::getKept(tile::BranchOp branch) {
  auto kept = branch->getAttrOfType<DenseI64ArrayAttr>(keepsAttr);
  if (!kept)
    return std::nullopt;
  return KeptOperand{static_cast<unsigned>(kept[0]), static_cast<unsigned>(kept[1]), kept[2] != 0};
}

void task::setKept(tile::BranchOp branch, KeptOperand kept) {
  branch->setAttr(keepsAttr,
                  Builder(branch.getContext()).getDenseI64ArrayAttr({kept.result, kept.captured, kept.isThen}));
}

bool task::isComputed(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<tile::ComputeOp, tile::OpaqueOp, tile::GroupOp, tile::PackOp, tile::LibraryOp, tile::CallOp>(op);
}

SmallVector<Operation *> task::getReaders(Value value, Block &block) {
  llvm::SetVector<Operation *> readers;
  SmallVector<Value> stack = {value};
  while (!stack.empty()) {
    for (Operation *user : stack.pop_back_val().getUsers()) {
      if (tile::isAlias(user))
        stack.push_back(user->getResult(0));
      else
        readers.insert(block.findAncestorOpInBlock(*user));
    }
  }
  return readers.takeVector();
}

Operation *task::getLastReader(Value value, Operation *least) {
  Operation *last = least;
  for (Operation *reader : getReaders(value, *least->getBlock()))
    if (last->isBeforeInBlock(reader))
      last = reader;
  return last;
}

bool task::isReadUntil(Operation *last, Operation *op) {
  return llvm::any_of(op->getResults(), [&](Value result) {
    return llvm::any_of(getReaders(result, *op->getBlock()),
                        [&](Operation *reader) { return reader == last || reader->isBeforeInBlock(last); });
  });
}

void task::moveBehind(Operation *op, Operation *last) {
  SmallVector<Operation *> moved = {op};
  for (size_t i = 0; i < moved.size(); ++i)
    for (Operation *user : moved[i]->getUsers())
      if (tile::isAlias(user) && !llvm::is_contained(moved, user))
        moved.push_back(user);
  for (Operation *next : moved) {
    next->moveAfter(last);
    last = next;
  }
}

Value task::copyValue(OpBuilder &builder, Value value) {
  Location location = value.getLoc();
  auto type = cast<graph::TensorType>(value.getType());
  if (isa_and_nonnull<graph::PackedAttr>(type.getLayout())) {
    auto bytes = graph::TensorType::get({graph::PackedAttr::getStorageSize(type)}, builder.getIntegerType(8, false));
    Value copy = copyValue(builder, tile::ViewOp::create(builder, location, bytes, value));
    return tile::ViewOp::create(builder, location, type, copy);
  }
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
