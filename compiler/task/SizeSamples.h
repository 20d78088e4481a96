#ifndef FREESTONE_COMPILER_TASK_SIZESAMPLES_H
#define FREESTONE_COMPILER_TASK_SIZESAMPLES_H

#include "compiler/dialect/task/TaskDialect.h"
#include <map>
#include <string>
#include <vector>

namespace freestone::task {

/// The sizes of one run: of every symbol of a program, and of its definitions.
struct RunSizes {
  using Values = std::map<std::string, int64_t, std::less<>>;
  /// At the beginning of the run: symbols determined at run time count as their upper bounds.
  Values bound;
  /// At the end of the run.
  Values found;
};

/// A few runs within the bounds and assertions of `program`: with the smallest sizes, with coprime ones, small, larger,
/// and large enough that every loop has several tiles. One run if nothing is symbolic; none if no attempt satisfies the
/// assertions.
std::vector<RunSizes> sampleSizes(ProgramOp program);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_SIZESAMPLES_H
