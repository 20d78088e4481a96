#include "compiler/expressions/Scan.h"

using namespace llvm;

namespace freestone::expressions {

std::vector<Tensor> scan(FunctionBuilder &builder, ArrayRef<Tensor> carried, ArrayRef<Tensor> scanned,
                         function_ref<std::vector<Tensor>(ArrayRef<Tensor>)> body) {
  auto valueOf = [](Tensor tensor) { return tensor.value(); };
  SmallVector<mlir::Value> states = map_to_vector(carried, valueOf), sequences = map_to_vector(scanned, valueOf);
  Expr steps = scanned.front().dim(0);
  auto op = graph::ScanOp::create(builder, builder.getLoc(), mlir::TypeRange(), states, sequences);
  SmallVector<mlir::Type> results;
  auto build = [&] {
    mlir::OpBuilder::InsertionGuard guard(builder);
    mlir::Block *block = builder.createBlock(&op.getBody());
    std::vector<Tensor> arguments;
    auto addArgument = [&](graph::TensorType type) {
      arguments.push_back(builder.fromValue(block->addArgument(type, builder.getLoc())));
    };
    for (Tensor state : carried)
      addArgument(state.type());
    for (Tensor sequence : scanned)
      addArgument(sequence.type().withShape(sequence.shape().drop_front()));
    FunctionBuilder::RegionScope inside(builder);
    std::vector<Tensor> made = body(arguments);
    if (builder.stopped() || made.empty())
      return false;
    SmallVector<mlir::Value> values = map_to_vector(made, valueOf);
    builder.create<graph::YieldOp>(values);
    for (auto [index, value] : enumerate(values)) {
      auto type = cast<graph::TensorType>(value.getType());
      Shape shape(type.getShape());
      if (index >= carried.size())
        shape.insert(shape.begin(), steps);
      results.push_back(type.withShape(shape));
    }
    return llvm::equal(ArrayRef(results).take_front(states.size()), mlir::TypeRange(mlir::ValueRange(states)));
  };
  if (!build()) {
    op->erase();
    return {};
  }
  op = withResults(builder, op, results);
  std::vector<Tensor> tensors;
  for (mlir::Value result : op->getResults())
    tensors.push_back(builder.fromValue(result));
  return tensors;
}

} // namespace freestone::expressions
