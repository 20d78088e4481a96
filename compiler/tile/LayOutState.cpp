#include "compiler/tile/Passes.h"

#include "compiler/plan/Classify.h"
#include "compiler/tile/Counters.h"
#include "compiler/tile/RewriteLoops.h"

namespace freestone::tile {
#define GEN_PASS_DEF_LAYOUTSTATE
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using freestone::sym::Expr;

namespace {

class LayOutState : public tile::impl::LayOutStateBase<LayOutState> {
public:
  using LayOutStateBase::LayOutStateBase;

  void runOnOperation() override {
    if (!enable)
      return;
    for (auto reshape : llvm::make_early_inc_range(getOperation().getBody().front().getOps<graph::ReshapeOp>()))
      viewOperand(reshape);
    for (auto copy : llvm::make_early_inc_range(getOperation().getBody().front().getOps<ComputeOp>()))
      viewResult(copy);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(getOperation().getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

private:
  bool isStorage(graph::TensorType type) {
    return type.getRank() == 3 && !type.getLayout() && type.getElementType().isF32() && type.getStaticShape() &&
           type.getShape().back().isConstant(width);
  }
  void viewOperand(graph::ReshapeOp reshape);
  void viewResult(ComputeOp copy);
};

bool isState(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && function.getArgAttr(argument.getArgNumber(), "graph.state");
}

/// Whether a value has the type of a state, and so could be its gradient.
bool hasTypeOfState(Value value, func::FuncOp function) {
  return llvm::any_of(function.getArguments(), [&](BlockArgument argument) {
    return argument.getType() == value.getType() && isState(argument);
  });
}

/// [n/w, k, w] → [n/w, w, k] → [n, k], or [n/w, k, w] → [k, n/w, w] → [k, n].
void LayOutState::viewOperand(graph::ReshapeOp reshape) {
  auto copy = reshape.getOperand().getDefiningOp<ComputeOp>();
  if (!copy || !isCopy(copy) || copy.getFill(0) || !isState(copy.getInputs()[0]) || !isStorage(copy.getInputType(0)))
    return;
  SmallVector<Expr> shape(graph::getShape(reshape.getResult())), indices = getIndices(copy, 0);
  MLIRContext *context = &getContext();
  Expr loops[] = {getLoopSymbol(context, 0), getLoopSymbol(context, 1), getLoopSymbol(context, 2)};
  int64_t axis;
  if (ArrayRef(indices) == ArrayRef<Expr>({loops[0], loops[2], loops[1]}))
    axis = 0;
  else if (ArrayRef(indices) == ArrayRef<Expr>({loops[1], loops[0], loops[2]}))
    axis = 1;
  else
    return;
  auto layout = PanelsAttr::get(context, axis, width, /*batch=*/0);
  if (shape.size() != 2 || ArrayRef(layout.getStorageShape(shape)) != copy.getInputType(0).getShape())
    return;
  auto isRead = [](OpOperand &use) {
    auto reader = dyn_cast<ComputeOp>(use.getOwner());
    return reader && use.getOperandNumber() < reader.getInputs().size() && !reader.getFill(use.getOperandNumber()) &&
           (isCopy(reader) || getContractionDims(reader));
  };
  if (llvm::none_of(reshape->getUses(), isRead))
    return;
  OpBuilder builder(reshape);
  auto type = graph::TensorType::get(context, shape, copy.getInputType(0).getElementType(), layout);
  Value view = ViewOp::create(builder, reshape.getLoc(), type, copy.getInputs()[0]);
  reshape.getResult().replaceUsesWithIf(view, isRead);
  count(getOperation(), "laid_out", 1);
}

/// Follows a copy to the contraction whose elements it moves.
void LayOutState::viewResult(ComputeOp copy) {
  if (!isCopy(copy) || copy.getFill(0) || !isStorage(copy.getResultType(0)) ||
      !hasTypeOfState(copy.getResult(0), getOperation()))
    return;
  sym::Bounds sizes = getSizeBounds(getOperation());
  LoopSpace space(copy.getExtents(), sizes);
  SmallVector<Expr> indices = getIndices(copy, 0);
  Value source = copy.getInputs()[0];
  ComputeOp sum;
  for (;;) {
    if (!source.hasOneUse())
      return;
    if (auto reshape = source.getDefiningOp<graph::ReshapeOp>()) {
      Value operand = reshape.getOperand();
      indices = space.reshape(indices, graph::getShape(source), graph::getShape(operand));
      source = operand;
      continue;
    }
    sum = source.getDefiningOp<ComputeOp>();
    if (!sum || !isCopy(sum) || sum.getFill(0))
      break;
    indices = llvm::map_to_vector(getIndices(sum, 0),
                                  [&](Expr index) { return space.simplify(substituteLoops(index, indices)); });
    source = sum.getInputs()[0];
  }
  std::optional<ContractionDims> dims = sum ? getContractionDims(sum) : std::nullopt;
  if (!dims || dims->accumulate != Accumulate::multiplyAdd || dims->m.size() != 1 || dims->n.size() != 1 ||
      !dims->batch.empty())
    return;
  MLIRContext *context = &getContext();
  Expr panel = getLoopSymbol(context, 0), row = getLoopSymbol(context, 1), within = getLoopSymbol(context, 2);
  for (int64_t axis : {0, 1}) {
    if (indices[axis] != panel * width + within || indices[1 - axis] != row)
      continue;
    auto layout = PanelsAttr::get(context, axis, width, /*batch=*/0);
    if (ArrayRef(layout.getStorageShape(graph::getShape(sum.getResult(0)))) != graph::getShape(copy.getResult(0)))
      return;
    graph::TensorType type = sum.getResultType(0);
    sum.getResult(0).setType(graph::TensorType::get(context, type.getShape(), type.getElementType(), layout));
    OpBuilder builder(copy);
    Value view = ViewOp::create(builder, copy.getLoc(), copy.getResultType(0), sum.getResult(0));
    copy.getResult(0).replaceAllUsesWith(view);
    count(getOperation(), "laid_out", 1);
    return;
  }
}

} // namespace
