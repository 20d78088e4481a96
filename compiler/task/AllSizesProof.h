#ifndef FREESTONE_COMPILER_TASK_ALLSIZESPROOF_H
#define FREESTONE_COMPILER_TASK_ALLSIZESPROOF_H

#include "compiler/dialect/task/TaskDialect.h"
#include <optional>
#include <string>

namespace freestone::task {

/// Proves the order of a program with planned memory for all sizes and any number of workers: that any two accesses of
/// one buffer, at least one of them a write, are joined by an edge, and ordered by a wait, or are those of the same
/// tiles of one deal to the same elements; and that all accesses of a buffer are known to be done before those of
/// another one begin that may share its memory. Extents have no part in it but for the slices of views, which are taken
/// to be as large as their steps at most. Loops have as many iterations as slices need to rotate, or none, since each
/// further one has the same waits; any two branches take their sides in each combination. Returns nothing, or a
/// sentence that names what only the sizes of a run can tell.
std::optional<std::string> findUnproved(ProgramOp program);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_ALLSIZESPROOF_H
