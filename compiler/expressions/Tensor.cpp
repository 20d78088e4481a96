#include "compiler/expressions/Tensor.h"
#include "compiler/expressions/GraphBuilder.h"

using namespace llvm;

namespace freestone::expressions {

Tensor::Tensor(GraphBuilder &builder, mlir::Value value) : Tensor(builder.fromValue(value)) {}

const Content *Tensor::constant() const {
  const Content *known = content();
  return known && llvm::all_of(*known, [](const Element &e) { return e.isConstant(); }) ? known : nullptr;
}

bool Tensor::isStatic() const {
  return llvm::all_of(shape(), [](Expr extent) { return extent.isConstant(); });
}

Expr Tensor::elementCount() const {
  Expr count = builder().size(1);
  for (Expr extent : shape())
    count = count * extent;
  return count;
}

mlir::Value Tensor::value() const { return state ? builder().materialize(*this) : mlir::Value(); }

} // namespace freestone::expressions
