#include "compiler/driver/Registration.h"

#include "compiler/codegen/cpu/Passes.h"
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/task/TaskDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/grad/Passes.h"
#include "compiler/pipe/Passes.h"
#include "compiler/simplify/Passes.h"
#include "compiler/task/Passes.h"
#include "compiler/tile/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void freestone::registerAllDialects(DialectRegistry &registry) {
  graph::registerGraphDialects(registry);
  registry.insert<tile::TileDialect, task::TaskDialect, arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void freestone::registerAllPasses() {
  graph::registerSimplifyPasses();
  graph::registerSimplifyPipeline();
  grad::registerGradPasses();
  tile::registerTilePasses();
  task::registerTaskPasses();
  pipe::registerPipePasses();
  codegen::registerCodegenCpuPasses();
  registerCanonicalizerPass();
  registerCSEPass();
}
