#include "compiler/codegen/cpu/EmitContraction.h"
#include "compiler/codegen/cpu/EmitConvolution.h"
#include "compiler/codegen/cpu/EmitKernelGradient.h"
#include "compiler/codegen/cpu/EmitMap.h"
#include "compiler/codegen/cpu/EmitOpaque.h"
#include "compiler/codegen/cpu/EmitPairs.h"
#include "compiler/codegen/cpu/EmitRows.h"
#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/PairKernels.h"
#include "compiler/codegen/cpu/Passes.h"

namespace freestone::codegen {
#define GEN_PASS_DEF_EMITPROGRAMS
#include "compiler/codegen/cpu/Passes.h.inc"
} // namespace freestone::codegen

using namespace mlir;
using namespace freestone;

namespace {

using Emitter = LogicalResult (*)(tile::ProgramOp, codegen::Emission &);

struct EmitPrograms : codegen::impl::EmitProgramsBase<EmitPrograms> {
  using EmitProgramsBase::EmitProgramsBase;

  void runOnOperation() override {
    llvm::Expected<DeviceDescription> device = DeviceDescription::get(target);
    if (!device) {
      getOperation().emitError(llvm::toString(device.takeError()));
      return signalPassFailure();
    }
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<tile::ProgramOp>()))
      if (failed(emit(program, *device)))
        return signalPassFailure();
    emitCalledKernels(*device);
  }

  LogicalResult emit(tile::ProgramOp program, const DeviceDescription &device) {
    if (!program.getPlan())
      return program.emitOpError("has no plan; run tile-cut first");
    auto emitter = llvm::StringSwitch<Emitter>(program.getEmitter())
                       .Case("contraction", codegen::emitContraction)
                       .Case("convolution", codegen::emitConvolution)
                       .Case("kernel_gradient", codegen::emitKernelGradient)
                       .Case("map", codegen::emitMap)
                       .Case("rows", codegen::emitRows)
                       .Case("opaque", codegen::emitOpaque)
                       .Case("pairs", codegen::emitPairs)
                       .Default(nullptr);
    if (!emitter)
      return program.emitOpError("is planned for the emitter '") << program.getEmitter() << "', which does not exist";
    OpBuilder builder(program);
    auto module = ModuleOp::create(builder, program.getLoc(), program.getSymName());
    builder.setInsertionPointToStart(module.getBody());
    codegen::Emission emission(builder, program, device);
    if (failed(emitter(program, emission)))
      return failure();
    emission.finish();
    program.erase();
    return success();
  }

  void emitCalledKernels(const DeviceDescription &device) {
    Builder builder(&getContext());
    for (Type type : {Type(builder.getF32Type()), Type(builder.getF64Type()), Type(builder.getI32Type()),
                      Type(builder.getI64Type())})
      for (auto kind : {codegen::KernelKind::contract, codegen::KernelKind::window}) {
        std::string name = codegen::getKernelName(kind, type);
        bool called = llvm::any_of(getOperation().getOps<ModuleOp>(),
                                   [&](ModuleOp module) { return module.lookupSymbol(name) != nullptr; });
        if (called)
          codegen::emitMicroKernels(getOperation(), kind, type, device);
      }
    if (llvm::any_of(getOperation().getOps<ModuleOp>(), codegen::callsPairFunctions))
      codegen::emitPairKernels(getOperation(), device);
  }
};

} // namespace
