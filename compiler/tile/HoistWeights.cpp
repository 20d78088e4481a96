#include "compiler/tile/HoistWeights.h"

#include "compiler/plan/Classify.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/StorePanels.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// Precomputed results are stored with the model, so they may exceed their sources only by this much.
constexpr int64_t freeBytes = 64 * 1024;
constexpr int64_t largestGrowth = 4;

class WeightHoister {
public:
  explicit WeightHoister(func::FuncOp function) : function(function), block(function.getBody().front()) {}

  int64_t hoist();

private:
  void collect();
  func::FuncOp getOrCreateInit();
  void addToInit();
  Value copyInto(OpBuilder &builder, Value value, IRMapping &mapping);
  Value copyPack(OpBuilder &builder, PackOp op, Value source);
  void takeAsArguments();
  std::string getName(Value value, llvm::StringSet<> &taken);

  func::FuncOp function;
  Block &block;
  llvm::SetVector<Operation *> hoisted;
  /// Hoisted values that the rest of the function uses.
  llvm::SetVector<Value> needed;
  SmallVector<StringAttr> names;
};

/// The first weight that a value depends on.
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
    // Reshapes move along with their operands.
    return !hoisted.contains(user) &&
           !(isa<graph::ReshapeOp>(user) &&
             llvm::all_of(user->getUsers(), [&](Operation *next) { return hoisted.contains(next); }));
  };
  for (Operation *op : hoisted)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), isOutside))
        needed.insert(result);
}

std::string WeightHoister::getName(Value value, llvm::StringSet<> &taken) {
  graph::WeightOp root = getRoot(value);
  std::string stem = root ? root.getName().str() : std::string("constant");
  stem += value.getDefiningOp<PackOp>() ? ":packed" : ":folded";
  std::string name = stem;
  for (unsigned number = 2; !taken.insert(name).second; ++number)
    name = stem + ":" + std::to_string(number);
  return name;
}

Value WeightHoister::copyPack(OpBuilder &builder, PackOp op, Value source) {
  SmallVector<Expr> shape(graph::getShape(source)), indices;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    indices.push_back(getLoopSymbol(builder.getContext(), dim));
  if (auto strips = dyn_cast<StripsAttr>(op.getPacked().getType().getLayout()))
    return storeStrips(builder, op.getLoc(), source, strips)->getResult(0);
  // A transposition before packing is merged with it: neither drops elements.
  if (auto copy = source.getDefiningOp<ComputeOp>();
      copy && isCopy(copy) && !copy.getFill(0) && copy.getMap(0).isPermutation()) {
    indices = getIndices(copy, 0, indices);
    source = copy.getInputs()[0];
  }
  Attribute layout = op.getPacked().getType().getLayout();
  if (auto transformed = dyn_cast<WinogradAttr>(layout))
    return storeTransformed(builder, op.getLoc(), source, indices, shape, transformed)->getResult(0);
  if (auto words = dyn_cast<WordsAttr>(layout))
    return storeWords(builder, op.getLoc(), source, indices, shape, words)->getResult(0);
  return storePanels(builder, op.getLoc(), source, indices, shape, cast<PanelsAttr>(layout))->getResult(0);
}

Value WeightHoister::copyInto(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    copyInto(builder, operand, mapping);
  if (auto weight = dyn_cast<graph::WeightOp>(op)) {
    auto init = cast<func::FuncOp>(builder.getBlock()->getParentOp());
    StringRef attribute = weight.getLive() ? inputAttr : weightAttr;
    for (unsigned index = 0; index < init.getNumArguments(); ++index)
      if (init.getArgAttr(index, attribute) == weight.getNameAttr()) {
        mapping.map(value, init.getArgument(index));
        return init.getArgument(index);
      }
    unsigned index = init.getNumArguments();
    (void)init.insertArgument(
        index, value.getType(),
        DictionaryAttr::get(builder.getContext(), builder.getNamedAttr(attribute, weight.getNameAttr())),
        weight.getLoc());
    mapping.map(value, init.getArgument(index));
  } else if (auto pack = dyn_cast<PackOp>(op)) {
    mapping.map(value, copyPack(builder, pack, mapping.lookup(pack.getTensor())));
  } else {
    builder.clone(*op, mapping);
  }
  return mapping.lookup(value);
}

func::FuncOp WeightHoister::getOrCreateInit() {
  if (auto init = function->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(initName))
    return init;
  OpBuilder builder(function->getContext());
  builder.setInsertionPointAfter(function);
  auto init = func::FuncOp::create(builder, function.getLoc(), initName, builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(init.addEntryBlock());
  func::ReturnOp::create(builder, function.getLoc());
  return init;
}

/// A result that @init returns already for another function keeps its name and serves both.
void WeightHoister::addToInit() {
  func::FuncOp init = getOrCreateInit();
  Operation *terminator = init.getBody().front().getTerminator();
  OpBuilder builder(terminator);
  IRMapping mapping;
  unsigned before = terminator->getNumOperands();
  for (Value value : needed) {
    Value copy = copyInto(builder, value, mapping);
    terminator->insertOperands(terminator->getNumOperands(), copy);
  }
  IRRewriter rewriter(builder);
  DominanceInfo dominance(init);
  eliminateCommonSubExpressions(rewriter, dominance, init);

  llvm::StringSet<> taken;
  SmallVector<StringAttr> all;
  for (unsigned index = 0; index < before; ++index) {
    all.push_back(init.getResultAttrOfType<StringAttr>(index, weightAttr));
    taken.insert(all.back().getValue());
  }
  llvm::MapVector<Value, StringAttr> returned;
  for (auto [value, name] : llvm::zip(terminator->getOperands(), all))
    returned[value] = name;
  for (auto [value, copy] : llvm::zip_equal(needed, terminator->getOperands().drop_front(before))) {
    StringAttr &name = returned[copy];
    if (!name)
      name = builder.getStringAttr(getName(value, taken));
    names.push_back(name);
  }
  SmallVector<Value> results = llvm::to_vector(llvm::make_first_range(returned));
  terminator->setOperands(results);
  init.setFunctionType(builder.getFunctionType(init.getArgumentTypes(), TypeRange(ValueRange(results))));
  SmallVector<DictionaryAttr> attributes;
  for (auto [value, name] : returned)
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(weightAttr, name)));
  init.setAllResultAttrs(attributes);
}

void WeightHoister::takeAsArguments() {
  Builder builder(function->getContext());
  for (auto [number, name] : llvm::enumerate(names)) {
    Value value = needed[number];
    unsigned index = function.getNumArguments();
    (void)function.insertArgument(index, value.getType(),
                                  DictionaryAttr::get(builder.getContext(), builder.getNamedAttr(weightAttr, name)),
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
  addToInit();
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
    before += TypicalSizes().getBytes(cast<graph::TensorType>(operand.getType()));
  }
  for (Type result : op->getResultTypes())
    after += TypicalSizes().getBytes(cast<graph::TensorType>(result));
  return isa<PackOp>(op) || after <= std::max(freeBytes, largestGrowth * before);
}

int64_t hoistWeights(func::FuncOp function) { return WeightHoister(function).hoist(); }

} // namespace freestone::tile
