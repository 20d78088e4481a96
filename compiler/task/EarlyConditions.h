#ifndef FREESTONE_COMPILER_TASK_EARLYCONDITIONS_H
#define FREESTONE_COMPILER_TASK_EARLYCONDITIONS_H

#include "compiler/dialect/task/TaskDialect.h"

namespace freestone::task {

/// Moves phases of one tile that conditions follow from before the loops and branches of their block that they do not
/// depend on. Workers then wait for several conditions at once, and long before they need most of them. Returns the
/// number of phases moved.
int64_t moveConditionsAhead(ProgramOp program);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_EARLYCONDITIONS_H
