#include "compiler/plan/ChainForm.h"

#include "compiler/plan/IndexMaps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

StageSymbols StageSymbols::get(MLIRContext *context, size_t numImages) {
  // No size has such a name: identifiers do not begin with a percent sign.
  auto symbol = [&](const Twine &name) { return Expr::symbol(context, ("%stage." + name).str()); };
  StageSymbols symbols = {symbol("extent"),    symbol("first"), symbol("from"),      symbol("held"),
                          symbol("held_most"), symbol("into"),  symbol("into_most"), {}};
  for (size_t number = 0; number < numImages; ++number)
    symbols.images.push_back(symbol("image" + Twine(number)));
  return symbols;
}

SmallVector<Expr> StageSymbols::getAll() const {
  SmallVector<Expr> all = {extent, first, from, held, heldMost, into, intoMost};
  llvm::append_range(all, images);
  return all;
}

namespace {

/// Builds the program of one stage.
class StageBuilder {
public:
  StageBuilder(const ChainForm &chain, unsigned number, ProgramOp program)
      : chain(chain), stage(chain.stages[number]), number(number), program(program), context(program.getContext()),
        symbols(StageSymbols::get(context, chain.getNumImages())), builder(context) {}

  FailureOr<StageProgram> build();

private:
  /// An operand as the stage's program reads it.
  struct Operand {
    graph::TensorType type;
    SmallVector<Expr> indices;
  };
  Operand getOperand(ComputeOp compute, unsigned input);
  graph::TensorType getResultType(ComputeOp compute);
  LogicalResult clone(ComputeOp compute, Block &body, IRMapping &mapping);
  /// The loop's number in the stage's program.
  Expr getLoop(unsigned loop) {
    return getLoopSymbol(context, stage.isFlat && loop > stage.getRowLoop() ? loop - 1 : loop);
  }
  /// The positions of the chain's loops, by those of the stage's; rows of a flat stage count in its pixels.
  SmallVector<Expr> getLoops(ComputeOp compute, bool isOutside);
  SmallVector<Expr> mergeRows(ArrayRef<Expr> dims, unsigned row);
  bool isBefore(ComputeOp compute, unsigned input) {
    return number > 0 && compute == stage.getAnchor() && input == stage.input;
  }
  bool isReturned(ComputeOp compute) {
    bool isLast = number + 1 == chain.stages.size();
    return isLast ? llvm::is_contained(program.getBody()->getTerminator()->getOperands(), compute.getResult(0))
                  : compute == stage.getLast();
  }
  Expr zero() { return Expr::constant(context, 0); }

  const ChainForm &chain;
  const ChainStage &stage;
  unsigned number;
  ProgramOp program;
  MLIRContext *context;
  StageSymbols symbols;
  OpBuilder builder;
  StageProgram made;
};

} // namespace

SmallVector<Expr> StageBuilder::getLoops(ComputeOp compute, bool isOutside) {
  SmallVector<Expr> loops;
  for (unsigned loop = 0; loop < compute.getNumLoops(); ++loop)
    loops.push_back(getLoop(loop));
  if (stage.isFlat)
    loops[stage.getRowLoop()] = zero();
  else
    loops[stage.getRowLoop()] = loops[stage.getRowLoop()] + symbols.first;
  if (isOutside)
    for (auto [loop, image] : llvm::zip_equal(stage.images, symbols.images))
      loops[loop] = loops[loop] + image;
  return loops;
}

/// Sizes with those of rows and of pixels as one.
SmallVector<Expr> StageBuilder::mergeRows(ArrayRef<Expr> dims, unsigned row) {
  SmallVector<Expr> merged(dims);
  merged[row] = merged[row] * merged[row + 1];
  merged.erase(merged.begin() + row + 1);
  return merged;
}

StageBuilder::Operand StageBuilder::getOperand(ComputeOp compute, unsigned input) {
  graph::TensorType type = compute.getInputType(input);
  SmallVector<Expr> shape(type.getShape()), original = getIndices(compute, input);
  auto dependsOnRows = [&](unsigned dim) {
    SmallVector<unsigned> loops = tile::getLoops(original[dim]);
    return llvm::is_contained(loops, stage.getRowLoop()) || llvm::is_contained(loops, stage.getPixelLoop());
  };
  if (isBefore(compute, input)) {
    const ChainStage &before = chain.stages[number - 1];
    unsigned row = before.getRowLoop();
    SmallVector<Expr> indices = getIndices(compute, input, getLoops(compute, /*isOutside=*/false));
    for (unsigned image : before.images)
      shape[image] = Expr::constant(context, 1);
    if (stage.isFlat) {
      indices.erase(indices.begin() + row);
      shape.erase(shape.begin() + row);
      indices[row] = indices[row] + symbols.first;
    }
    indices[row] = indices[row] - symbols.from;
    SmallVector<Expr> first(shape.size(), zero()), whole = shape;
    shape[row] = symbols.held;
    whole[row] = symbols.heldMost;
    return {graph::TensorType::get(context, shape, type.getElementType(), BoxAttr::get(context, first, whole)),
            indices};
  }
  SmallVector<Expr> indices = getIndices(compute, input, getLoops(compute, /*isOutside=*/true));
  if (!stage.isFlat)
    return {type, indices};
  for (unsigned dim = 0; dim < indices.size(); ++dim)
    if (dependsOnRows(dim)) {
      Expr start = indices[dim] * shape[dim + 1];
      indices.erase(indices.begin() + dim);
      indices[dim] = indices[dim] + start + symbols.first;
      shape = mergeRows(shape, dim);
      break;
    }
  return {graph::TensorType::get(context, shape, type.getElementType(), type.getLayout()), indices};
}

/// What the stage returns is a box in scratch, or in the chain's result.
graph::TensorType StageBuilder::getResultType(ComputeOp compute) {
  graph::TensorType type = compute.getResultType(0);
  unsigned row = stage.getRowLoop();
  bool isLast = number + 1 == chain.stages.size();
  SmallVector<Expr> shape(type.getShape()), whole = shape, first(shape.size(), zero());
  for (auto [loop, image] : llvm::zip_equal(stage.images, symbols.images)) {
    shape[loop] = Expr::constant(context, 1);
    first[loop] = isLast ? image : zero();
    whole[loop] = isLast ? whole[loop] : shape[loop];
  }
  if (stage.isFlat) {
    whole = mergeRows(whole, row);
    for (SmallVector<Expr> *dims : {&shape, &first})
      dims->erase(dims->begin() + row);
  }
  shape[row] = symbols.extent;
  first[row] = isLast ? symbols.first : symbols.into;
  whole[row] = isLast ? whole[row] : symbols.intoMost;
  Attribute layout = isReturned(compute) ? BoxAttr::get(context, first, whole) : Attribute();
  return graph::TensorType::get(context, shape, type.getElementType(), layout);
}

LogicalResult StageBuilder::clone(ComputeOp compute, Block &body, IRMapping &mapping) {
  SmallVector<Expr> extents = compute.getExtents();
  for (unsigned loop : stage.images)
    extents[loop] = Expr::constant(context, 1);
  extents[stage.getRowLoop()] = symbols.extent;
  if (stage.isFlat)
    extents.erase(extents.begin() + stage.getPixelLoop());
  SmallVector<SmallVector<Expr>> all;
  SmallVector<Value> operands;
  for (auto [input, tensor] : llvm::enumerate(compute.getInputs())) {
    SmallVector<Expr> &indices = all.emplace_back();
    if (llvm::is_contained(stage.computes, tensor.getDefiningOp<ComputeOp>())) {
      operands.push_back(mapping.lookup(tensor));
      unsigned rank = cast<graph::TensorType>(operands.back().getType()).getRank();
      for (unsigned loop = 0; loop < rank; ++loop)
        indices.push_back(getLoopSymbol(context, loop));
    } else {
      Operand operand = getOperand(compute, input);
      operands.push_back(body.addArgument(operand.type, compute.getLoc()));
      made.arguments.push_back(tensor);
      indices = operand.indices;
    }
  }
  auto copy = cast<ComputeOp>(builder.clone(*compute, mapping));
  copy.setNumParallel(compute.getNumParallel() - stage.isFlat);
  if (failed(setOperands(copy, operands, all, extents)))
    return failure();
  copy.getResult(0).setType(getResultType(compute));
  return success();
}

FailureOr<StageProgram> StageBuilder::build() {
  Block body;
  IRMapping mapping;
  builder.setInsertionPointToEnd(&body);
  SmallVector<Value> returned;
  for (ComputeOp compute : stage.computes) {
    if (failed(clone(compute, body, mapping)))
      return failure();
    if (isReturned(compute)) {
      returned.push_back(mapping.lookup(compute.getResult(0)));
      made.results.push_back(compute.getResult(0));
    }
  }
  made.make(program, number, body, returned, symbols.getAll());
  return std::move(made);
}

FailureOr<StageProgram> ChainForm::makeStage(unsigned number, ProgramOp program) const {
  return StageBuilder(*this, number, program).build();
}
