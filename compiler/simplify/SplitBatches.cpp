#include "compiler/dialect/graph/ShapeRules.h"
#include "compiler/simplify/Counters.h"
#include "compiler/simplify/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace freestone::graph {

#define GEN_PASS_DEF_SPLITBATCHES
#include "compiler/simplify/Passes.h.inc"

namespace {

/// The sizes into which each dimension of a tensor is split; one where it stays.
using Split = SmallVector<SmallVector<sym::Expr>>;

/// How a reshape splits the dimensions of a shape; nothing for another reshape.
std::optional<Split> getSplit(ArrayRef<sym::Expr> merged, ArrayRef<sym::Expr> split) {
  Split parts;
  for (const ReshapeGroup &group : getReshapeGroups(merged, split)) {
    if (group.fromEnd - group.fromBegin != 1 || group.toBegin == group.toEnd)
      return std::nullopt;
    parts.emplace_back(split.slice(group.toBegin, group.toEnd - group.toBegin));
  }
  return parts;
}

bool isElementwise(Operation *op) { return isa<UnaryOp, BinaryOp, CompareOp, SelectOp, CastOp>(op); }

/// Whether a value, or what is computed of its elements, is reduced in its shape.
bool isReduced(Value value) {
  SmallVector<Value> pending = {value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (isa<ReduceOp>(user))
        return true;
      if (isElementwise(user) && seen.insert(user).second)
        pending.push_back(user->getResult(0));
    }
  return false;
}

/// The reshape of what is computed of elements that a value is, or is computed of, element by element.
ReshapeOp findMerge(Value value) {
  SmallVector<Value> pending = {value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    auto reshape = dyn_cast<ReshapeOp>(op);
    Operation *source = reshape ? reshape.getOperand().getDefiningOp() : nullptr;
    if (source && isElementwise(source))
      return reshape;
    if (isElementwise(op))
      llvm::append_range(pending, op->getOperands());
  }
  return {};
}

/// Whether a value is computed of what a reshape has given this shape's elements, element by element and for no other.
bool comesFrom(Value value, ArrayRef<sym::Expr> shape) {
  Operation *op = value.getDefiningOp();
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op))
    return getShape(reshape.getOperand()) == shape;
  return op && isElementwise(op) && op->hasOneUse() &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return comesFrom(operand, shape); });
}

/// Erases those that have no users, and then what they read.
void eraseUnused(ArrayRef<Operation *> ops) {
  llvm::SetVector<Operation *> pending(ops.begin(), ops.end());
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (!op || !op->use_empty() || !(isElementwise(op) || isa<ReshapeOp>(op)))
      continue;
    for (Value operand : op->getOperands())
      pending.insert(operand.getDefiningOp());
    op->erase();
  }
}

/// Splits batch dimensions of contractions, and of what is computed of their elements.
class Splitter {
public:
  bool split(ContractOp op);
  /// Computes what comes from this shape in it; other operands are read as linearly there, where it splits dimensions.
  bool hoist(ReshapeOp reshape);

private:
  static std::optional<Split> findInResult(ContractOp op);
  static std::optional<Split> findInOperand(ContractOp op, unsigned operand);
  void build(ContractOp op, const Split &batch);
  Value inShape(OpBuilder &builder, Value value, ArrayRef<sym::Expr> shape);

  static ArrayRef<int64_t> getBatch(ContractOp op, unsigned operand) {
    return operand ? op.getRhsBatch() : op.getLhsBatch();
  }
};

} // namespace

/// Of scores that are reduced as a reshape has split them, or what is computed of their elements.
std::optional<Split> Splitter::findInResult(ContractOp op) {
  Operation *last = op;
  while (last->hasOneUse() && isElementwise(*last->user_begin()))
    last = *last->user_begin();
  auto reshape = last->hasOneUse() ? dyn_cast<ReshapeOp>(*last->user_begin()) : ReshapeOp();
  if (!reshape || !isReduced(reshape))
    return std::nullopt;
  std::optional<Split> parts = getSplit(getShape(op.getResult()), getShape(reshape.getResult()));
  size_t batches = op.getLhsBatch().size();
  auto stays = [](ArrayRef<sym::Expr> sizes) { return sizes.size() == 1; };
  if (!parts || !llvm::all_of(ArrayRef(*parts).drop_front(batches), stays) ||
      llvm::all_of(ArrayRef(*parts).take_front(batches), stays))
    return std::nullopt;
  parts->resize(batches);
  return parts;
}

/// Of weights that a reshape merges, or of what is computed of their elements.
std::optional<Split> Splitter::findInOperand(ContractOp op, unsigned operand) {
  ReshapeOp reshape = findMerge(op->getOperand(operand));
  if (!reshape)
    return std::nullopt;
  std::optional<Split> parts = getSplit(getShape(reshape.getResult()), getShape(reshape.getOperand()));
  if (!parts)
    return std::nullopt;
  ArrayRef<int64_t> dims = getBatch(op, operand);
  for (auto [dim, sizes] : llvm::enumerate(*parts))
    if (sizes.size() > 1 && !llvm::is_contained(dims, dim))
      return std::nullopt;
  Split batch = llvm::map_to_vector(dims, [&](int64_t dim) { return (*parts)[dim]; });
  bool isSplit = llvm::any_of(batch, [](ArrayRef<sym::Expr> sizes) { return sizes.size() > 1; });
  return isSplit ? std::optional(batch) : std::nullopt;
}

bool Splitter::split(ContractOp op) {
  std::optional<Split> batch = findInResult(op);
  for (unsigned operand = 0; !batch && operand < 2; ++operand)
    batch = findInOperand(op, operand);
  if (batch)
    build(op, *batch);
  return batch.has_value();
}

Value Splitter::inShape(OpBuilder &builder, Value value, ArrayRef<sym::Expr> shape) {
  Operation *op = value.getDefiningOp();
  if (auto before = dyn_cast_or_null<ReshapeOp>(op); before && getShape(before.getOperand()) == shape)
    return before.getOperand();
  if (op && isElementwise(op) && comesFrom(value, shape)) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, inShape(builder, operand, shape));
    Operation *copy = builder.clone(*op, mapping);
    copy->getResult(0).setType(TensorType::get(shape, getElementType(value)));
    return copy->getResult(0);
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  for (Operation *user : value.getUsers())
    if (auto known = dyn_cast<ReshapeOp>(user);
        known && known->getBlock() == value.getParentBlock() && getShape(known.getResult()) == shape) {
      known->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
      return known;
    }
  return ReshapeOp::create(builder, value.getLoc(), value, shape);
}

void Splitter::build(ContractOp op, const Split &batch) {
  OpBuilder builder(op);
  std::array<Value, 2> operands;
  std::array<SmallVector<int64_t>, 2> batches, contracted;
  for (unsigned operand = 0; operand < 2; ++operand) {
    ArrayRef<int64_t> ofBatch = getBatch(op, operand);
    SmallVector<sym::Expr> shape;
    SmallVector<int64_t> begins;
    for (auto [dim, size] : llvm::enumerate(getShape(op->getOperand(operand)))) {
      begins.push_back(shape.size());
      auto number = llvm::find(ofBatch, dim);
      if (number == ofBatch.end())
        shape.push_back(size);
      else
        llvm::append_range(shape, batch[number - ofBatch.begin()]);
    }
    operands[operand] = inShape(builder, op->getOperand(operand), shape);
    for (auto [number, dim] : llvm::enumerate(ofBatch))
      llvm::append_range(batches[operand], llvm::seq<int64_t>(begins[dim], begins[dim] + batch[number].size()));
    for (int64_t dim : operand ? op.getRhsContract() : op.getLhsContract())
      contracted[operand].push_back(begins[dim]);
  }
  auto result = ContractOp::create(builder, op.getLoc(), operands[0], operands[1], batches[0], batches[1],
                                   contracted[0], contracted[1], op.getElementTypeAttr());
  auto merged = ReshapeOp::create(builder, op.getLoc(), result, getShape(op.getResult()));
  op.replaceAllUsesWith(merged.getResult());
  std::array<Operation *, 2> before = {op.getLhs().getDefiningOp(), op.getRhs().getDefiningOp()};
  op.erase();
  eraseUnused(before);
}

bool Splitter::hoist(ReshapeOp reshape) {
  Value value = reshape.getOperand();
  ArrayRef<sym::Expr> shape = getShape(reshape.getResult());
  if (!comesFrom(value, shape) || !getSplit(getShape(value), shape))
    return false;
  OpBuilder builder(reshape);
  reshape.replaceAllUsesWith(inShape(builder, value, shape));
  eraseUnused({reshape});
  return true;
}

namespace {

struct SplitBatches : impl::SplitBatchesBase<SplitBatches> {
  using SplitBatchesBase::SplitBatchesBase;

  void runOnOperation() override {
    if (!enable)
      return;
    Splitter splitter;
    SmallVector<ContractOp> contractions;
    getOperation()->walk([&](ContractOp op) { contractions.push_back(op); });
    int64_t split = 0;
    for (ContractOp op : contractions)
      split += splitter.split(op);
    if (!split)
      return markAllAnalysesPreserved();
    // What is hoisted may leave other reshapes without users.
    auto hoistOne = [&](ReshapeOp op) { return splitter.hoist(op) ? WalkResult::interrupt() : WalkResult::advance(); };
    while (getOperation()->walk(hoistOne).wasInterrupted())
      ;
    count(getOperation(), "split_batches", split);
  }
};

} // namespace

} // namespace freestone::graph
