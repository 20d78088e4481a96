#include "compiler/codegen/cpu/EmitChoice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

void codegen::emitChoice(tile::VariantsTilingAttr tiling, ArrayRef<func::FuncOp> functions, Emission &emission) {
  OpBuilder &builder = emission.builder;
  OpBuilder::InsertionGuard guard(builder);
  ValueRange arguments = builder.getBlock()->getArguments();
  for (func::FuncOp function : functions)
    function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  auto call = [&](func::FuncOp function) { func::CallOp::create(builder, emission.location, function, arguments); };
  for (auto [variant, function] : llvm::zip(tiling.getVariants(), functions)) {
    Value holds = arith::CmpIOp::create(builder, emission.location, arith::CmpIPredicate::sle,
                                        emission.getSize(variant.getSize()), emission.getConstant(variant.getMost()));
    auto branch = scf::IfOp::create(builder, emission.location, holds, /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    call(function);
    builder.setInsertionPointToStart(branch.elseBlock());
  }
  call(functions.back());
}
