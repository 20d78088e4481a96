#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/simplify/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace freestone::graph {

#define GEN_PASS_DEF_PACKBOUNDARY
#include "compiler/simplify/Passes.h.inc"

namespace {

struct PackBoundaryPass : impl::PackBoundaryBase<PackBoundaryPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate())
      return;
    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(&function.getBody().front());
    for (BlockArgument argument : function.getArguments())
      unpack(builder, argument);
    function.walk([&](WeightOp weight) {
      builder.setInsertionPointAfter(weight);
      unpack(builder, weight.getResult());
    });
    Operation *terminator = function.getBody().front().getTerminator();
    builder.setInsertionPoint(terminator);
    for (OpOperand &result : terminator->getOpOperands())
      if (isPlainSubByte(result.get().getType())) {
        result.set(builder.createOrFold<PackOp>(result.get().getLoc(), result.get()));
        ++numPacked;
      }
    function.setType(
        builder.getFunctionType(function.getBody().front().getArgumentTypes(), terminator->getOperandTypes()));
  }

private:
  static bool isPlainSubByte(Type type) {
    auto tensor = dyn_cast<TensorType>(type);
    return tensor && !tensor.getLayout() && isSubByte(tensor.getElementType());
  }

  /// Gives a value the packed layout, and its uses the elements one by one.
  void unpack(OpBuilder &builder, Value value) {
    if (!isPlainSubByte(value.getType()))
      return;
    auto type = cast<TensorType>(value.getType());
    value.setType(
        TensorType::get(&getContext(), type.getShape(), type.getElementType(), PackedAttr::get(&getContext())));
    auto unpacked = UnpackOp::create(builder, value.getLoc(), value);
    value.replaceAllUsesExcept(unpacked, unpacked);
    ++numPacked;
  }
};

} // namespace

} // namespace freestone::graph
