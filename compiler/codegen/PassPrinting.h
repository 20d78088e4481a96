#ifndef FREESTONE_COMPILER_CODEGEN_PASSPRINTING_H
#define FREESTONE_COMPILER_CODEGEN_PASSPRINTING_H

#include "mlir/Pass/PassManager.h"

namespace freestone {

/// Stretches of the way from a model to code, each with a folder of its own: 1-graph to 5-llvm.
enum class Stretch { Graph, Tile, Task, Code, Llvm };

/// Lets `passes` write what each of them changed into the stretch's folder within `folder`, as --mlir-print-ir-tree-dir
/// says; nowhere where that is empty. Every pass manager of the compiler goes through here.
void printPasses(mlir::PassManager &passes, llvm::StringRef folder, Stretch stretch);

} // namespace freestone

#endif // FREESTONE_COMPILER_CODEGEN_PASSPRINTING_H
