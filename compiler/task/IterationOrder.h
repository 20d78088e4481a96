#ifndef FREESTONE_COMPILER_TASK_ITERATIONORDER_H
#define FREESTONE_COMPILER_TASK_ITERATIONORDER_H

#include "compiler/task/KnownPhases.h"
#include "compiler/task/Meetings.h"
#include "llvm/ADT/SetVector.h"

namespace freestone::task {

/// Writes the edges from the phases of a loop's iteration to those of the next one: of a loop whose phases have their
/// edges within an iteration. What does not depend on the iteration before then begins before that has ended.
class IterationOrder {
public:
  /// Whether a worker touches only what it touched itself, if tile t of both spaces belongs to the same one.
  using StaysOnWorker = std::function<bool(const OperandTouch &later, const OperandTouch &earlier)>;

  /// `first` is the number of the first phase of the body. With the order of `windows` within an iteration, waits are
  /// windows too where it is known which elements tiles touch.
  IterationOrder(LoopOp loop, int64_t first, StaysOnWorker staysOnWorker, WindowOrder *windows = nullptr);

  /// Whether phases may tell what they wait for. Else each iteration comes after all of the one
  /// before: one that determines sizes, by which worker 0 deals the tiles of all phases behind, or with loops within
  /// that data end, since no phase tells that all workers have seen their end.
  static bool mayOverlap(LoopOp loop);
  /// Lets each iteration come after all of the one before.
  void meet() { awaitAgain(end - 1); }
  /// Lets it come after those that write what decides: the loop's condition, and what branches read of the iteration
  /// before.
  void awaitConditions();
  /// Writes the edges of all phases. `known` is at the beginning of the body, and then at its end. Where a phase of
  /// `held` isn't known to be done when an iteration begins, or one that loops within need, the loop waits for it.
  void order(KnownPhases &known, llvm::ArrayRef<int64_t> held = {});
  /// The number of windows of all phases.
  int64_t countWindows();

private:
  struct Touch {
    int64_t phase;
    OperandTouch touch;
  };
  void collect();
  void awaitAgain(int64_t phase);
  bool mayNarrow(PhaseOp phase, const Touch &before);
  bool isOrdered(PhaseOp phase, int64_t before);
  void clear(PhaseOp phase);
  bool isWithin(PhaseOp phase);
  bool awaits(const OperandTouch &touch, const Touch &before, const KnownPhases &known,
              const KnownPhases::Known &older);
  void order(PhaseOp phase, KnownPhases &known, const KnownPhases::Known &older);
  int64_t findMissing(LoopOp inner, const KnownPhases &known, const KnownPhases::Known &older);
  int64_t pass(KnownPhases &known);

  LoopOp loop;
  /// Those of the body.
  llvm::SmallVector<PhaseOp, 8> phases;
  int64_t first, end;
  StaysOnWorker staysOnWorker;
  WindowOrder *windows;
  /// By buffers.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Touch, 4>> touches;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_ITERATIONORDER_H
