#include "compiler/codegen/cpu/EmitTree.h"
#include "compiler/codegen/cpu/LowerToObject.h"
#include "compiler/codegen/cpu/Passes.h"
#include "compiler/plan/Plans.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace freestone::codegen {
#define GEN_PASS_DEF_EMITPROGRAMS
#include "compiler/codegen/cpu/Passes.h.inc"
} // namespace freestone::codegen

using namespace mlir;
using namespace freestone;

namespace {

struct EmitPrograms : codegen::impl::EmitProgramsBase<EmitPrograms> {
  using EmitProgramsBase::EmitProgramsBase;

  void runOnOperation() override {
    codegen::UsedKernels kernels;
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<tile::ProgramOp>())) {
      if (failed(tile::verifyPlan(program)))
        return signalPassFailure();
      OpBuilder builder(program);
      auto module = ModuleOp::create(builder, program.getLoc(), program.getSymName());
      builder.setInsertionPointToStart(module.getBody());
      if (failed(codegen::emitTree(builder, program, program.getSymName(), kernels)))
        return signalPassFailure();
      program.erase();
    }
    kernels.emit(getOperation());
    if (!reduceShortLoops)
      mark(codegen::allLoopsAttribute);
    if (!storeConstants)
      mark(codegen::constantsInRegistersAttribute);
  }

  /// Adds an LLVM attribute to all functions.
  void mark(StringRef attribute) {
    getOperation().walk([&](FunctionOpInterface function) {
      SmallVector<Attribute> attributes;
      if (auto already = function->getAttrOfType<ArrayAttr>("passthrough"))
        llvm::append_range(attributes, already);
      attributes.push_back(StringAttr::get(function.getContext(), attribute));
      function->setAttr("passthrough", ArrayAttr::get(function.getContext(), attributes));
    });
  }
};

} // namespace
