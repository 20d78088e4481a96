#include "compiler/tile/HoistWeights.h"

#include "compiler/tile/Classify.h"
#include "compiler/tile/ComputeBuilder.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/IndexMaps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

constexpr StringRef weightAttr = "graph.weight";

/// What is computed once may be larger than what it comes from, but not by much: it is stored with the model.
constexpr int64_t freeBytes = 64 * 1024;
constexpr int64_t largestGrowth = 4;

class WeightHoister {
public:
  explicit WeightHoister(func::FuncOp function) : function(function), block(function.getBody().front()) {}

  int64_t hoist();

private:
  void collect();
  void createInit();
  Value copyInto(OpBuilder &builder, Value value, IRMapping &mapping);
  Value copyPack(OpBuilder &builder, PackOp op, Value source);
  void takeAsArguments();
  std::string getName(Value value);

  func::FuncOp function;
  Block &block;
  llvm::SetVector<Operation *> hoisted;
  /// What the rest of the function needs of the hoisted operations.
  llvm::SetVector<Value> needed;
  SmallVector<std::string> names;
  llvm::StringMap<unsigned> taken;
};

/// The first weight that a value is made of.
graph::WeightOp getRoot(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto weight = dyn_cast_or_null<graph::WeightOp>(op))
    return weight;
  if (op)
    for (Value operand : op->getOperands())
      if (graph::WeightOp root = getRoot(operand))
        return root;
  return {};
}

void WeightHoister::collect() {
  for (Operation &op : block)
    if (isa<ComputeOp, PackOp>(op) && isHoistable(op.getResult(0)))
      hoisted.insert(&op);
  auto isOutside = [&](Operation *user) {
    // Reshapes go along with what they reshape.
    return !hoisted.contains(user) &&
           !(isa<graph::ReshapeOp>(user) &&
             llvm::all_of(user->getUsers(), [&](Operation *next) { return hoisted.contains(next); }));
  };
  for (Operation *op : hoisted)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), isOutside))
        needed.insert(result);
}

std::string WeightHoister::getName(Value value) {
  graph::WeightOp root = getRoot(value);
  std::string name = root ? root.getName().str() : std::string("constant");
  name += value.getDefiningOp<PackOp>() ? ":packed" : ":folded";
  unsigned &count = taken[name];
  if (count++)
    name += ":" + std::to_string(count);
  return name;
}

/// The stored elements in their order, zeros where the last panel is not full.
Value WeightHoister::copyPack(OpBuilder &builder, PackOp op, Value source) {
  auto layout = cast<PanelsAttr>(op.getPacked().getType().getLayout());
  SmallVector<Expr> shape(graph::getShape(source));
  ComputeBuilder compute(builder, op.getLoc(), layout.getStorageShape(shape));
  SmallVector<Expr> stored = compute.parallelLoops(), indices(shape.size());
  unsigned batch = layout.getBatch(), axis = layout.getAxis(), next = batch + 1;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    if (dim < batch)
      indices[dim] = stored[dim];
    else if (dim == axis)
      indices[dim] = stored[batch] * layout.getWidth() + stored.back();
    else
      indices[dim] = stored[next++];
  }
  // A transposition before the packing is one with it: both leave no element out.
  if (auto copy = source.getDefiningOp<ComputeOp>();
      copy && isCopy(copy) && !copy.getFill(0) && copy.getMap(0).isPermutation()) {
    indices = llvm::map_to_vector(getIndices(copy, 0), [&](Expr index) { return substituteLoops(index, indices); });
    source = copy.getInputs()[0];
  }
  Type element = graph::getElementType(source);
  bool isFull = Expr::mod(shape[axis], layout.getWidth()).isConstant(0);
  unsigned operand = compute.read(source, indices,
                                  isFull ? TypedAttr() : cast<TypedAttr>(builder.getZeroAttr(getScalarType(element))));
  return compute.create(element, [&](ComputeBody &body) { return body.input(operand); })->getResult(0);
}

Value WeightHoister::copyInto(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    copyInto(builder, operand, mapping);
  if (auto weight = dyn_cast<graph::WeightOp>(op)) {
    auto init = cast<func::FuncOp>(builder.getBlock()->getParentOp());
    for (unsigned index = 0; index < init.getNumArguments(); ++index)
      if (init.getArgAttr(index, weightAttr) == weight.getNameAttr()) {
        mapping.map(value, init.getArgument(index));
        return init.getArgument(index);
      }
    unsigned index = init.getNumArguments();
    (void)init.insertArgument(
        index, value.getType(),
        DictionaryAttr::get(builder.getContext(), builder.getNamedAttr(weightAttr, weight.getNameAttr())),
        weight.getLoc());
    mapping.map(value, init.getArgument(index));
  } else if (auto pack = dyn_cast<PackOp>(op)) {
    mapping.map(value, copyPack(builder, pack, mapping.lookup(pack.getTensor())));
  } else {
    builder.clone(*op, mapping);
  }
  return mapping.lookup(value);
}

void WeightHoister::createInit() {
  OpBuilder builder(function->getContext());
  builder.setInsertionPointAfter(function);
  auto init = func::FuncOp::create(builder, function.getLoc(), initName, builder.getFunctionType({}, {}));
  Block *body = init.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  IRMapping mapping;
  SmallVector<Value> results;
  for (Value value : needed)
    results.push_back(copyInto(builder, value, mapping));
  func::ReturnOp::create(builder, function.getLoc(), results);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  init.setFunctionType(builder.getFunctionType(init.getArgumentTypes(), TypeRange(ValueRange(results))));
  for (auto [index, name] : llvm::enumerate(names))
    init.setResultAttr(index, weightAttr, builder.getStringAttr(name));
}

void WeightHoister::takeAsArguments() {
  Builder builder(function->getContext());
  for (auto [number, name] : llvm::enumerate(names)) {
    Value value = needed[number];
    unsigned index = function.getNumArguments();
    (void)function.insertArgument(
        index, value.getType(),
        DictionaryAttr::get(builder.getContext(), builder.getNamedAttr(weightAttr, builder.getStringAttr(name))),
        value.getLoc());
    value.replaceAllUsesWith(function.getArgument(index));
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

int64_t WeightHoister::hoist() {
  collect();
  if (needed.empty())
    return 0;
  for (Value value : needed)
    names.push_back(getName(value));
  createInit();
  takeAsArguments();
  return needed.size();
}

} // namespace

bool isHoistable(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getOperand();
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<graph::WeightOp, graph::ConstantOp>(op))
    return true;
  if (!isa_and_nonnull<ComputeOp, PackOp>(op) || !isWeightOnly(value))
    return false;
  int64_t before = 0, after = 0;
  for (Value operand : op->getOperands()) {
    if (!isHoistable(operand))
      return false;
    before += estimateBytes(cast<graph::TensorType>(operand.getType()));
  }
  for (Type result : op->getResultTypes())
    after += estimateBytes(cast<graph::TensorType>(result));
  return isa<PackOp>(op) || after <= std::max(freeBytes, largestGrowth * before);
}

int64_t hoistWeights(func::FuncOp function) { return WeightHoister(function).hoist(); }

} // namespace freestone::tile
