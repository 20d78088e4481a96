#ifndef FREESTONE_COMPILER_TASK_SIZESAMPLES_H
#define FREESTONE_COMPILER_TASK_SIZESAMPLES_H

#include "compiler/dialect/task/TaskDialect.h"
#include <map>
#include <string>
#include <vector>

namespace freestone::task {

/// The sizes of one run: of every symbol of a program, and of what is defined by them.
struct RunSizes {
  using Values = std::map<std::string, int64_t, std::less<>>;
  /// As they are when the run begins: what it is to find out counts as its upper bound.
  Values bound;
  /// As the run finds them.
  Values found;
};

/// A few runs that bounds and assertions of `program` allow: with the smallest sizes, with ones that share no
/// divisor, small, larger, and so large that every loop has several tiles. One where nothing is symbolic; none where
/// the assertions can't be met by trying.
std::vector<RunSizes> sampleSizes(ProgramOp program);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_SIZESAMPLES_H
