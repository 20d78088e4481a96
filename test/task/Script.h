#ifndef FREESTONE_TEST_TASK_SCRIPT_H
#define FREESTONE_TEST_TASK_SCRIPT_H

#include "compiler/task/AwaitedWorkers.h"
#include <vector>

namespace freestone::test {

/// Elements in memory.
struct Place {
  uint64_t *data = nullptr;
  int64_t size = 0;
};

/// A buffer or slice as operand of a space. `chunk` is 0 if a tile may touch any elements; so many tiles share each.
struct Operand {
  Place place;
  int64_t chunk = 0, sharing = 1;
};

struct Space {
  task::SpaceOp op;
  int64_t tiles;
  std::vector<Operand> inputs, outputs;
  /// Of a claimed phase: the tiles that no worker has taken.
  std::vector<int64_t> left;
};

/// Other workers must have published a number at least as great.
struct Wait {
  /// All workers; those with tiles of a phase; those of a window, of ~p of the iteration before.
  enum Kind { all, tiles, window } kind;
  int64_t number, phase;
};

/// What a worker does between two looks at the others: a phase, a test of a loop, a branch or the end of a side.
struct Move {
  std::vector<Wait> waits;
  /// Read by every worker behind the waits.
  const uint64_t *condition = nullptr;
  /// -1 without spaces.
  int64_t phase = -1;
  bool isClaimed = false;
  std::vector<Space> spaces;
  /// The progress number behind the move; 0: none.
  int64_t published = 0;
};

/// The moves of a run, which are those of every worker: loops and branches as `decide` tells, progress numbers as
/// compiled code counts them, slices of the iterations. `decide` is asked for a side, or whether a further iteration
/// begins; it is called in the order of the run.
std::vector<Move> makeScript(task::ProgramOp program, const task::AwaitedWorkers &awaited, bool claims,
                             llvm::function_ref<Place(task::BufferOp)> placeOf, task::Dealing::Valuation valueOf,
                             llvm::function_ref<bool(mlir::Operation *)> decide);

} // namespace freestone::test

#endif // FREESTONE_TEST_TASK_SCRIPT_H
