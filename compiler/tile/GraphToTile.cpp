#include "compiler/tile/Passes.h"

#include "compiler/tile/Counters.h"
#include "compiler/tile/lowering/Lowering.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace freestone::tile {
#define GEN_PASS_DEF_GRAPHTOTILE
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

namespace {

/// Records a pattern's last reason for refusing an operator.
struct ReasonListener : RewriterBase::Listener {
  void notifyMatchFailure(Location, function_ref<void(Diagnostic &)> callback) override {
    Diagnostic diagnostic(UnknownLoc::get(context), DiagnosticSeverity::Remark);
    callback(diagnostic);
    reason = diagnostic.str();
  }

  MLIRContext *context;
  std::string reason;
};

bool staysInTile(Operation *op) {
  return isa<graph::ReshapeOp, graph::BarrierOp, graph::WeightOp, graph::ConstantOp, graph::CallOp>(op);
}

/// A compute that writes a tensor to memory: a splat, or a copy.
Value createFilled(OpBuilder &builder, Value tensor) {
  ComputeBuilder compute(builder, tensor.getLoc(), graph::getShape(tensor));
  unsigned operand = compute.read(tensor);
  return compute.create(graph::getElementType(tensor), [&](ComputeBody &body) { return body.input(operand); })
      ->getResult(0);
}

class GraphToTile : public tile::impl::GraphToTileBase<GraphToTile> {
public:
  using GraphToTileBase::GraphToTileBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateElementwisePatterns(set);
    populateMovementPatterns(set);
    populateSubBytePatterns(set);
    populateGatherPatterns(set);
    populateReductionPatterns(set);
    populateContractionPatterns(set);
    populateConvolutionPatterns(set, residueClasses);
    populateWindowPatterns(set);
    populateSourcePatterns(set);
    populateScatterPatterns(set);
    populateOrderingPatterns(set);
    populateCumulatePatterns(set);
    populateSelectionPatterns(set);
    populateRandomPatterns(set);
    populateUniquePatterns(set);
    populateSuppressionPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    if (failed(lowerOperators()))
      return signalPassFailure();
    materializeSplats();
  }

private:
  bool isWanted(Operation *op) {
    return only.empty() || llvm::is_contained(ArrayRef<std::string>(*only), op->getName().getStringRef());
  }

  LogicalResult lowerOperators();
  void materializeSplats();

  FrozenRewritePatternSet patterns;
};

LogicalResult GraphToTile::lowerOperators() {
  ReasonListener listener;
  listener.context = &getContext();
  PatternApplicator applicator(patterns);
  applicator.applyDefaultCostModel();
  PatternRewriter rewriter(&getContext());
  rewriter.setListener(&listener);
  SmallVector<Operation *> operators;
  for (Operation &op : getOperation().getBody().front())
    if (isa<graph::GraphDialect>(op.getDialect()) && !staysInTile(&op) && isWanted(&op))
      operators.push_back(&op);
  for (Operation *op : operators) {
    if (op->use_empty() && isMemoryEffectFree(op)) {
      rewriter.eraseOp(op);
      continue;
    }
    listener.reason = "no compute is known for it";
    rewriter.setInsertionPoint(op);
    StringRef name = op->getName().getStringRef();
    Location location = op->getLoc();
    if (failed(applicator.matchAndRewrite(op, rewriter)))
      return emitError(location) << "'" << name << "' can't be lowered to loops: " << listener.reason;
    count(getOperation(), "lowered", 1);
  }
  return success();
}

/// Computes contain splats as values of their bodies; other users need them in memory. Folding has moved constants to
/// the beginning; what binds the symbols of their sizes is before their first user.
void GraphToTile::materializeSplats() {
  OpBuilder builder(&getContext());
  for (auto constant : llvm::make_early_inc_range(getOperation().getBody().front().getOps<graph::ConstantOp>())) {
    Value tensor = constant.getResult();
    if (tensor.use_empty()) {
      constant.erase();
      continue;
    }
    if (!constant.isSplat() || !only.empty())
      continue;
    Block *block = constant->getBlock();
    Operation *first = block->getTerminator();
    for (Operation *user : tensor.getUsers())
      if (Operation *op = block->findAncestorOpInBlock(*user); op->isBeforeInBlock(first))
        first = op;
    builder.setInsertionPoint(first);
    Value filled = createFilled(builder, tensor);
    tensor.replaceAllUsesWith(filled);
    constant.erase();
  }
}

} // namespace
