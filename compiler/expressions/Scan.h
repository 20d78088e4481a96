#ifndef FREESTONE_COMPILER_EXPRESSIONS_SCAN_H
#define FREESTONE_COMPILER_EXPRESSIONS_SCAN_H

#include "compiler/expressions/FunctionBuilder.h"

namespace freestone::expressions {

/// The operation with results, which are known only once its regions are built: they move into it.
template <typename Op> Op withResults(FunctionBuilder &builder, Op before, llvm::ArrayRef<mlir::Type> results) {
  mlir::OperationState state(builder.getLoc(), Op::getOperationName());
  state.addOperands(before->getOperands());
  state.addTypes(results);
  state.addAttributes(before->getAttrs());
  state.propertiesAttr = before->getPropertiesAsAttribute();
  for (mlir::Region &region : before->getRegions())
    state.addRegion()->takeBody(region);
  auto after = llvm::cast<Op>(builder.insert(mlir::Operation::create(state)));
  before->erase();
  builder.check(after);
  return after;
}

/// Runs `body` for every slice of tensors along their first dimension, of equal sizes: a `graph.scan`. It gets the
/// carried values and the slices, and gives the next carried values, then values to collect. Returns the last carried
/// values, then the collected ones along a new first dimension; nothing if a tensor was refused, or the type of what is
/// carried changes from one step to the next.
std::vector<Tensor> scan(FunctionBuilder &builder, llvm::ArrayRef<Tensor> carried, llvm::ArrayRef<Tensor> scanned,
                         llvm::function_ref<std::vector<Tensor>(llvm::ArrayRef<Tensor>)> body);

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_SCAN_H
