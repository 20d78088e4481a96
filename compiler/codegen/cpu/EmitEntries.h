#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EMITENTRIES_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EMITENTRIES_H

#include "compiler/dialect/task/TaskDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace freestone::codegen {

/// Builds a module with the artifact's exported table and, for each entry, its `bind` and `run` as of
/// runtime/artifact/abi.h. Programs are called as external functions of their name. Dialects of the result: llvm,
/// arith, scf.
mlir::OwningOpRef<mlir::ModuleOp> emitEntries(llvm::ArrayRef<task::ProgramOp> entries);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EMITENTRIES_H
