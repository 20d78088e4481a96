#include "compiler/pipe/CutFunction.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/step/TrainingStep.h"
#include "compiler/task/ValueMemory.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::pipe;

bool pipe::isSmall(Value value) {
  auto type = dyn_cast<graph::TensorType>(value.getType());
  std::optional<int64_t> count = type ? type.getNumElements().asConstant() : std::nullopt;
  return count && *count <= smallElements;
}

SmallVector<Value> pipe::getOperandsFromOutside(Operation *op) {
  SmallVector<Value> operands;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (operand.getParentBlock() == op->getBlock())
        operands.push_back(operand);
  });
  return operands;
}

static std::optional<State> readState(DictionaryAttr attributes) {
  auto name = attributes ? attributes.getAs<StringAttr>(task::stateAttr) : StringAttr();
  if (!name)
    return std::nullopt;
  State state{name, ""};
  if (auto role = attributes.getAs<StringAttr>(step::roleAttr))
    state.role = role;
  if (auto parameter = attributes.getAs<IntegerAttr>(step::parameterAttr))
    state.parameter = parameter.getInt();
  return state;
}

std::optional<State> pipe::getState(func::FuncOp function, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? readState(function.getArgAttrDict(argument.getArgNumber())) : std::nullopt;
}

std::optional<State> pipe::getReturnedState(func::FuncOp function, unsigned result) {
  return readState(function.getResultAttrDict(result));
}

bool FreeOperations::isEverywhere(Value value) {
  value = tile::getAliased(value);
  if (Operation *op = value.getDefiningOp())
    return fromComputed || isFree(op);
  std::optional<State> state = getState(function, value);
  return !state || state->role == step::stepRole;
}

bool FreeOperations::isFree(Operation *op) {
  if (auto found = known.find(op); found != known.end())
    return found->second;
  bool result = tile::isAlias(op) || isa<graph::ConstantOp, graph::WeightOp>(op);
  if (!result && isa<tile::GroupOp, tile::ComputeOp>(op)) {
    SmallVector<Value> operands = getOperandsFromOutside(op);
    auto isUsable = [&](Value operand) { return isSmall(operand) && isEverywhere(operand); };
    result = operands.empty() || (llvm::all_of(op->getResults(), isSmall) && llvm::all_of(operands, isUsable));
  }
  return known[op] = result;
}

void FreeOperations::collectSources(Value value, SetVector<Value> &sources) {
  Operation *op = value.getDefiningOp();
  if (!op || !isFree(op)) {
    sources.insert(value);
    return;
  }
  for (Value operand : getOperandsFromOutside(op))
    collectSources(operand, sources);
}

SetVector<Value> FreeOperations::getSources(ValueRange values) {
  SetVector<Value> sources;
  for (Value value : values)
    collectSources(value, sources);
  return sources;
}

StringAttr ValueNames::get(Value value) {
  StringAttr &name = names[value];
  if (!name)
    name = StringAttr::get(value.getContext(), "pipe/" + Twine(next++));
  return name;
}

SetVector<StringRef> pipe::getInputSymbols(func::FuncOp function) {
  SetVector<StringRef> symbols;
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), "graph.name"))
      for (sym::Expr size : cast<graph::TensorType>(argument.getType()).getShape())
        if (auto multiple = size.asMultiple())
          symbols.insert(multiple->first);
  return symbols;
}

namespace {

/// Builds the function of one part.
class PartBuilder {
public:
  PartBuilder(const Cut &cut, FreeOperations &free, ValueNames &names, unsigned part)
      : cut(cut), free(free), names(names), part(part), source(cut.source), builder(source.getContext()) {}

  /// The values of this part that other parts need. Fills `needed` with those of others that this one needs.
  void findNeeds(SetVector<Value> &needed);
  func::FuncOp build(const SetVector<Value> &sent);

private:
  bool isOwn(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && cut.partOf.contains(op) && cut.partOf.lookup(op) == part;
  }
  SmallVector<Value> getRoots();
  Value take(Value value);
  Value addArgument(Type type, ArrayRef<NamedAttribute> attributes);
  void addResult(Value value, DictionaryAttr attributes);

  const Cut &cut;
  FreeOperations &free;
  ValueNames &names;
  unsigned part;
  func::FuncOp source, function;
  OpBuilder builder;
  IRMapping mapping;
  SmallVector<Value> results;
  SmallVector<Attribute> resultAttributes;
};

/// What the part's operations and results need.
SmallVector<Value> PartBuilder::getRoots() {
  SmallVector<Value> roots;
  Block &block = source.getBody().front();
  for (Operation &op : block)
    if (auto found = cut.partOf.find(&op); found != cut.partOf.end() && found->second == part)
      llvm::append_range(roots, getOperandsFromOutside(&op));
  for (auto [index, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    if (llvm::is_contained(cut.returnedBy[index], part))
      roots.push_back(value);
  return roots;
}

void PartBuilder::findNeeds(SetVector<Value> &needed) {
  for (Value value : free.getSources(getRoots()))
    if (!isa<BlockArgument>(value) && !isOwn(value))
      needed.insert(value);
}

Value PartBuilder::addArgument(Type type, ArrayRef<NamedAttribute> attributes) {
  unsigned index = function.getNumArguments();
  (void)function.insertArgument(index, type, builder.getDictionaryAttr(attributes), source.getLoc());
  return function.getArgument(index);
}

/// The value within the part: its own, an argument, or made anew.
Value PartBuilder::take(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Value own = addArgument(value.getType(), source.getArgAttrDict(argument.getArgNumber()).getValue());
    mapping.map(value, own);
    return own;
  }
  Operation *op = value.getDefiningOp();
  if (!free.isFree(op)) {
    Value own = addArgument(value.getType(), builder.getNamedAttr("graph.name", names.get(value)));
    mapping.map(value, own);
    return own;
  }
  for (Value operand : getOperandsFromOutside(op))
    take(operand);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

void PartBuilder::addResult(Value value, DictionaryAttr attributes) {
  results.push_back(take(value));
  resultAttributes.push_back(attributes);
}

func::FuncOp PartBuilder::build(const SetVector<Value> &sent) {
  builder.setInsertionPointAfter(source);
  function = func::FuncOp::create(builder, source.getLoc(), cut.parts[part], builder.getFunctionType({}, {}));
  for (NamedAttribute attribute : source->getDiscardableAttrs())
    function->setAttr(attribute.getName(), attribute.getValue());
  builder.setInsertionPointToEnd(function.addEntryBlock());
  if (SetVector<StringRef> symbols = getInputSymbols(source); !symbols.empty()) {
    SmallVector<sym::Expr> shape;
    for (StringRef symbol : symbols)
      shape.push_back(sym::Expr::symbol(builder.getContext(), symbol));
    shape.push_back(sym::Expr::constant(builder.getContext(), 0));
    addArgument(graph::TensorType::get(shape, builder.getI8Type()),
                builder.getNamedAttr("graph.name", builder.getStringAttr("pipe/sizes")));
  }
  Block &block = source.getBody().front();
  for (Operation &op : block) {
    auto found = cut.partOf.find(&op);
    if (found == cut.partOf.end() || found->second != part)
      continue;
    for (Value operand : getOperandsFromOutside(&op))
      take(operand);
    builder.clone(op, mapping);
  }
  for (auto [index, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    if (llvm::is_contained(cut.returnedBy[index], part))
      addResult(value, source.getResultAttrDict(index));
  for (Value value : sent)
    if (isOwn(value))
      addResult(value, builder.getDictionaryAttr(builder.getNamedAttr("graph.name", names.get(value))));
  if (results.empty()) {
    function.erase();
    return {};
  }
  func::ReturnOp::create(builder, source.getLoc(), results);
  function.setType(builder.getFunctionType(function.getArgumentTypes(), TypeRange(ValueRange(results))));
  function.setResAttrsAttr(builder.getArrayAttr(resultAttributes));
  return function;
}

} // namespace

SmallVector<func::FuncOp> pipe::cutFunction(const Cut &cut, FreeOperations &free, ValueNames &names) {
  SmallVector<func::FuncOp> functions;
  SetVector<Value> sent;
  std::vector<PartBuilder> builders;
  for (unsigned part = 0; part < cut.parts.size(); ++part) {
    builders.emplace_back(cut, free, names, part);
    builders.back().findNeeds(sent);
  }
  for (PartBuilder &builder : llvm::reverse(builders))
    if (func::FuncOp function = builder.build(sent))
      functions.push_back(function);
  std::reverse(functions.begin(), functions.end());
  return functions;
}
