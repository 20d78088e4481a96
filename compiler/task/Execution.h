#ifndef FREESTONE_COMPILER_TASK_EXECUTION_H
#define FREESTONE_COMPILER_TASK_EXECUTION_H

#include "compiler/task/Decisions.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace freestone::task {

/// A run of a program: what every worker executes, in order, with loops and branches as some data decide.
class Execution {
public:
  using Valuation = llvm::function_ref<std::optional<int64_t>(llvm::StringRef)>;

  /// Loops have at most some iterations, and as many where their number is unknown.
  Execution(ProgramOp program, Valuation valueOf, const Decisions &decisions);

  /// A phase; or a loop or branch, when it is decided.
  struct Step {
    mlir::Operation *op;
    /// The number of the phase; -1: none.
    int64_t phase;
    /// By the numbers of loops: their iteration, and the step that began it, -1 outside of the loop. By those of turns:
    /// how many have been taken.
    llvm::SmallVector<int64_t, 2> trips, begins;
  };
  llvm::ArrayRef<Step> getSteps() const { return steps; }
  /// known[i]: the steps that are done while any worker is in step i. All workers execute all waits, which hold in
  /// later steps, since progress numbers only grow; where tiles of a phase are done, so are the steps that it waited
  /// for, and earlier ones of the same workers. Windows tell nothing, unless their phases are `wide`: they then wait for
  /// all workers. By the edges as they are when it is called.
  std::vector<llvm::BitVector> getKnown(const llvm::BitVector &wide = llvm::BitVector()) const;
  /// earlier[i]: the steps that step i comes after by edges of any kind, directly or not, even if only some of their
  /// tiles or of its own do; `known` are those that are done.
  std::vector<llvm::BitVector> getEarlier(std::vector<llvm::BitVector> known) const;
  /// The latest step before `step` that executed the phase of this number; -1: none.
  int64_t getLatest(int64_t phase, int64_t step) const;
  /// The step that began the iteration of the innermost loop around a step, with which a loop's own step begins or ends
  /// one; -1 in the first iteration, which comes after none.
  int64_t getBegin(int64_t step) const;
  /// "phase 3 'fc1'"
  std::string describe(int64_t step) const;

private:
  int64_t getComplete(int64_t phase, int64_t step) const;
  bool isPassed(const Step &step, int64_t phase) const;
  void addBlock(mlir::Block &block);
  void addLoop(LoopOp loop);
  void addStep(mlir::Operation *op, int64_t phase = -1) { steps.push_back({op, phase, trips, begins}); }

  Valuation valueOf;
  Decisions decisions;
  /// The phases of a loop or branch, from `first` to `last`.
  struct Phases {
    int64_t first, last;
  };
  /// Of loops and branches that have some.
  llvm::DenseMap<mlir::Operation *, Phases> within;
  llvm::SmallVector<PhaseOp, 8> phases;
  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
  llvm::SmallVector<int64_t, 2> trips, begins;
  std::vector<Step> steps;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_EXECUTION_H
