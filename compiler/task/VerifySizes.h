#ifndef FREESTONE_COMPILER_TASK_VERIFYSIZES_H
#define FREESTONE_COMPILER_TASK_VERIFYSIZES_H

#include "compiler/dialect/task/TaskDialect.h"

namespace freestone::task {

/// Verifies that each phase comes behind those that bind the run-time symbols of its sizes, also by definitions.
llvm::LogicalResult verifySizes(ProgramOp program);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_VERIFYSIZES_H
