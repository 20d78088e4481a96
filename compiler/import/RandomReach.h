#ifndef FREESTONE_COMPILER_IMPORT_RANDOMREACH_H
#define FREESTONE_COMPILER_IMPORT_RANDOMREACH_H

#include "compiler/import/ImportOnnx.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace freestone::importer {

/// Tells each node that draws random numbers which of the model's outputs, the first results of `main`, depend on what
/// it draws.
void findReach(mlir::func::FuncOp main, llvm::ArrayRef<std::string> outputs, std::vector<RandomNode> &nodes);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_RANDOMREACH_H
