#include "compiler/plan/OuterLoopForm.h"

#include "compiler/plan/IndexMaps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

std::optional<unsigned> tile::getReshapedDim(Value reshaped, unsigned dim) {
  ArrayRef<Expr> shape = graph::getShape(reshaped), source = graph::getShape(getReshapeSource(reshaped));
  bool isSame = dim < shape.size() && shape.take_front(dim + 1) == source.take_front(dim + 1);
  return isSame ? std::optional(dim) : std::nullopt;
}

/// The indices of an operand, but for loops with a single point.
static SmallVector<Expr> getMovingIndices(ComputeOp compute, unsigned input) {
  SmallVector<Expr> loops;
  for (auto [loop, extent] : llvm::enumerate(compute.getExtents()))
    loops.push_back(extent.isConstant(1) ? Expr::constant(compute.getContext(), 0)
                                         : getLoopSymbol(compute.getContext(), loop));
  return getIndices(compute, input, loops);
}

std::optional<unsigned> tile::getDimOfLoop(ComputeOp compute, unsigned input, unsigned loop) {
  std::optional<unsigned> found;
  for (auto [dim, index] : llvm::enumerate(getMovingIndices(compute, input))) {
    if (!llvm::is_contained(getLoops(index), loop))
      continue;
    if (found || index != getLoopSymbol(compute.getContext(), loop))
      return std::nullopt;
    found = dim;
  }
  return found;
}

std::optional<unsigned> tile::getLoopOfDim(ComputeOp compute, unsigned input, unsigned dim) {
  std::optional<StringRef> symbol = getMovingIndices(compute, input)[dim].asSymbol();
  std::optional<unsigned> loop = symbol ? asLoop(*symbol) : std::nullopt;
  return loop && getDimOfLoop(compute, input, *loop) == dim ? loop : std::nullopt;
}

bool tile::shareOuterLoop(ArrayRef<ComputeOp> computes) {
  return llvm::any_of(computes, [](ComputeOp compute) { return compute->hasAttr(StageAttr::getAttributeName()); });
}

bool tile::mayBeCut(ComputeOp compute, unsigned loop) {
  auto isPlain = [](Type type) { return !cast<graph::TensorType>(type).getLayout(); };
  Block *body = compute.getBody();
  return loop < compute.getNumParallel() && compute.getReads().empty() && body->getOps<CheckOp>().empty() &&
         llvm::none_of(body->getOps<IndexOp>(), [&](IndexOp index) { return index.getLoop() == loop; }) &&
         llvm::all_of(compute->getOperandTypes(), isPlain) && llvm::all_of(compute->getResultTypes(), isPlain);
}

FailureOr<OuterLoopForm> OuterLoopForm::get(ArrayRef<ComputeOp> computes, ArrayRef<Value> returned, std::string &why) {
  auto fail = [&](StringRef reason) {
    why = reason;
    return failure();
  };
  OuterLoopForm form;
  for (ComputeOp compute : computes) {
    auto stage = compute->getAttrOfType<StageAttr>(StageAttr::getAttributeName());
    if (!stage)
      return fail("a compute is in no stage");
    auto number = static_cast<size_t>(stage.getNumber()), loop = static_cast<size_t>(stage.getLoop());
    if (number > form.stages.size() || number + 1 < form.stages.size())
      return fail("stages are not in order");
    if (!mayBeCut(compute, loop))
      return fail("a compute can't be cut into blocks of the outer loop");
    if (number == form.stages.size())
      form.stages.emplace_back();
    form.stages.back().push_back(compute);
    form.loops[compute] = loop;
    Expr extent = compute.getExtents()[loop];
    if (form.loops.size() > 1 && extent != form.extent)
      return fail("outer loops differ");
    form.extent = extent;
    for (auto [input, tensor] : llvm::enumerate(compute.getInputs())) {
      Value source = getReshapeSource(tensor);
      auto known = form.loops.find(source.getDefiningOp());
      if (known == form.loops.end())
        continue;
      std::optional<unsigned> dim = getDimOfLoop(compute, input, loop);
      if (!dim || getReshapedDim(tensor, known->second) != dim)
        return fail("a stage reads another one elsewhere than at its own points");
      if (!llvm::is_contained(form.stages.back(), cast<ComputeOp>(source.getDefiningOp())))
        form.between.insert(source);
      else if (tensor != source)
        return fail("a stage reads a result of its own in another shape");
    }
  }
  if (form.stages.size() < 2)
    return fail("it is a single stage");
  for (ComputeOp compute : computes)
    for (Value result : compute.getResults())
      if (form.between.contains(result) && !llvm::is_contained(returned, result))
        form.inScratch.insert(result);
  return form;
}

FailureOr<OuterLoopForm> OuterLoopForm::get(ProgramOp program, std::string &why) {
  SmallVector<Value> returned(program.getBody()->getTerminator()->getOperands());
  return get(program.getComputes(), returned, why);
}

std::pair<unsigned, unsigned> OuterLoopForm::getLiveRange(Value result) const {
  auto makes = [&](ArrayRef<ComputeOp> stage) { return llvm::is_contained(stage, result.getDefiningOp<ComputeOp>()); };
  unsigned made = llvm::find_if(stages, makes) - stages.begin(), last = made;
  for (unsigned number = made; number < stages.size(); ++number)
    for (ComputeOp compute : stages[number])
      if (llvm::any_of(compute.getInputs(), [&](Value tensor) { return getReshapeSource(tensor) == result; }))
        last = number;
  return {made, last};
}

Expr OuterLoopForm::getElementsOfPoint(Value result) const {
  Expr elements = Expr::constant(extent.context(), 1);
  for (auto [dim, size] : llvm::enumerate(graph::getShape(result)))
    if (dim != loops.lookup(result.getDefiningOp()))
      elements = elements * size;
  return elements;
}

OuterLoopSymbols OuterLoopSymbols::get(MLIRContext *context) {
  // No size has such a name: identifiers do not begin with a percent sign.
  return {Expr::symbol(context, "%outer.extent"), Expr::symbol(context, "%outer.first")};
}

namespace {

/// Builds the program of one stage.
class OuterLoopBuilder {
public:
  OuterLoopBuilder(const OuterLoopForm &form, unsigned number, ProgramOp program)
      : form(form), number(number), program(program), context(program.getContext()),
        symbols(OuterLoopSymbols::get(context)), builder(context) {}

  FailureOr<StageProgram> build();

private:
  Value getArgument(Value tensor, graph::TensorType type, Block &body);
  LogicalResult clone(ComputeOp compute, Block &body, IRMapping &mapping);
  graph::TensorType getResultType(ComputeOp compute, unsigned result);
  graph::TensorType getBlock(graph::TensorType type, unsigned dim);
  bool isReturned(Value result) {
    return llvm::is_contained(program.getBody()->getTerminator()->getOperands(), result);
  }

  const OuterLoopForm &form;
  unsigned number;
  ProgramOp program;
  MLIRContext *context;
  OuterLoopSymbols symbols;
  OpBuilder builder;
  DenseMap<Value, Value> arguments;
  StageProgram made;
};

} // namespace

/// The type of a block of points that lies alone.
graph::TensorType OuterLoopBuilder::getBlock(graph::TensorType type, unsigned dim) {
  SmallVector<Expr> shape(type.getShape());
  shape[dim] = symbols.extent;
  return graph::TensorType::get(shape, type.getElementType());
}

graph::TensorType OuterLoopBuilder::getResultType(ComputeOp compute, unsigned result) {
  graph::TensorType type = compute.getResultType(result);
  unsigned loop = form.loops.lookup(compute);
  graph::TensorType block = getBlock(type, loop);
  if (!isReturned(compute.getResult(result)))
    return block;
  SmallVector<Expr> first(type.getRank(), Expr::constant(context, 0));
  first[loop] = symbols.first;
  return graph::TensorType::get(context, block.getShape(), type.getElementType(),
                                BoxAttr::get(context, first, type.getShape()));
}

/// The argument for a tensor that is read, or read in this shape; one for all readers.
Value OuterLoopBuilder::getArgument(Value tensor, graph::TensorType type, Block &body) {
  Value &argument = arguments[tensor];
  if (!argument) {
    argument = body.addArgument(type, tensor.getLoc());
    Value source = getReshapeSource(tensor);
    made.arguments.push_back(form.between.contains(source) ? source : tensor);
  }
  return argument;
}

LogicalResult OuterLoopBuilder::clone(ComputeOp compute, Block &body, IRMapping &mapping) {
  unsigned outer = form.loops.lookup(compute);
  SmallVector<Expr> extents = compute.getExtents(), loops;
  extents[outer] = symbols.extent;
  for (unsigned loop = 0; loop < compute.getNumLoops(); ++loop)
    loops.push_back(getLoopSymbol(context, loop) + (loop == outer ? symbols.first : Expr::constant(context, 0)));
  SmallVector<SmallVector<Expr>> all;
  SmallVector<Value> operands;
  for (auto [input, tensor] : llvm::enumerate(compute.getInputs())) {
    auto type = cast<graph::TensorType>(tensor.getType());
    Value known = mapping.lookupOrNull(tensor);
    bool isBlock = known || form.inScratch.contains(getReshapeSource(tensor));
    all.push_back(isBlock ? getIndices(compute, input) : getIndices(compute, input, loops));
    if (!known && isBlock)
      type = getBlock(type, *getDimOfLoop(compute, input, outer));
    operands.push_back(known ? known : getArgument(tensor, type, body));
  }
  auto copy = cast<ComputeOp>(builder.clone(*compute, mapping));
  copy->removeAttr(StageAttr::getAttributeName());
  if (failed(setOperands(copy, operands, all, extents)))
    return failure();
  for (unsigned result = 0; result < copy.getNumResults(); ++result)
    copy.getResult(result).setType(getResultType(compute, result));
  return success();
}

FailureOr<StageProgram> OuterLoopBuilder::build() {
  Block body;
  IRMapping mapping;
  builder.setInsertionPointToEnd(&body);
  SmallVector<Value> returned;
  for (ComputeOp compute : form.stages[number]) {
    if (failed(clone(compute, body, mapping)))
      return failure();
    for (Value result : compute.getResults())
      if (form.between.contains(result) || isReturned(result)) {
        returned.push_back(mapping.lookup(result));
        made.results.push_back(result);
      }
  }
  made.make(program, number, body, returned, symbols.getAll());
  return std::move(made);
}

FailureOr<SmallVector<StageProgram>> tile::makeStages(const OuterLoopForm &form, ProgramOp program) {
  SmallVector<StageProgram> stages;
  for (unsigned number = 0; number < form.stages.size(); ++number) {
    FailureOr<StageProgram> stage = OuterLoopBuilder(form, number, program).build();
    if (failed(stage))
      return program.emitOpError("has stages that read an operand at no affine map of the loops");
    stages.push_back(std::move(*stage));
  }
  return stages;
}
