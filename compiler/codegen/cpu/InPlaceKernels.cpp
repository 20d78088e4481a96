#include "compiler/codegen/cpu/InPlaceKernels.h"

#include "compiler/codegen/cpu/InPlaceKernelEmitter.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

static std::string getName(const InPlaceKernel &kernel) {
  std::string name = kernel.kind == InPlaceKind::updates ? "dot_updates_" : "inner_products_";
  return name + kernel.layout.factors.getName() + getResultSuffix(kernel.result);
}

func::FuncOp freestone::codegen::declareInPlace(ModuleOp module, const InPlaceKernel &kernel) {
  std::string name = "freestone_" + getName(kernel);
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Type> types = {i64, i64, i64, pointer, pointer, i64, pointer, i64, pointer};
  if (kernel.kind == InPlaceKind::innerProducts)
    types = {i64, i64, i64, pointer, i64, pointer, i64, i64, pointer, i64, pointer};
  else
    types.push_back(i64);
  if (kernel.result)
    types.append({pointer, i64});
  auto declaration = func::FuncOp::create(builder, module.getLoc(), name, builder.getFunctionType(types, {}));
  declaration.setPrivate();
  return declaration;
}

void freestone::codegen::emitInPlaceKernel(ModuleOp module, const InPlaceKernel &kernel) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  InPlaceKernelEmitter emitter(ModuleOp::create(builder, module.getLoc(), getName(kernel)), kernel);
  if (kernel.kind == InPlaceKind::updates)
    emitter.emitUpdates();
  else
    emitter.emitInnerProducts();
}
