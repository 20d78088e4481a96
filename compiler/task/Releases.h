#ifndef FREESTONE_COMPILER_TASK_RELEASES_H
#define FREESTONE_COMPILER_TASK_RELEASES_H

#include "compiler/task/AssumedSizes.h"

namespace freestone::task {

/// How much memory stays taken until phases are known to be done.
class Releases {
public:
  /// Bytes are those at the given sizes.
  Releases(ProgramOp program, const AssumedSizes &sizes);

  /// Those of the arena's buffers that `phase` touches, and none from phase `now` on: their part of all bytes.
  double getPart(int64_t phase, int64_t now) const;

private:
  struct Touched {
    int64_t last; ///< the last phase that touches the buffer
    double part;
  };
  llvm::SmallVector<llvm::SmallVector<Touched, 4>, 0> touched; ///< by phases
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_RELEASES_H
