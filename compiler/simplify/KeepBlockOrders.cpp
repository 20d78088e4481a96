// Blocks that are put into another order, such as the gates in the weights of a recurrent layer, stay where they are if
// all that is made of them is taken apart into such blocks again.
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/simplify/Counters.h"
#include "compiler/simplify/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace freestone::graph {

#define GEN_PASS_DEF_KEEPBLOCKORDERS
#include "compiler/simplify/Passes.h.inc"

namespace {

/// A block of elements along an axis: where it begins in the order that is kept.
struct Block {
  int64_t start, size;
  bool operator==(const Block &other) const { return start == other.start && size == other.size; }
};

/// The blocks of a value along an axis, in its order.
struct Order {
  int64_t axis;
  SmallVector<Block> blocks;
  bool operator==(const Order &other) const { return axis == other.axis && blocks == other.blocks; }
};

class BlockOrders {
public:
  /// Finds what to do about an operation, whose operands come first.
  void visit(Operation *op);
  /// Returns how many orders are kept.
  int64_t rewrite();

private:
  std::optional<Block> getSlicedBlock(SliceOp slice, int64_t axis);
  bool findRoot(ConcatOp concat);
  std::optional<Order> follow(Operation *op);
  std::optional<Order> followReshape(ReshapeOp reshape, Order order);
  std::optional<Order> followContract(ContractOp contract);
  std::optional<Order> followElements(Operation *op);
  std::optional<Order> followSlice(SliceOp slice, const Order &order);
  std::optional<Order> followConcat(ConcatOp concat);
  bool followScan(ScanOp scan);
  void set(Value value, Order order, OperandRange operands);
  bool isOrdered(Value value) { return orders.contains(value); }
  bool isUniform(Value value, int64_t axis);
  void *getKey(Value value) { return value.getAsOpaquePointer(); }
  bool isKept(Value value) { return !values.isEquivalent(getKey(value), nullptr); }

  /// The orders of values beside those that they would have if no block moved.
  DenseMap<Value, Order> orders;
  /// Which values keep their order together. Null is among those that can't.
  llvm::EquivalenceClasses<void *> values;
  SmallVector<ConcatOp> roots;
  /// What takes a block, and where it begins in the order that is kept.
  SmallVector<std::pair<SliceOp, int64_t>> ends;
};

/// The elements that are taken along an axis, in steps of 1.
std::optional<Block> BlockOrders::getSlicedBlock(SliceOp slice, int64_t axis) {
  std::optional<int64_t> start = slice.getStarts()[axis].asConstant(), size = slice.getSizes()[axis].asConstant();
  if (!start || !size || *size == 0 || slice.getSteps()[axis] != 1)
    return std::nullopt;
  return Block{*start, *size};
}

/// Whether blocks hold all elements from `start` on, `size` of them.
static bool covers(SmallVector<Block> blocks, int64_t start, int64_t size) {
  llvm::sort(blocks, [](const Block &one, const Block &other) { return one.start < other.start; });
  int64_t end = start;
  for (const Block &block : blocks) {
    if (block.start != end)
      return false;
    end += block.size;
  }
  return end == start + size;
}

/// All blocks of one value, in another order.
bool BlockOrders::findRoot(ConcatOp concat) {
  Order order{static_cast<int64_t>(concat.getAxis()), {}};
  Value source;
  for (Value operand : concat.getOperands()) {
    auto slice = operand.getDefiningOp<SliceOp>();
    if (!slice || (source && slice.getOperand() != source))
      return false;
    source = slice.getOperand();
    std::optional<Block> block = getSlicedBlock(slice, order.axis);
    if (!block)
      return false;
    order.blocks.push_back(*block);
    for (int64_t dim = 0; dim < concat.getType().getRank(); ++dim)
      if (dim != order.axis && (!slice.getStarts()[dim].isConstant(0) || slice.getSteps()[dim] != 1))
        return false;
  }
  std::optional<int64_t> extent = concat.getType().getDim(order.axis).asConstant();
  if (isOrdered(source) || source.getType() != concat.getType() || !extent || !covers(order.blocks, 0, *extent))
    return false;
  roots.push_back(concat);
  set(concat, order, {concat->operand_begin(), concat->operand_begin()});
  return true;
}

/// The values whose order a value follows keep it together.
void BlockOrders::set(Value value, Order order, OperandRange operands) {
  orders.insert({value, std::move(order)});
  values.insert(getKey(value));
  for (Value operand : operands)
    if (isOrdered(operand))
      values.unionSets(getKey(value), getKey(operand));
}

void BlockOrders::visit(Operation *op) {
  if (auto concat = dyn_cast<ConcatOp>(op); concat && findRoot(concat))
    return;
  if (llvm::none_of(op->getOperands(), [&](Value operand) { return isOrdered(operand); }))
    return;
  if (auto scan = dyn_cast<ScanOp>(op); scan && followScan(scan))
    return;
  if (auto slice = dyn_cast<SliceOp>(op)) {
    const Order &order = orders.find(slice.getOperand())->second;
    if (std::optional<Block> taken = getSlicedBlock(slice, order.axis)) {
      int64_t before = 0;
      for (const Block &block : order.blocks) {
        int64_t first = taken->start - before;
        if (first >= 0 && first + taken->size <= block.size) {
          ends.push_back({slice, block.start + first});
          return;
        }
        before += block.size;
      }
    }
  }
  if (std::optional<Order> order = follow(op))
    return set(op->getResult(0), *order, op->getOperands());
  for (Value operand : op->getOperands())
    if (isOrdered(operand))
      values.unionSets(getKey(operand), nullptr);
}

/// The order of the result, if an operator of operands in their own order gives it in its own.
std::optional<Order> BlockOrders::follow(Operation *op) {
  if (auto contract = dyn_cast<ContractOp>(op))
    return followContract(contract);
  if (auto concat = dyn_cast<ConcatOp>(op))
    return followConcat(concat);
  if (isa<UnaryOp, BinaryOp, CompareOp, SelectOp, CastOp>(op))
    return followElements(op);
  if (op->getNumOperands() != 1)
    return std::nullopt;
  Order order = orders.find(op->getOperand(0))->second;
  if (auto slice = dyn_cast<SliceOp>(op))
    return followSlice(slice, order);
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return followReshape(reshape, order);
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    order.axis = llvm::find(permutation, order.axis) - permutation.begin();
    return order;
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    order.axis = broadcast.getDims()[order.axis];
    return order;
  }
  return std::nullopt;
}

/// A reshape that only adds or drops sizes of 1.
std::optional<Order> BlockOrders::followReshape(ReshapeOp reshape, Order order) {
  auto getLong = [](Value value) {
    SmallVector<int64_t> dims;
    for (auto [dim, size] : llvm::enumerate(getShape(value)))
      if (!size.isConstant(1))
        dims.push_back(dim);
    return dims;
  };
  SmallVector<int64_t> before = getLong(reshape.getOperand()), after = getLong(reshape);
  auto *found = llvm::find(before, order.axis);
  if (before.size() != after.size() || found == before.end())
    return std::nullopt;
  for (auto [from, to] : llvm::zip_equal(before, after))
    if (getShape(reshape.getOperand())[from] != getShape(reshape)[to])
      return std::nullopt;
  order.axis = after[found - before.begin()];
  return order;
}

/// A free dimension of one factor.
std::optional<Order> BlockOrders::followContract(ContractOp contract) {
  bool isLhs = isOrdered(contract.getLhs());
  if (isLhs == isOrdered(contract.getRhs()))
    return std::nullopt;
  Order order = orders.find(isLhs ? contract.getLhs() : contract.getRhs())->second;
  SmallVector<int64_t> free = isLhs ? contract.getLhsFree() : contract.getRhsFree();
  auto *found = llvm::find(free, order.axis);
  if (found == free.end())
    return std::nullopt;
  order.axis = contract.getLhsBatch().size() + (isLhs ? 0 : contract.getLhsFree().size()) + (found - free.begin());
  return order;
}

/// Whether all elements along an axis are equal.
bool BlockOrders::isUniform(Value value, int64_t axis) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return constant.getValue().isSplat();
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return false;
  for (auto [size, dim] : llvm::zip_equal(getShape(broadcast.getOperand()), broadcast.getDims()))
    if (dim == axis && !size.isConstant(1))
      return false;
  return true;
}

/// Operands in one order, and those that are equal along it.
std::optional<Order> BlockOrders::followElements(Operation *op) {
  auto *first = llvm::find_if(op->getOpOperands(), [&](OpOperand &operand) { return isOrdered(operand.get()); });
  const Order &order = orders.find(first->get())->second;
  bool isOne = llvm::all_of(op->getOperands(), [&](Value operand) {
    auto found = orders.find(operand);
    return found != orders.end() ? found->second == order : isUniform(operand, order.axis);
  });
  return isOne ? std::optional(order) : std::nullopt;
}

/// Whole blocks that lie side by side in both orders, or elements along other dimensions.
std::optional<Order> BlockOrders::followSlice(SliceOp slice, const Order &order) {
  std::optional<Block> taken = getSlicedBlock(slice, order.axis);
  if (!taken)
    return std::nullopt;
  Order part{order.axis, {}};
  int64_t before = 0, size = 0;
  for (Block block : order.blocks) {
    if (before >= taken->start && before + block.size <= taken->start + taken->size) {
      part.blocks.push_back({block.start - taken->start, block.size});
      size += block.size;
    }
    before += block.size;
  }
  if (size != taken->size || !covers(part.blocks, 0, size))
    return std::nullopt;
  return part;
}

/// Operands one behind the other along their order, or in one order along another dimension.
std::optional<Order> BlockOrders::followConcat(ConcatOp concat) {
  int64_t axis = concat.getAxis(), before = 0;
  Order all{axis, {}};
  std::optional<Order> common;
  for (Value operand : concat.getOperands()) {
    auto found = orders.find(operand);
    std::optional<int64_t> size = getShape(operand)[axis].asConstant();
    if (found == orders.end()) {
      if (common || !size)
        return std::nullopt;
      all.blocks.push_back({before, *size});
    } else if (found->second.axis == axis) {
      for (Block block : found->second.blocks)
        all.blocks.push_back({before + block.start, block.size});
    } else {
      if ((common && !(*common == found->second)) || !all.blocks.empty())
        return std::nullopt;
      common = found->second;
    }
    before += size.value_or(0);
  }
  return common ? common : all;
}

/// The order of what is scanned is that of its slices.
bool BlockOrders::followScan(ScanOp scan) {
  for (Value carried : scan.getCarried())
    if (isOrdered(carried))
      return false;
  for (Value scanned : scan.getScanned())
    if (auto found = orders.find(scanned); found != orders.end() && found->second.axis == 0)
      return false;
  for (auto [index, slice] : llvm::enumerate(scan.getSliceArgs())) {
    auto found = orders.find(scan.getScanned()[index]);
    if (found == orders.end())
      continue;
    Order order = found->second;
    --order.axis;
    orders.insert({slice, order});
    values.unionSets(getKey(slice), getKey(scan.getScanned()[index]));
  }
  return true;
}

int64_t BlockOrders::rewrite() {
  for (auto [slice, start] : ends) {
    if (!isKept(slice.getOperand()))
      continue;
    OpBuilder builder(slice);
    SmallVector<sym::Expr> starts(slice.getStarts());
    starts[orders.find(slice.getOperand())->second.axis] = sym::Expr::constant(slice.getContext(), start);
    Value moved = SliceOp::create(builder, slice.getLoc(), slice.getOperand(), starts,
                                  SmallVector<sym::Expr>(slice.getSizes()), SmallVector<int64_t>(slice.getSteps()));
    slice.replaceAllUsesWith(moved);
    slice.erase();
  }
  int64_t kept = 0;
  for (ConcatOp root : roots) {
    if (!isKept(root))
      continue;
    SmallVector<Value> blocks(root.getOperands());
    root.replaceAllUsesWith(blocks.front().getDefiningOp<SliceOp>().getOperand());
    root.erase();
    for (Value block : blocks)
      if (block.use_empty())
        block.getDefiningOp()->erase();
    ++kept;
  }
  return kept;
}

struct KeepBlockOrders : impl::KeepBlockOrdersBase<KeepBlockOrders> {
  using KeepBlockOrdersBase::KeepBlockOrdersBase;

  void runOnOperation() override {
    if (!enable)
      return;
    BlockOrders blocks;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) { blocks.visit(op); });
    count(getOperation(), "block_orders", blocks.rewrite());
  }
};

} // namespace

} // namespace freestone::graph
