#ifndef FREESTONE_COMPILER_TASK_BUFFEROWNERS_H
#define FREESTONE_COMPILER_TASK_BUFFEROWNERS_H

#include "compiler/dialect/task/TaskDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace freestone::task {

/// The loops within whose iterations buffers live, innermost: in each iteration such a buffer is another one. Null for
/// those that live longer than any iteration; buffers that nothing touches have no entry.
llvm::DenseMap<mlir::Value, mlir::Operation *> findOwners(ProgramOp program);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_BUFFEROWNERS_H
