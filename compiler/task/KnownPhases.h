#ifndef FREESTONE_COMPILER_TASK_KNOWNPHASES_H
#define FREESTONE_COMPILER_TASK_KNOWNPHASES_H

#include "compiler/dialect/task/TaskDialect.h"
#include "llvm/ADT/BitVector.h"
#include <functional>

namespace freestone::task {

/// The phases that are done wherever a worker is, on a walk through a program in the order of the text. All workers
/// execute all waits. Where the tiles of a phase are done, so are the phases that it waited for, and earlier ones whose
/// tiles belong to the same workers. Within a loop's body, it is also known which phases of the iteration before are
/// done, by waits of either iteration: whoever has done a phase of one has done all phases of those before.
class KnownPhases {
public:
  /// By phases, in this iteration; and, those of the innermost loop alone, in the one before.
  struct Iterations {
    llvm::BitVector here, before;
  };
  /// Those whose tiles are done. And those that all workers have passed, with tiles or without: they have read what
  /// decides whether to run them.
  struct Known : Iterations {
    Iterations passed;
  };
  using Visit = llvm::function_ref<void(PhaseOp)>;
  using VisitLoop = llvm::function_ref<void(LoopOp)>;

  /// `areDealtAlike` tells whether tile t of two spaces belongs to the same worker.
  KnownPhases(ProgramOp program, std::function<bool(SpaceOp, SpaceOp)> areDealtAlike);

  bool isKnown(int64_t phase) const { return known.here.test(phase); }
  const Known &get() const { return known; }
  /// Before the next phase, all workers wait until all of them have finished an earlier phase.
  void awaitAll(int64_t phase);
  /// Before `op`, all workers wait until the tiles of an earlier phase are done.
  void awaitTiles(mlir::Operation *op, int64_t phase);
  /// Before the next phase, all workers wait until all of them have finished this phase of the iteration before.
  void awaitAgain(int64_t phase);
  /// The waits of a phase, as its edges are.
  void await(PhaseOp phase);
  /// The next phase begins here; returns its number.
  int64_t enter(PhaseOp phase);
  /// The number of the next phase.
  int64_t getNext() const { return next; }
  /// Goes back to what was known before a side of a branch: its other side, and what is behind it, know no more.
  void forget(Known before) { known = std::move(before); }
  /// Goes through a loop's body twice: first without the iteration before, then with what that one has waited for in it
  /// all the same, and what the loop's edges wait for.
  void passLoop(LoopOp loop, llvm::function_ref<void()> pass, llvm::function_ref<void()> passAgain);
  /// Goes back to phase `first`, where this was known.
  void goBack(int64_t first, Known then) {
    next = first;
    known = std::move(then);
  }
  /// Goes through a block with edges; calls `visit` where a phase has waited, behind the edges of all iterations, and
  /// `visitLoop` where a loop of the block or of its branches has waited.
  void pass(mlir::Block &block, Visit visit, VisitLoop visitLoop = {});
  /// What is known where a phase begins.
  const Known &getAt(int64_t phase) const { return knownAt[phase]; }
  /// What is known of the iteration before where the first phase of a body begins.
  const llvm::BitVector &getBeforeBody(LoopOp loop) const { return beforeBody.find(loop)->second; }
  /// By phases of a program with edges and deals: what is known where they begin.
  static std::vector<Known> getAtPhases(ProgramOp program);

private:
  /// The phases of a loop, from `first` up to, and not with, `end`.
  struct Body {
    int64_t first = -1, end = -1;

    bool contains(int64_t phase) const { return first <= phase && phase < end; }
  };

  bool isWithin(int64_t phase, int64_t other) const;

  std::function<bool(SpaceOp, SpaceOp)> areDealtAlike;
  llvm::SmallVector<PhaseOp, 8> phases;
  int64_t next = 0;
  Known known;
  /// Of the innermost loop.
  Body body;
  /// By phases: what is known where its tiles begin.
  std::vector<Known> knownAt;
  llvm::DenseMap<mlir::Operation *, llvm::BitVector> beforeBody;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_KNOWNPHASES_H
