#include "compiler/codegen/cpu/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace freestone::codegen {
#define GEN_PASS_DEF_MOVEBFLOAT16
#include "compiler/codegen/cpu/Passes.h.inc"
} // namespace freestone::codegen

using namespace mlir;
using namespace freestone;

namespace {

/// bf16, or a vector of it.
bool isBFloat16(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return (vector ? vector.getElementType() : type).isBF16();
}

Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

/// Whether an operation only moves elements, whatever they are.
bool isMove(Operation *op) {
  if (isa<vector::ReductionOp, vector::MultiDimReductionOp, vector::FMAOp, vector::ContractionOp,
          vector::OuterProductOp, memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(op))
    return false;
  return isa<memref::MemRefDialect, scf::SCFDialect, cf::ControlFlowDialect, func::FuncDialect, vector::VectorDialect,
             BuiltinDialect>(op->getDialect()) ||
         isa<arith::SelectOp, arith::ConstantOp>(op);
}

/// Replaces bf16 by i16 in types and constants.
AttrTypeReplacer getReplacer(MLIRContext *context) {
  AttrTypeReplacer replacer;
  auto i16 = IntegerType::get(context, 16);
  replacer.addReplacement([=](BFloat16Type) -> Type { return i16; });
  replacer.addReplacement([=](FloatAttr number) -> std::optional<Attribute> {
    if (!number.getType().isBF16())
      return std::nullopt;
    return IntegerAttr::get(i16, number.getValue().bitcastToAPInt());
  });
  replacer.addReplacement([=](DenseElementsAttr numbers) -> std::optional<Attribute> {
    if (!numbers.getElementType().isBF16())
      return std::nullopt;
    return numbers.bitcast(i16);
  });
  return replacer;
}

struct MoveBFloat16 : codegen::impl::MoveBFloat16Base<MoveBFloat16> {
  using MoveBFloat16Base::MoveBFloat16Base;

  void runOnOperation() override {
    SmallVector<Operation *> moves;
    SmallVector<OpOperand *> operands;
    SmallVector<Value> results;
    getOperation().walk([&](Operation *op) {
      if (isMove(op)) {
        moves.push_back(op);
        return;
      }
      for (OpOperand &operand : op->getOpOperands())
        if (isBFloat16(operand.get().getType()))
          operands.push_back(&operand);
      llvm::append_range(results, llvm::make_filter_range(op->getResults(),
                                                          [](Value result) { return isBFloat16(result.getType()); }));
    });
    AttrTypeReplacer replacer = getReplacer(&getContext());
    for (Operation *op : moves)
      replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);

    // Conversions where an operation that knows bf16 takes what was moved, or gives what is moved.
    OpBuilder builder(&getContext());
    for (OpOperand *operand : operands)
      if (Value value = operand->get(); !isBFloat16(value.getType())) {
        builder.setInsertionPoint(operand->getOwner());
        operand->set(arith::BitcastOp::create(builder, value.getLoc(),
                                              withElement(value.getType(), builder.getBF16Type()), value));
      }
    for (Value result : results) {
      builder.setInsertionPointAfterValue(result);
      Value bits = arith::BitcastOp::create(builder, result.getLoc(),
                                            withElement(result.getType(), builder.getI16Type()), result);
      result.replaceUsesWithIf(bits, [](OpOperand &use) { return isMove(use.getOwner()); });
    }
  }
};

} // namespace
