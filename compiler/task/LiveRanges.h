#ifndef FREESTONE_COMPILER_TASK_LIVERANGES_H
#define FREESTONE_COMPILER_TASK_LIVERANGES_H

#include "compiler/task/KnownPhases.h"
#include "llvm/ADT/SetVector.h"

namespace freestone::task {

/// The live ranges of the buffers of a program with edges. Windows tell nothing of when touches are done.
class LiveRanges {
public:
  explicit LiveRanges(ProgramOp program);

  /// The first phase that touches the buffer, and the one from which on all touches are known to be done, wherever a
  /// worker is; nothing if no phase touches it.
  std::optional<std::pair<int64_t, int64_t>> get(BufferOp buffer) const;
  int64_t getNumPhases() const { return numPhases; }

private:
  /// The phases that touch a buffer, and the range around them.
  struct Touched {
    int64_t first = -1, last = -1;
    llvm::SmallSetVector<int64_t, 4> phases;

    void touch(int64_t phase) {
      if (first < 0)
        first = phase;
      last = phase;
      phases.insert(phase);
    }
  };

  /// The phases of a loop, from `first` up to, and not with, `end`. Those of `open` aren't known to be done when the
  /// next iteration begins.
  struct Range {
    int64_t first, end, loop;
    llvm::BitVector open;

    bool contains(const Touched &touched) const { return first <= touched.first && touched.last < end; }
    bool meets(const Touched &touched) const { return first <= touched.last && touched.first < end; }
  };

  void collect(mlir::Block &block);
  void collect(PhaseOp phase);
  void collect(LoopOp loop);
  void touch(mlir::Value operand);
  void await(llvm::ArrayRef<int64_t> phases);
  void note();

  int64_t numPhases;
  llvm::DenseMap<mlir::Operation *, Touched> touchedBy;
  /// Buffers that all workers read, each at a time of its own: conditions.
  llvm::SmallDenseSet<mlir::Operation *> conditions;
  /// The loops through which a buffer lives: views follow their iterations.
  llvm::DenseMap<mlir::Operation *, llvm::SmallDenseSet<int64_t>> loopsOf;
  llvm::SmallVector<Range> ranges;
  KnownPhases known;
  /// Those that were known before.
  llvm::BitVector noted;
  /// By phases: the first one from which on it is known to be done.
  llvm::SmallVector<int64_t> knownFrom;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_LIVERANGES_H
