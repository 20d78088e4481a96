#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/interpreter/Interpreter.h"
#include "compiler/interpreter/StoredElements.h"
#include "compiler/simplify/Passes.h"
#include "compiler/weights/WeightStore.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/Threading.h"

using namespace mlir;

namespace freestone::graph {

#define GEN_PASS_DEF_FOLDCONSTANTS
#include "compiler/simplify/Passes.h.inc"

namespace {

struct FoldConstantsPass : impl::FoldConstantsBase<FoldConstantsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    // In program order, so that folded operators make their users foldable.
    for (Operation *op : ops)
      if (isCandidate(op))
        fold(op);
  }

private:
  bool isCandidate(Operation *op) {
    return isa_and_present<GraphDialect>(op->getDialect()) && op->getNumRegions() == 0 && isPure(op) &&
           op->getNumResults() > 0 && op->getNumOperands() > 0 && !isa<BarrierOp>(op) &&
           llvm::all_of(op->getOperands(), [](Value operand) { return operand.getDefiningOp<ConstantOp>(); });
  }

  void fold(Operation *op) {
    // Pointwise operators on splats give splats, whatever the sizes are.
    bool placewise = isa<UnaryOp, BinaryOp, CompareOp, SelectOp, CastOp>(op);
    bool splats = placewise && llvm::all_of(op->getOperands(), [](Value operand) {
                    return operand.getDefiningOp<ConstantOp>().isSplat();
                  });
    auto isSmall = [](Type type) {
      std::optional<int64_t> count = cast<TensorType>(type).getNumElements().asConstant();
      return count && *count <= ConstantOp::maxElements && cast<TensorType>(type).getStaticShape();
    };
    if (!splats && !(llvm::all_of(op->getResultTypes(), isSmall) && llvm::all_of(op->getOperandTypes(), isSmall)))
      return;
    FailureOr<std::vector<interpreter::HostTensor>> results = evaluate(op, splats);
    if (failed(results))
      return;
    OpBuilder builder(op);
    for (auto [result, host] : llvm::zip_equal(op->getResults(), *results)) {
      auto type = cast<TensorType>(result.getType());
      auto shape = RankedTensorType::get(host.dims, host.elementType);
      result.replaceAllUsesWith(ConstantOp::create(builder, op->getLoc(), type, toAttribute(shape, host)));
    }
    op->erase();
    ++numFolded;
  }

  /// Evaluates the operator alone, on its constants or on the scalars of its splats.
  FailureOr<std::vector<interpreter::HostTensor>> evaluate(Operation *op, bool onScalars) {
    OpBuilder builder(&getContext());
    Location location = op->getLoc();
    auto typeOf = [&](Type type) { return onScalars ? cast<TensorType>(type).withShape({}) : cast<TensorType>(type); };
    SmallVector<Type> types =
        llvm::map_to_vector(op->getResultTypes(), [&](Type type) -> Type { return typeOf(type); });
    OwningOpRef<func::FuncOp> function =
        func::FuncOp::create(builder, location, "folded", builder.getFunctionType({}, types));
    builder.setInsertionPointToStart(function->addEntryBlock());
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      auto value = cast<DenseElementsAttr>(operand.getDefiningOp<ConstantOp>().getValue());
      mapping.map(operand, ConstantOp::create(builder, location, typeOf(operand.getType()), value));
    }
    Operation *copy = builder.clone(*op, mapping);
    for (auto [result, type] : llvm::zip_equal(copy->getResults(), types))
      result.setType(type);
    func::ReturnOp::create(builder, location, copy->getResults());

    // A failure here (an index out of range) happens again at run time, which reports it.
    ScopedDiagnosticHandler quiet(&getContext(), [thread = llvm::get_threadid()](Diagnostic &) {
      return success(thread == llvm::get_threadid());
    });
    return interpreter::interpret(*function, {}, WeightStore());
  }

  static DenseElementsAttr toAttribute(RankedTensorType type, const interpreter::HostTensor &host) {
    if (isSubByte(type.getElementType())) {
      std::vector<char> unpacked = interpreter::unpackBytes(type.getElementType(), host.bytes, type.getNumElements());
      return DenseElementsAttr::getFromRawBuffer(type, unpacked);
    }
    if (!type.getElementType().isInteger(1))
      return DenseElementsAttr::getFromRawBuffer(type, host.bytes);
    SmallVector<bool> values = llvm::map_to_vector(host.bytes, [](char byte) { return byte != 0; });
    return DenseElementsAttr::get(type, ArrayRef<bool>(values));
  }
};

} // namespace

} // namespace freestone::graph
