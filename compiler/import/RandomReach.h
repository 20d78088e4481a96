#ifndef FREESTONE_COMPILER_IMPORT_RANDOMREACH_H
#define FREESTONE_COMPILER_IMPORT_RANDOMREACH_H

#include "compiler/import/ImportOnnx.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace freestone::importer {

/// Finds, for each node with random numbers, the model's outputs (the first results of `main`) that depend on them.
void findReach(mlir::func::FuncOp main, llvm::ArrayRef<std::string> outputs, std::vector<RandomNode> &nodes);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_RANDOMREACH_H
