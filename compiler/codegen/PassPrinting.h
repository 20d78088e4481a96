#ifndef FREESTONE_COMPILER_CODEGEN_PASSPRINTING_H
#define FREESTONE_COMPILER_CODEGEN_PASSPRINTING_H

#include "mlir/Pass/PassManager.h"

namespace freestone {

/// Stages from a model to code, each with its own folder: 1-graph to 5-llvm.
enum class Stretch { Graph, Tile, Task, Code, Llvm };

/// Makes `passes` write the module after every pass that changed it into the stage's folder within `folder`, as of
/// --mlir-print-ir-tree-dir; an empty `folder` disables it. Every pass manager of the compiler calls this.
void printPasses(mlir::PassManager &passes, llvm::StringRef folder, Stretch stretch);

} // namespace freestone

#endif // FREESTONE_COMPILER_CODEGEN_PASSPRINTING_H
