#include "compiler/simplify/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace freestone::graph {

void addSimplifyPipeline(OpPassManager &modules) {
  OpPassManager &functions = modules.nest<func::FuncOp>();
  functions.addPass(createBindSymbols());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createFoldConstants());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createPruneBinders());
}

void registerSimplifyPipeline() {
  PassPipelineRegistration<>("graph-simplify", "Makes graphs smaller and keeps their meaning", addSimplifyPipeline);
}

} // namespace freestone::graph
