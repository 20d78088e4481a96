#ifndef FREESTONE_COMPILER_TASK_DECISIONS_H
#define FREESTONE_COMPILER_TASK_DECISIONS_H

#include "compiler/dialect/task/TaskDialect.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace freestone::task {

/// What data decide in one run of a program: sides of branches, whether loops begin, and whether those of unknown
/// length end an iteration earlier. Each time that a loop or branch is decided within an iteration is a decision of its
/// own.
class Decisions {
public:
  /// How many iterations are looked at, of `trips`: what is known in the third one of both before is known in every
  /// further one, since each has the same waits. Slices rotate by two; behind the loop, the same one is looked at.
  static int64_t countIterations(int64_t trips) { return trips <= 4 ? trips : trips % 2 ? 3 : 4; }
  /// Of an unknown number.
  static constexpr int64_t unknownTrips = 3;

  /// In the runs 0 and 1 decisions alternate, from one or the other on; in 2 and 3 they are all the same.
  explicit Decisions(ProgramOp program, int64_t run = 0);
  /// Runs in which any two decisions fall out in each combination that is possible, with all that lead to them; a
  /// single one if data decide nothing.
  static std::vector<Decisions> cover(ProgramOp program);

  bool isDecided(mlir::Operation *op) const { return deciders.contains(op); }
  /// The first side of a branch, or that a loop begins, in these iterations by the numbers of loops.
  bool take(mlir::Operation *op, llvm::ArrayRef<int64_t> trips) const { return take(getKey(op, trips)); }
  /// Whether a loop ends one iteration before the most.
  bool endsEarly(LoopOp loop, llvm::ArrayRef<int64_t> trips) const { return take(getKey(loop, trips) + 1); }

private:
  friend class PairCover;

  bool take(int64_t key) const;
  /// Odd ones tell how a loop ends.
  int64_t getKey(mlir::Operation *op, llvm::ArrayRef<int64_t> trips) const;

  int64_t run;
  /// The loops and branches that data decide, by their order in the text.
  llvm::DenseMap<mlir::Operation *, int64_t> deciders;
  /// Decisions that are given.
  llvm::DenseMap<int64_t, bool> given;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_DECISIONS_H
